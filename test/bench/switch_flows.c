/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch_flows.h"

#include <rte_mbuf.h>

#include "bench.h"
#include "switch_set_up.h"
#include "../host_path.h"
#include "wire/bytes/checksum.h"
#include "wire/roce/roce.h"

#define DATA_OVERHEAD 58 /* Ethernet, IPv4, UDP, BTH, ICRC */

/* The shortest RoCE frame has 62 bytes: to have one of 60, its IP packet ends earlier. */
static void
cut_packet(uint8_t *frame, uint16_t len)
{
	uint8_t *ip = frame + ETH_HDR_BYTES;
	uint16_t sum;

	ip[3] = (uint8_t)(len - ETH_HDR_BYTES);
	ip[10] = ip[11] = 0;
	sum = ipv4_header_checksum(ip, IPV4_HDR_BYTES);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/* A burst of neighbours enters by one port and leaves by one port. */
struct rte_mbuf *
switch_flows_frame(const struct switch_flows *f, unsigned int i, struct rte_mempool *pool,
		   uint16_t length_bytes)
{
	static const uint8_t payload[2048];
	bool smallest = length_bytes == SWITCH_FLOWS_SMALLEST;
	struct roce_path path = host_path((uint8_t)f->in_port[i], (uint8_t)f->out_port[i], 2);
	struct roce_fields fields = {.opcode = smallest ? RC_ACK : RC_WRITE_MIDDLE};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *frame;

	bench_check(m != NULL, "taking an mbuf");
	path.src_mac[4] = path.dst_mac[4] = path.src_ip[2] = path.dst_ip[2] =
		(uint8_t)(i % SWITCH_FLOWS);
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	bench_check(roce_build(frame, rte_pktmbuf_tailroom(m), &path, &fields, payload,
			       smallest ? 0 : (uint16_t)(length_bytes - DATA_OVERHEAD)) > 0,
		    "building a frame");
	if (smallest)
		cut_packet(frame, length_bytes);
	rte_pktmbuf_append(m, length_bytes);
	return m;
}

void
switch_flows_start(struct switch_flows *f, struct sw_params *params, const struct sw_pools *pools,
		   uint16_t length_bytes)
{
	f->sw = switch_set_up(params, pools);
	f->now_ns = 0;
	for (unsigned int i = 0; i < SWITCH_FLOWS_FRAMES; i++) {
		unsigned int group = i / SWITCH_FLOWS_BURST;
		unsigned int further = group / SWITCH_FLOWS_PORTS % (SWITCH_FLOWS_PORTS - 1);

		f->in_port[i] = (uint16_t)(group % SWITCH_FLOWS_PORTS);
		f->out_port[i] = (uint16_t)((group + 1 + further) % SWITCH_FLOWS_PORTS);
		f->pkts[i] = switch_flows_frame(f, i, pools->frames, length_bytes);
	}
}

void
switch_flows_learn(struct switch_flows *f)
{
	for (unsigned int i = 0; i < SWITCH_FLOWS_FRAMES; i++) {
		const uint8_t mac[6] = {
			2, 0, 0, 0, (uint8_t)(i % SWITCH_FLOWS), (uint8_t)f->out_port[i]};

		sw_learn(f->sw, 0, mac, f->out_port[i], 0);
	}
}

void
switch_flows_start_plain(struct switch_flows *f, const struct sw_pools *pools)
{
	static struct sw_params params;

	switch_set_up_params(&params, SWITCH_FLOWS_PORTS);
	f->burst = SWITCH_FLOWS_BURST;
	switch_flows_start(f, &params, pools, SWITCH_FLOWS_SMALLEST);
	switch_flows_learn(f);
}

void
switch_flows_stop(struct switch_flows *f)
{
	struct sw_ledger l = sw_ledger(f->sw);

	bench_check(l.dropped == 0 && l.in == l.sent && l.queued == 0, "no frame lost or copied");
	sw_destroy(f->sw);
	rte_pktmbuf_free_bulk(f->pkts, SWITCH_FLOWS_FRAMES);
}

void
switch_flows_pass(struct switch_flows *f)
{
	uint16_t burst = f->burst;

	for (unsigned int i = 0; i < SWITCH_FLOWS_FRAMES; i += burst) {
		uint16_t n;

		/* 32 frames of 1082 bytes at 400G take 0.7 us; a burst of catch-up is 4 us. */
		f->now_ns += NS_PER_US;
		f->sw->ops->rx(f->sw, f->in_port[i], &f->pkts[i], burst, f->now_ns);
		n = f->sw->ops->tx(f->sw, f->out_port[i], &f->pkts[i], burst, f->now_ns);
		bench_check(n == burst, "a burst leaves whole");
	}
}

double
switch_flows_round_ns(void *flows)
{
	double begin = bench_clock_ns(), spent;
	unsigned int passes = 0;

	do {
		switch_flows_pass(flows);
		passes++;
		spent = bench_clock_ns() - begin;
	} while (spent < SWITCH_FLOWS_ROUND_NS);
	return spent / passes / SWITCH_FLOWS_FRAMES;
}

double
switch_flows_round_mpps(void *flows)
{
	return 1e3 / switch_flows_round_ns(flows);
}
