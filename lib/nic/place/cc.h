/* SPDX-License-Identifier: BSD-3-Clause */
/* The glue between QPs and congestion control: events into the algorithm, rates into buckets. */
#ifndef QUENCH_NIC_PLACE_CC_H
#define QUENCH_NIC_PLACE_CC_H

#include <stdint.h>

#include "cc/cc.h"

struct nic;
struct nic_flow_update;

/* The last change of parameters, for QPs that have not been brought along yet. */
struct nic_before {
	/* in force before it */
	uint64_t until_ns; /* the instant of the change */
	int64_t qp_burst_nanobits;
	struct cc_node cc;
	struct rp_params rp;
	struct dctcp_params dctcp;
	struct timely_params timely;
	/* in force after it, by flow_id; valid while a QP is of the old version */
	const struct nic_flow_update *flows;
	uint32_t n_flows;
};

void nic_cc_init(struct nic *nic);
/** Give a QP that starts its first rate. others: flows of the host that are active by then. */
void nic_cc_start(struct nic *nic, uint32_t item, uint32_t others, uint64_t now_ns);
/** The algorithm did something (enum cc_did): let the bucket follow its rate. */
void nic_cc_follow(struct nic *nic, uint32_t item, uint32_t did, uint64_t now_ns);
/** Bring a QP along: under the old parameters until nic->before->until_ns, then under the new
 * ones. */
void nic_cc_change(struct nic *nic, uint32_t item);
/** Keep the parameters in force, which end now. */
void nic_cc_keep_before(struct nic *nic, uint64_t now_ns);
/** Let the bucket follow what the timers did since the QP was last looked at. */
void nic_cc_catch_up(struct nic *nic, uint32_t item, uint64_t now_ns);
/** A CNP for a known QP came from its peer. */
void nic_on_cnp(struct nic *nic, uint32_t item, uint64_t now_ns);
/** All before ack->acked_seq was acknowledged; its next_seq is filled in here. */
void nic_cc_acked(struct nic *nic, uint32_t item, struct cc_ack *ack, uint64_t now_ns);
/** The QP goes back to its first unacknowledged packet. */
void nic_cc_lost(struct nic *nic, uint32_t item, uint64_t now_ns);

#endif
