/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLDP and DCBX of one port: frames to send (802.1AB-2016 clause 9), the neighbour, and the
 * priorities with PFC that both ends agree on (802.1Q-2018 clause 38.4, symmetric state machine).
 *
 * A frame is due every lldp_tx_interval; for a new neighbour, lldp_tx_fast_init frames are sent one
 * second apart, so that it learns of us soon. A neighbour is forgotten when its time to live ends,
 * or is 0. Only one neighbour is stored: with several on a link there is no agreement. The agents
 * that a peer runs for other group addresses than the nearest bridge's are not neighbours here.
 *
 * PFC with flow_control = auto; `mine` is pfc_enable, `theirs` the priorities of the neighbour's
 * PFC TLV:
 *   no neighbour, several, or no valid PFC TLV:  none
 *   the neighbour gives way:                     mine
 *   we give way:                                 mine & theirs (mismatch if that is not theirs)
 *   neither is willing:                          mine if mine = theirs, else none (mismatch)
 * An end gives way if it is willing and the other is not; if both are willing, the end with the
 * lower address does.
 *
 * Invariant (tested): the priorities in force are a subset of mine.
 */
#ifndef QUENCH_SWITCH_CONTROL_DCBX_PORT_H
#define QUENCH_SWITCH_CONTROL_DCBX_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "switch/params/sw_params.h"
#include "wire/link/lldp.h"

struct dcbx_stats {
	uint64_t tx_frames, rx_frames;
	uint64_t rx_malformed;   /* frames */
	uint64_t rx_bad_tlvs;    /* frames with a duplicate or malformed DCBX TLV */
	uint64_t rx_ageouts;     /* neighbours forgotten */
	uint64_t pfc_mismatches; /* transitions to DCBX_MISMATCH */
};

COUNTER_TABLE(dcbx_counters);

enum dcbx_pfc_state {
	DCBX_NO_NEIGHBOUR,
	DCBX_NO_PFC_TLV, /* the neighbour sends no valid PFC TLV */
	DCBX_SEVERAL,    /* more than one neighbour */
	DCBX_AGREED,
	DCBX_MISMATCH,
};

/** One word: "agreed". */
const char *dcbx_pfc_state_name(enum dcbx_pfc_state state);

struct dcbx_port {
	struct lldp_info local; /* advertised by us; ttl_s is filled in per frame */
	uint64_t next_tx_ns;
	uint8_t fast_left;
	bool has_peer;
	struct lldp_info peer;
	uint64_t peer_until_ns;
	uint64_t other_until_ns; /* end of the time to live of a second neighbour */
	enum dcbx_pfc_state pfc_state;
	uint8_t pfc_prios; /* mask: agreed, for flow_control = auto */
	struct dcbx_stats stats;
};

/** @param local  What to advertise; dcbx.pfc.enable are our priorities. */
void dcbx_port_init(struct dcbx_port *p, const struct lldp_info *local);

/** Handle a received LLDP frame. */
void dcbx_port_rx(struct dcbx_port *p, const struct lldp_params *params, const uint8_t *frame,
		  size_t len, uint64_t now_ns);

/** Advertise this from now on, with the same ids; a frame is due at once. */
void dcbx_port_say(struct dcbx_port *p, const struct lldp_info *says, uint64_t now_ns);

/** Make the next frame due no later than one lldp_tx_interval from now. */
void dcbx_port_sooner(struct dcbx_port *p, const struct lldp_params *params, uint64_t now_ns);

/** The link went down: forget the neighbours; a frame is due at once. */
void dcbx_port_reset(struct dcbx_port *p, uint64_t now_ns);

/** Run the timers. @return true: a frame is due. */
bool dcbx_port_poll(struct dcbx_port *p, uint64_t now_ns);

/** Build the due frame in buf, which has LLDP_MAX_BYTES; it counts as sent. @return its length. */
size_t dcbx_port_tx(struct dcbx_port *p, const struct lldp_params *params, uint8_t *buf,
		    uint64_t now_ns);

/** Build the frame by which neighbours forget us at once; it counts as sent. @return its length. */
size_t dcbx_port_shutdown(struct dcbx_port *p, uint8_t *buf);

#endif
