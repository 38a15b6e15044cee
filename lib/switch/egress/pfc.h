/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow control of a port, both ways: PFC (IEEE 802.1Qbb) or link pause (802.3 annex 31B).
 *
 * Invariant: the peer is asked to pause exactly the groups in xoff_pgs & may_pause_pgs; with link
 * pause, the link if that mask is not 0.
 */
#ifndef QUENCH_SWITCH_EGRESS_PFC_H
#define QUENCH_SWITCH_EGRESS_PFC_H

#include "switch/core/switch.h"
#include "switch/frame/arrival.h"

/** Set which pauses a port obeys and sends; sw_port_apply() puts it in force. */
void sw_pfc_set_port(struct sw *sw, uint16_t port, const struct sw_params *params);
/** Initialise a port's flow control. */
void sw_pfc_init_port(struct sw *sw, uint16_t port, const struct sw_params *params);

/** Handle a MAC control frame. @return SW_CONSUMED or why it is dropped. */
enum sw_drop sw_pfc_rx_frame(struct sw *sw, uint16_t port, const struct rte_mbuf *m,
			     uint64_t now_ns);

/**
 * Take the MAC control frame that is due. The caller has checked that the wire is free: a MAC
 * control frame waits only for the frame on the wire (802.3 31B.3), not for pauses and shapers.
 * @return NULL: none is due, or no mbuf is free, which is counted.
 */
struct rte_mbuf *sw_pfc_take(struct sw *sw, uint16_t port, uint64_t now_ns);

/** Record that a group needs its sender paused, or no longer needs it. */
void sw_pfc_set_xoff(struct sw *sw, uint16_t port, uint8_t pg, bool xoff, uint64_t now_ns);

/** Put a port's state `now` in force: priorities with PFC, response delay. */
void sw_pfc_apply(struct sw *sw, uint16_t port, uint64_t now_ns);

/** The link went down: reset the pause state of both directions. */
void sw_pfc_reset(struct sw *sw, uint16_t port, uint64_t now_ns);

/** Recompute paused_queues after a pause frame, the end of a pause, or a change of tx_disabled. */
void sw_pfc_update_paused(struct sw *sw, uint16_t port, uint64_t now_ns);

/**
 * Earliest time at which a paused queue of the port resumes or a delayed pause frame takes effect.
 */
uint64_t sw_pfc_resume_ns(const struct sw *sw, uint16_t port);

/**
 * A lossless group's use or limit changed: send XOFF or XON if the group crossed its threshold. Out
 * of line, for loops over groups of which most are not lossless.
 */
void sw_update_lossless(struct sw *sw, uint16_t port, uint8_t pg, uint64_t now_ns);
/** The same for any group, inline. */
static inline void sw_update_xoff(struct sw *sw, uint16_t port, uint8_t pg, uint64_t now_ns);

/* Inline definitions */

static inline void
sw_update_xoff(struct sw *sw, uint16_t port, uint8_t pg, uint64_t now_ns)
{
	bool xoff, wanted;

	if (!(sw_classes_of(sw, port)->lossless_pgs >> pg & 1))
		return;
	xoff = sw->ports[port].xoff_pgs >> pg & 1;
	wanted = mmu_pg_wants_xoff(sw->mmu, port, pg, xoff);
	if (unlikely(wanted != xoff))
		sw_pfc_set_xoff(sw, port, pg, wanted, now_ns);
}

#endif
