/* SPDX-License-Identifier: BSD-3-Clause */
/* What a QP has done. */
#ifndef QUENCH_NIC_OBSERVE_QP_INFO_H
#define QUENCH_NIC_OBSERVE_QP_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;

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
 * @return       false: there is no such QP, and *out is zero. A QP of an added flow exists
 *               when its owner has made it, after nic_reload(), until its flow has left.
 */
bool nic_qp_info(const struct node *node, uint32_t index, struct nic_qp_info *out);

/* Inside lib/nic. */

/** As nic_qp_info(), of a QP that has been made, even if its flow has left since. */
void nic_qp_read(const struct nic *nic, uint32_t item, struct nic_qp_info *out);

#endif
