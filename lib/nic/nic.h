/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC node: RoCEv2 requester and responder on one port, with the notification point and the
 * reaction point of congestion control.
 *
 * rx: classify (MAC control, RoCEv2 to us, other) -> lengths, ICRC, QP and peer -> CE? the NP ->
 * responder (PSN, ACK/NAK, message completion) or requester (ACK, NAK, CNP -> congestion control).
 * tx: pause frames, which nothing pauses; CNP, then ACK/NAK, then address resolution, then streams
 * of frames, then data, each only if its priority is not paused; data round robin over the ready
 * QPs -> stamp from the template -> charge the port shaper, the QP's bucket and the byte counter of
 * its congestion control. Every frame, control or data, is charged to the shaper.
 *
 * A QP that has data is in exactly one place: in the wheel (waits for tokens), in the ready ring of
 * its queue (waits for the wire or for XON), or blocked (window full, waits for an ACK). Answers
 * are flags in the QP, not packets: a QP owes at most one ACK or NAK and one CNP, a later ACK
 * covers an earlier one, and if no mbuf is free, the frame is built later.
 *
 * Choices, where RoCEv2 and DCQCN leave them open:
 * - With cc = none the rate is fixed. CNPs are then counted as ignored, as with any algorithm that
 *   does not use them. Data still leaves as ECT and CE is still answered, so that the peer may run
 *   any algorithm.
 * - All frames leave as ECT(0), so that a congested queue marks them instead of dropping them. ACK
 *   and NAK carry the DSCP of the data.
 * - A port runs PFC or link pause, not both: frames of the other kind are counted and ignored.
 * - A peer may be configured by IP address alone. The NIC resolves it by ARP or neighbour
 *   discovery; its QPs wait for the answer, or for the first valid frame of the peer. The NIC
 *   answers requests for its own addresses and echo requests. These frames are rare: tx() sends
 *   them, and control() has nothing to do.
 * - SEND and WRITE are served, with and without immediate. SEND and WRITE with immediate always
 *   find a receive buffer, unless max_recv_wr limits them; then RNR NAKs delay the requester. Any
 *   other request in sequence gets a NAK "invalid request", and the responder refuses all further
 *   requests of that QP (IBTA: the QP is in error).
 * - A READ is served by QPs that are not requesters; a requester answers it with "invalid request".
 *   The responder of a READ is the reaction point, and the requester the notification point. The
 *   responder learns of congestion from CNPs alone, because responses are not acknowledged. ACKs
 *   and NAKs wait until the earlier READs are answered. A requester that misses a response requests
 *   the rest again, without a NAK.
 * - UD SENDs come from one peer QP: the source QP must be the configured one, and CNPs go to it.
 * - A raw QP sends to a device without a responder: it requests no ACKs, treats all sent packets as
 *   acknowledged, retransmits nothing, and obeys CNPs.
 *
 * Invariants (tested): every frame's ICRC verifies; in any interval t a QP sends at most
 * rate * t + burst + one frame; messages are delivered in order and counted once; mbufs taken =
 * given away + put back.
 */
#ifndef QUENCH_NIC_NIC_H
#define QUENCH_NIC_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/change/flow_life.h"
#include "nic/change/nic_reload.h"
#include "nic/change/reset.h"
#include "nic/change/setup.h"
#include "nic/frames/frames.h"
#include "nic/frames/tracked.h"
#include "nic/io/nic_tx.h"
#include "nic/jobs/job_ranks.h"
#include "nic/observe/qp_info.h"
#include "nic/params/nic_counters.h"
#include "nic/params/nic_params.h"
#include "nic/port/nic_pause.h"
#include "nic/qp/payload.h"
#include "node/node.h"
#include "tm/pfc/pfc_rx.h"
#include "tm/pfc/pfc_tx.h"

struct rte_mempool;

struct nic_pools {
	struct rte_mempool *data;    /* from nic_data_pool_create() */
	struct rte_mempool *control; /* CNP, ACK, NAK: at least nic_largest_frame(0) of data room */
	/* Shared by all NICs of one thread, and outlives them: 4 KB per payload length in use.
	 * NULL: the NIC creates its own. */
	struct nic_payloads *payloads;
};

/**
 * Create a NIC. params are copied; rp_max_rate_bps 0 becomes the link speed.
 * @return the node, owned by the caller, or NULL with errno EINVAL or ENOMEM.
 */
struct node *nic_create(const struct nic_params *params, const struct nic_pools *pools);
void nic_destroy(struct node *node);

const struct nic_stats *nic_stats(const struct node *node);
/** MAC address that sent the last pause frame; 0: none has arrived. From any thread. */
uint64_t nic_pause_source(const struct node *node);
const struct pfc_rx *nic_pfc_rx(const struct node *node);
/**
 * State of the pauses that the NIC sends: none, unless the receiver is slow or a pause storm is
 * simulated. With link pause (802.3x), priority 0 stands for the link, here and in nic_pfc_rx().
 */
const struct pfc_tx *nic_pfc_tx(const struct node *node);
/** Before the first rx/tx. */
void nic_watch_pauses(struct node *node, struct pfc_tx_watch watch);
/**
 * Number of peers configured by IP address alone. *unresolved: the number of those whose MAC
 * address is unknown.
 */
uint32_t nic_neighbours(const struct node *node, uint32_t *unresolved);
/**
 * Has each requester with a limit (messages, bytes or stop_ns) completed or failed? True if no
 * requester has a limit.
 */
bool nic_done(const struct node *node);
/** Number of QPs with an end that have neither sent everything nor given up. From any thread. */
uint32_t nic_pending(const struct node *node);
/** Number of QPs that have given up and have not been reset since. From any thread. */
uint32_t nic_failed(const struct node *node);

#endif
