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

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/hist.h"
#include "nic/params/counters.h"
#include "nic/params/params.h"
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

/**
 * The device has a transmit queue for pause frames, CNPs, ACKs and NAKs: from now on tx_control()
 * gives those, and tx() the rest. Before the first tx().
 */
void nic_send_control_apart(struct node *node);

/* Faults of a host that is one node, beside rx() and tx(). */

/** The host takes frames out of its buffers at another rate from now on; 0: all at once. */
void nic_set_drain_rate(struct node *node, uint64_t drain_rate_bps, uint64_t now_ns);
/** A defect holds the peer: XOFF for all priorities with PFC (or the link), sent again for ever,
 * whatever its buffers say and device_stall_critical_watermark_ns; or no longer. */
void nic_set_pause_storm(struct node *node, bool on, uint64_t now_ns);
/** The link went down or came up: pauses of both directions begin anew. */
void nic_reset_pause(struct node *node, uint64_t now_ns);

/** Add a QP before the first rx/tx. @return its local QPN, or -EINVAL, -ENOSPC, -ENOMEM. */
int64_t nic_add_qp(struct node *node, const struct nic_qp_params *params, uint64_t now_ns);

/* What may change of a flow while the node runs, as of struct nic_qp_params. */
struct nic_flow_live {
	bool stopped;
	uint64_t rate_cap_bps, load_bps;
};

struct nic_reload {
	struct nic_params params;          /* only members whose fields are live count */
	const struct nic_flow_live *flows; /* by flow_id; not owned */
	uint32_t n_flows;
	/* with nic_take_flows(), flow_ids, not owned */
	const uint32_t *go, *come;
	uint32_t n_go, n_come;
};

/*
 * Flows that come and go while the node runs.
 *
 * One that goes begins no message; what is in flight is ended, or given up after its timeouts. Its
 * QPs are free when it is quiet; what they counted stays until then. One that comes starts at its
 * start_ns, or when it comes if that is later.
 */

/** Let flows come by nic_reload() only, so many at a time, flow_id below that. Before the first.
 * @return 0 or -ENOMEM. */
int nic_take_flows(struct node *node, uint32_t max_flows);

/* Which QPs of the node a flow has, side by side. */
struct nic_flow_place {
	uint32_t first_number; /* in the NIC, of the flow's first QP, counted from first_qpn */
	uint32_t first_item, n_qps;
};

/**
 * Take the memory that a flow needs; nic_reload() then lets it come. From one thread at a time,
 * which need not be the owner. No flow has this number or these QPs.
 *
 * @param params  Of the QP with first_number; the peer's QPN of each other counts on from it.
 * @return        0, -EINVAL or -ENOMEM; nic_forget_flow() in each case.
 */
int nic_prepare_flow(struct node *node, const struct nic_qp_params *params,
		     const struct nic_flow_place *place);
/** Has a flow that was let go come to rest? From any thread. */
bool nic_flow_is_free(const struct node *node, uint32_t flow_id);
/** Its number and its QPs may be another's. Of one that is free, or was prepared and not let come.
 */
void nic_forget_flow(struct node *node, uint32_t flow_id);

/**
 * Other params while the node runs: from any thread, one at a time. The owner puts them in force in
 * its next rx() or tx(), from that instant on for all QPs (doc/architecture.md, "A change while it
 * runs"); some of those that nothing touches are visited in each call.
 *
 * A flow that is stopped begins no message; what it has begun it ends. One that goes on begins
 * within a millisecond, or a microsecond for each QP of the node if that is more. Messages of an
 * open loop that had come stay, none come while it is stopped, and those to come do so at the new
 * load. What waits for tokens or for a message waits no longer than the change allows, within a
 * turn of all QPs.
 *
 * @param r  params after nic_params_check(). It must outlive nic_reload_is_done(). Of a flow that
 *           goes, flows[] is not read.
 */
void nic_reload(struct node *node, const struct nic_reload *r);
/** From any thread. */
bool nic_reload_is_done(const struct node *node);

/**
 * Reset the QPs of a flow while the node runs, because its peer lost them: each begins again with
 * its initial PSN, one that gave up too, and sends the messages again that were not acknowledged
 * whole. What a responder had received of a message is forgotten. Rates and counters stay. Of UD
 * nothing is reset. What the peer does meanwhile is answered by the new state as soon as it is
 * there: reset the end that answers first.
 *
 * From any thread, one at a time, not beside nic_reload(). The owner does it in its next calls,
 * some QPs in each.
 *
 * @return 0 or -ENOMEM.
 */
int nic_reset_flow(struct node *node, uint32_t flow_id);
/** From any thread. */
bool nic_reset_is_done(const struct node *node);

/**
 * Let the messages of a requester wait for those that another QP of the node receives: message m is
 * begun when m messages have come in whole, so the first at once. Before the first rx/tx, once for
 * either QP.
 *
 * @param index, after  QPs in the order in which they were added: a requester with arrival =
 * closed, and one that answers WRITE or SEND.
 * @return              0, -EINVAL or -ENOMEM.
 */
int nic_chain(struct node *node, uint32_t index, uint32_t after);

/* What a QP has done. */
struct nic_qp_info {
	uint32_t local_qpn, peer_qpn;
	uint64_t rate_bps, target_rate_bps, alpha_q32; /* as of when the QP was last looked at */
	uint64_t rtt_ns;                               /* last measured, at most 4.29 s; 0: none */
	uint64_t tx_wire_bytes, tx_packets, retransmitted_packets;
	uint64_t tx_messages;      /* completed: acknowledged whole, of READ all data is here */
	uint64_t tx_payload_bytes; /* of these messages; of a responder, of READs answered */
	uint64_t rx_payload_bytes, rx_messages, rx_packets, rx_wire_bytes; /* in order, once */
	uint64_t cnps_handled, cnps_sent;
	uint64_t rate_cuts;
	uint64_t min_rate_bps; /* lowest rate in force so far */
	/* Of a single QP 0 unless times are measured. CE: of data received. */
	uint64_t ce_packets, cnps_ignored;
	uint64_t completions, completion_sum_ns, completion_max_ns; /* messages that were timed */
	bool error, done;
};

uint32_t nic_qp_count(const struct node *node);
/**
 * Read what a QP has done. From any thread: members may be a packet apart.
 *
 * @param index  QPs in the order in which they were added; any number is allowed.
 * @return       false: there is no such QP, and *out is zero. A QP of a flow that comes is there
 *               when its owner has made it, after nic_reload(); it is gone when its flow has left.
 */
bool nic_qp_info(const struct node *node, uint32_t index, struct nic_qp_info *out);
const struct nic_stats *nic_stats(const struct node *node);
const struct pfc_rx *nic_pfc_rx(const struct node *node);
/** All zero unless the receiver is slow. With 802.3x, priority 0 stands for the link in both. */
const struct pfc_tx *nic_pfc_tx(const struct node *node);
/** Peers given by address only, and how many of them have not told theirs. */
uint32_t nic_neighbours(const struct node *node, uint32_t *unresolved);
/** All requesters that end (messages or stop_ns given) have completed or failed; true if none. */
bool nic_done(const struct node *node);
/** QPs that have given up and were not reset since. From any thread. */
uint32_t nic_failed(const struct node *node);

#endif
