/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State and counters of a QP, for readers in other threads.
 *
 * Invariant: nic_qp_info() never writes to the node, and the reader never blocks the owner. Each
 * value is read as a whole, but two values may be from before and after a packet.
 */
#ifndef QUENCH_NIC_OBSERVE_QP_INFO_H
#define QUENCH_NIC_OBSERVE_QP_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;

struct nic_qp_info {
	uint32_t local_qpn, peer_qpn;
	uint64_t rate_bps, target_rate_bps, alpha_q32; /* at the QP's last update */
	uint64_t rtt_ns;                               /* last measured, at most 4.29 s; 0: none */
	uint64_t tx_wire_bytes, tx_packets, retransmitted_packets;
	uint64_t tx_messages;      /* fully acknowledged; READ: all data received */
	uint64_t failed_messages;  /* of a QP in error: begun, and not acknowledged */
	uint64_t tx_payload_bytes; /* of tx_messages; responder: of the READs answered */
	uint64_t rx_payload_bytes, rx_messages, rx_packets, rx_wire_bytes; /* in order, once */
	uint64_t cnps_handled, cnps_sent;
	uint64_t rate_cuts;
	uint64_t min_rate_bps; /* lowest rate so far */
	/* From here on, of a single QP, 0 unless times are measured. */
	/* ce_packets: data received with CE. */
	uint64_t ce_packets, cnps_ignored;
	uint64_t acks_sent, acks_received, naks_sent, naks_received; /* NAKs of all kinds */
	uint64_t out_of_sequence; /* packets received ahead of the expected PSN */
	/* Received and not accepted: after a gap, duplicates, refused ones. */
	uint64_t rx_discarded_packets, rx_discarded_wire_bytes;
	uint64_t rtt_samples, rtt_sum_ns, rtt_min_ns, rtt_max_ns;   /* of a requester */
	uint64_t completions, completion_sum_ns, completion_max_ns; /* messages that were timed */
	bool error, done;
	bool rests; /* has no message now: nic_share_messages() */
};

uint32_t nic_qp_count(const struct node *node);
/**
 * Read the state of a QP, from any thread. Some members may be from before a packet, others from
 * after it.
 *
 * @param index  QPs are numbered in the order in which they were added. Any number is allowed.
 * @return       false: there is no such QP, and *out is zero. A QP of an added flow exists from the
 *               time when the owner makes it, after nic_reload(), until it is hidden.
 */
bool nic_qp_info(const struct node *node, uint32_t index, struct nic_qp_info *out);

/* Inside lib/nic. */

/** As nic_qp_info(), for a QP that has been made, even if it is hidden now. */
void nic_qp_read(const struct nic *nic, uint32_t item, struct nic_qp_info *out);

#endif
