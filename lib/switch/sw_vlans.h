/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ports are in which VLANs, and which of their frames leave untagged. */
#ifndef QUENCH_SWITCH_SW_VLANS_H
#define QUENCH_SWITCH_SW_VLANS_H

#include "switch/sw.h"

/* A port that is in all VLANs and leaves tags alone. */
#define SW_TRANSPARENT (SW_NO_DOMAIN - 1u)

struct sw_vlans {
	uint16_t access_domain[SW_MAX_PORTS]; /* of untagged frames; SW_NO_DOMAIN: dropped */
	uint64_t members[SW_DOMAINS];         /* mask of ports */
};

/** @return owned by the caller, freed by sw_vlans_free(); NULL: no memory. */
struct sw_vlans *sw_vlans_create(const struct sw_params *params);
/** NULL is allowed. */
void sw_vlans_free(struct sw_vlans *vlans);

#endif
