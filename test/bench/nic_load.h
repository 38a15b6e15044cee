/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QPs that load a link to 95 %, for ever: a limiter is engaged, its timers run, and each QP has a
 * rate of its own, so that each frame waits for its time. A clock that goes on by the wire time of
 * a burst from poll to poll makes the lcore just as fast as the link, neither idle nor late.
 */
#ifndef QUENCH_TEST_BENCH_NIC_LOAD_H
#define QUENCH_TEST_BENCH_NIC_LOAD_H

#include <rte_ethdev.h>

#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "nic_set_up.h"

#define NIC_LOAD_MTU 1024
#define NIC_LOAD_FRAME_BYTES (NIC_LOAD_MTU + 82) /* on the wire */
#define NIC_LOAD_DEVICE "--vdev=net_null0,size=1082,no-rx=1"
#define NIC_LOAD_LINK_BPS (800 * GBPS)
#define NIC_LOAD_PERCENT 95
#define NIC_LOAD_BURST 32

/** Parameters of a NIC with this many QPs. */
static inline void
nic_load_params(struct nic_params *p, uint32_t qps)
{
	nic_set_up_params(p, 1, NIC_LOAD_LINK_BPS);
	/* A few QPs have to fill a burst. */
	if (qps < NIC_LOAD_BURST)
		p->qp_burst_bytes = 2 * NIC_LOAD_BURST * NIC_LOAD_FRAME_BYTES / qps;
	p->max_qps = qps;
	/* Nobody answers, and nothing is to wait for that. */
	p->window_packets = (1u << 23) - 1;
	p->local_ack_timeout = 0;
	/* Just above its cap, below the maximum: the limiter climbs, slowly, all the time. */
	p->initial_rate = NIC_INITIAL_VALUE;
	p->initial_rate_bps = NIC_LOAD_LINK_BPS / 100 * (NIC_LOAD_PERCENT + 1) / qps;
	p->rp.rp_ai_rate_bps = MBPS;
	p->rp.rp_hai_rate_bps = MBPS;
}

/** What each of the QPs sends, bits/s. */
static inline uint64_t
nic_load_rate_bps(uint32_t qps)
{
	return NIC_LOAD_LINK_BPS / 100 * NIC_LOAD_PERCENT / qps;
}

/**
 * For QPs without a cap: their own rate is the one in force. Each increase changes it, but by so
 * little that the load stays what it is.
 */
static inline void
nic_load_uncap(struct nic_params *p, uint32_t qps)
{
	p->initial_rate_bps = nic_load_rate_bps(qps);
	p->rp.rp_ai_rate_bps = 1;
	p->rp.rp_hai_rate_bps = 1;
}

/**
 * Add every n-th of the QPs to a node, from the first on; all have the same rate.
 * @param cap_bps  Of each; 0: none.
 */
static inline void
nic_load_add_qps(struct node *node, uint32_t qps, uint32_t first, uint32_t n, uint64_t cap_bps)
{
	struct nic_qp_params qp = nic_set_up_qp(2);
	uint64_t turn_ns = qps * serialization_ns(NIC_LOAD_FRAME_BYTES, NIC_LOAD_LINK_BPS);
	struct prng r;

	qp.depth = UINT32_MAX;
	qp.rate_cap_bps = cap_bps;
	prng_seed(&r, 1, first);
	for (uint32_t i = first; i < qps; i += n) {
		/* In an order that no prefetcher knows. */
		qp.start_ns = prng_below(&r, turn_ns);
		qp.peer_qpn = 17 + i;
		bench_check(nic_add_qp(node, &qp, 0) >= 0, "nic_add_qp");
	}
}

/** Configure and start port 0 with this many transmit queues. */
static inline void
nic_load_start_port(uint16_t queues)
{
	struct rte_eth_conf conf = {0};

	bench_check(rte_eth_dev_configure(0, 0, queues, &conf) == 0, "configuring the port");
	for (uint16_t q = 0; q < queues; q++)
		bench_check(rte_eth_tx_queue_setup(0, q, 512, SOCKET_ID_ANY, NULL) == 0,
			    "a transmit queue");
	bench_check(rte_eth_dev_start(0) == 0, "starting the port");
}

/**
 * Poll 64 times and send what comes through a queue.
 * @param n  Nodes that share the wire evenly: the clock goes on by n bursts from poll to poll.
 * @return frames sent.
 */
static inline uint64_t
nic_load_polls(struct node *node, uint16_t queue, uint32_t n, uint64_t *now_ns)
{
	struct rte_mbuf *pkts[NIC_LOAD_BURST];
	uint64_t sent = 0;

	for (int i = 0; i < 64; i++) {
		uint16_t taken = node->ops->tx(node, 0, pkts, NIC_LOAD_BURST, *now_ns);

		*now_ns += n * serialization_ns(NIC_LOAD_BURST * NIC_LOAD_FRAME_BYTES,
						NIC_LOAD_LINK_BPS);
		sent += taken;
		bench_check(taken == 0 || rte_eth_tx_burst(0, queue, pkts, taken) == taken,
			    "the port takes all frames");
	}
	return sent;
}

#endif
