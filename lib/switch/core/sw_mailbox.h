/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLDP frames between the data path and the control side. Each port has its own slots, so a peer
 * that sends faster than control() polls loses only its own frames.
 *
 * Invariant: a slot has one writer at a time. For a received frame the indices tell which, for a
 * frame to send `ready`.
 */
#ifndef QUENCH_SWITCH_CORE_SW_MAILBOX_H
#define QUENCH_SWITCH_CORE_SW_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/link/lldp.h"

#define SW_LLDP_MAILS 4u

struct sw_lldp_mail {
	uint16_t len;
	uint8_t frame[1518];
};

/* Received frames of a port. */
struct sw_lldp_box {
	uint32_t written; /* by the port's owner */
	uint32_t read;    /* by control */
	struct sw_lldp_mail mail[SW_LLDP_MAILS];
};

/* A frame to send. */
struct sw_lldp_out {
	uint32_t ready; /* set by control, cleared by the owner of the data path */
	uint16_t len;
	uint8_t frame[LLDP_MAX_BYTES];
};

struct sw_mailbox {
	bool on;
	/* of the whole switch, by port; shared by the port's owner and the control side */
	struct sw_lldp_box *boxes;
	struct sw_lldp_out *out;
};

#endif
