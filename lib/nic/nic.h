/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC node: RoCEv2 requester and responder on one port, with congestion control at both ends.
 *
 * rx: classify (MAC control, RoCEv2 to us, other) -> lengths, ICRC, QP and peer -> CE? the NP ->
 * responder (PSN, ACK/NAK, message completion) or requester (ACK, NAK, CNP -> congestion control).
 * tx: CNP, then ACK/NAK, then data, each only if its priority is not paused; data round robin over
 * the ready QPs -> stamp from the template -> charge the port shaper, the QP's bucket and the
 * byte counter of its congestion control. Every frame, control or data, is charged to the shaper.
 *
 * A QP that has data is in exactly one place: in the wheel (waiting for tokens), in the ready ring
 * of its queue (waiting for the wire or for XON), or blocked (window full, waiting for ACK). What
 * a QP owes its peer (an ACK or NAK, a CNP) is a note in the QP, not a packet: at most one of each
 * is owed, a later ACK covers an earlier one, and a frame that finds no mbuf is built later.
 *
 * Choices, where RoCEv2 and DCQCN leave one:
 * - With cc = none the rate is fixed and CNPs are counted as ignored, as they are with timely; data
 *   still leaves as ECT and CE is still answered, so that the other end may run what it likes.
 * - All frames leave as ECT(0), so that a congested queue marks them rather than drops them;
 *   ACK and NAK carry the data's DSCP.
 * - A port runs PFC or link pause, not both: the other kind of frame is counted and not obeyed.
 * - Peers may be given by IP address only: they are asked by ARP or neighbour discovery, their QPs
 *   wait for the answer, and the first valid frame of the peer is as good as one. Questions about
 *   our own addresses and echo requests are answered. All of that is a frame now and then, so tx()
 *   sends it, and nothing is left for control().
 * - SEND and WRITE are served, with and without immediate. SEND, and WRITE with immediate, find a
 *   receive buffer unless max_recv_wr bounds them; then RNR NAKs hold the requester back. Another
 *   request in sequence is a NAK "invalid request", after which the responder takes no further
 *   request of that QP (IBTA: the QP is in error).
 * - READ is served by QPs that are no requesters themselves (those answer "invalid request"): there
 *   the responder is the reaction point, and the requester the notification point. It hears CNPs
 *   only, since nobody acknowledges a response. ACKs and NAKs wait until the READs before them are
 *   answered. A requester that misses a response asks again from there on, without a NAK.
 * - UD SENDs are of one peer QP, as all else: the source QP must be the peer's, and CNPs go there.
 * - A raw QP sends to a device that has no responder: it asks for no ACK, takes what it has sent as
 *   acknowledged, sends nothing again, and obeys CNPs.
 *
 * Invariants (tested): every frame's ICRC verifies; a QP sends at most rate * t + burst + one frame
 * in any t; what is delivered is in order and counted once; mbufs taken = given away + put back.
 */
#ifndef QUENCH_NIC_NIC_H
#define QUENCH_NIC_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/change/live.h"
#include "nic/change/reload.h"
#include "nic/change/reset.h"
#include "nic/change/setup.h"
#include "nic/io/tx.h"
#include "nic/observe/qp_info.h"
#include "nic/params/counters.h"
#include "nic/params/params.h"
#include "nic/place/depends.h"
#include "nic/port/pause.h"
#include "nic/qp/payload.h"
#include "node/node.h"
#include "tm/pfc_rx.h"
#include "tm/pfc_tx.h"

struct rte_mempool;

struct nic_pools {
	struct rte_mempool *data;    /* from nic_data_pool_create() */
	struct rte_mempool *control; /* CNP, ACK, NAK: at least nic_largest_frame(0) of data room */
	/* Of all NICs of one thread, which it outlives: 4 KB for each length of a payload. NULL:
	 * each makes its own. */
	struct nic_payloads *payloads;
};

/**
 * Build a NIC. params are copied; rp_max_rate_bps 0 becomes the link speed.
 * @return the node, owned by the caller, or NULL with errno EINVAL or ENOMEM.
 */
struct node *nic_create(const struct nic_params *params, const struct nic_pools *pools);
void nic_destroy(struct node *node);

const struct nic_stats *nic_stats(const struct node *node);
const struct pfc_rx *nic_pfc_rx(const struct node *node);
/** All zero unless the receiver is slow. With 802.3x, priority 0 stands for the link in both. */
const struct pfc_tx *nic_pfc_tx(const struct node *node);
/** Peers given by IP address only, and how many of their MAC addresses are not known. */
uint32_t nic_neighbours(const struct node *node, uint32_t *unresolved);
/** All requesters that end (messages or stop_ns given) have completed or failed; true if none. */
bool nic_done(const struct node *node);
/** QPs that have given up and were not reset since. From any thread. */
uint32_t nic_failed(const struct node *node);

#endif
