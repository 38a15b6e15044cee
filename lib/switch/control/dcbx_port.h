/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLDP and DCBX of one port: what it says and when (802.1AB-2016 clause 9), who its neighbour is,
 * and for which priorities both agree on PFC (802.1Q-2018 clause 38.4, symmetric state machine).
 *
 * A frame is due every lldp_tx_interval; a new neighbour gets lldp_tx_fast_init of them a second
 * apart, and so it has us soon. A neighbour is forgotten when its time to live is over, or when it
 * says so by 0. One neighbour is kept: with more on a link nothing is agreed.
 *
 * PFC in force under mode auto, mine the priorities of pfc_enable, theirs those of its PFC TLV:
 *   no neighbour, no PFC TLV or a bad one:          none
 *   it is willing and we are not (or it has to be): mine; it will take them
 *   we are willing and it is not:                   theirs, as far as they are mine
 *   neither is willing: mine if theirs are the same, else none, which is a mismatch
 * Of two willing ends that of the lower address gives way.
 *
 * Invariant (tested): priorities in force are always among mine.
 */
#ifndef QUENCH_SWITCH_CONTROL_DCBX_PORT_H
#define QUENCH_SWITCH_CONTROL_DCBX_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "switch/params/lldp.h"
#include "wire/lldp.h"

struct dcbx_stats {
	uint64_t tx_frames, rx_frames;
	uint64_t rx_malformed;   /* frames */
	uint64_t rx_bad_tlvs;    /* frames with a kind of DCBX that came twice or malformed */
	uint64_t rx_ageouts;     /* neighbours that were forgotten */
	uint64_t pfc_mismatches; /* times that ends began to disagree */
};

extern const struct counter_field dcbx_counters[];
extern const unsigned int dcbx_counters_n;

enum dcbx_pfc_state {
	DCBX_NO_NEIGHBOUR,
	DCBX_NO_PFC_TLV, /* it says nothing of PFC, or nothing that can be used */
	DCBX_SEVERAL,    /* more than one neighbour */
	DCBX_AGREED,
	DCBX_MISMATCH,
};

/** One word: "agreed". */
const char *dcbx_pfc_state_name(enum dcbx_pfc_state state);

struct dcbx_port {
	struct lldp_info local; /* what we say; ttl_s is filled in per frame */
	uint64_t next_tx_ns;
	uint8_t fast_left;
	bool has_peer;
	struct lldp_info peer;
	uint64_t peer_until_ns;
	uint64_t other_until_ns; /* a second neighbour has been heard until then */
	enum dcbx_pfc_state pfc_state;
	uint8_t pfc_prios; /* mask: in force under mode auto */
	struct dcbx_stats stats;
};

/** @param local  Addresses, ids, and what DCBX says; dcbx.pfc.enable are our priorities. */
void dcbx_port_init(struct dcbx_port *p, const struct lldp_info *local);

/** A frame came. */
void dcbx_port_rx(struct dcbx_port *p, const struct lldp_params *params, const uint8_t *frame,
		  size_t len, uint64_t now_ns);

/** Say something else from now on, at once. */
void dcbx_port_say(struct dcbx_port *p, const struct dcbx_tlvs *says, uint64_t now_ns);

/** The next frame is due in the interval of params at the latest. */
void dcbx_port_sooner(struct dcbx_port *p, const struct lldp_params *params, uint64_t now_ns);

/** The link went down: the neighbour is gone. */
void dcbx_port_reset(struct dcbx_port *p, uint64_t now_ns);

/** Let time pass. @return true when a frame is due. */
bool dcbx_port_poll(struct dcbx_port *p, uint64_t now_ns);

/** Build the frame that is due into buf, of LLDP_MAX_BYTES; it counts as sent. @return its
 * length. */
size_t dcbx_port_tx(struct dcbx_port *p, const struct lldp_params *params, uint8_t *buf,
		    uint64_t now_ns);

#endif
