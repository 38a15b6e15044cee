/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a received data frame costs a NIC node, from memory, in bursts: from the bytes to the
 * message that it is part of, with its ICRC checked. Beside it: the CRC of as many bytes alone, by
 * rte_net_crc with the same instruction set; and, without a check, the least that a receiver does.
 * Frames come from the second-level cache, or there are so many of them that they come from beyond.
 */
#include <rte_mbuf.h>

#include "bench.h"
#include "net_crc.h"
#include "nic_set_up.h"
#include "plain_loop.h"
#include "base/numbers/array.h"
#include "wire/icrc/icrc_impl.h"
#include "wire/roce/roce.h"

#define FEW_FRAMES 512 /* over and over: more than the first-level cache holds */
#define MANY_FRAMES 4096
#define BURST 32
#define ROUNDS 9
#define ROUND_FRAMES (8 * MANY_FRAMES)
#define QPS 16
#define LINK_BPS (100 * GBPS)
#define MESSAGE_BYTES (1u << 31)
#define MAX_MTU 4096

/* The same instruction set here and there. */
struct set {
	unsigned int backend; /* of icrc_backends */
	enum rte_net_crc_alg peer;
	const char *peer_name;
};

struct receiver {
	struct nic_pools pools;
	struct node *nic;
	uint16_t mtu_bytes;
	bool check;
	uint64_t now_ns;
	uint32_t n_frames;
	unsigned int batch; /* frames that are there at a time */
	struct rte_mbuf *in[MANY_FRAMES];
};

static volatile uint32_t sink;

static void
start(struct receiver *r)
{
	struct nic_qp_params qp = nic_set_up_qp(2);
	struct nic_params p;

	nic_set_up_params(&p, 1, LINK_BPS);
	p.icrc_check = r->check;
	r->nic = nic_create(&p, &r->pools);
	bench_check(r->nic != NULL, "nic_create");
	qp.requester = false;
	qp.mtu_bytes = r->mtu_bytes;
	for (uint32_t i = 0; i < QPS; i++) {
		qp.peer_qpn = 17 + i;
		bench_check(nic_add_qp(r->nic, &qp, 0) == 17 + i, "nic_add_qp");
	}
	r->now_ns = NS_PER_MS;
	r->n_frames = 0;
}

/* The next packets of one long WRITE to each QP, in turn. */
static void
make_frames(struct receiver *r)
{
	static const uint8_t payload[MAX_MTU];
	struct roce_path path = host_path(2, 1, 0);

	bench_check(rte_pktmbuf_alloc_bulk(r->pools.data, r->in, r->batch) == 0, "mbufs");
	for (unsigned int i = 0; i < r->batch; i++, r->n_frames++) {
		uint32_t psn = r->n_frames / QPS;
		struct roce_fields f = {
			.opcode = psn == 0 ? RC_WRITE_FIRST : RC_WRITE_MIDDLE,
			.migreq = true,
			.psn = psn,
			.reth_dma_bytes = MESSAGE_BYTES,
		};
		struct rte_mbuf *m = r->in[i];

		path.dest_qp = 17 + r->n_frames % QPS;
		m->data_len = (uint16_t)roce_build(rte_pktmbuf_mtod(m, uint8_t *),
						   rte_pktmbuf_tailroom(m), &path, &f, payload,
						   r->mtu_bytes);
		m->pkt_len = m->data_len;
	}
}

static double
round_receive(void *arg)
{
	struct receiver *r = arg;
	double spent_ns = 0;

	for (unsigned int done = 0; done < ROUND_FRAMES; done += r->batch) {
		make_frames(r);
		spent_ns -= bench_clock_ns();
		for (unsigned int i = 0; i < r->batch; i += BURST) {
			r->now_ns += BURST * 80;
			r->nic->ops->rx(r->nic, 0, &r->in[i], BURST, r->now_ns);
		}
		spent_ns += bench_clock_ns();
	}
	return spent_ns / ROUND_FRAMES;
}

/* Of equal frames, of which nothing is received. */
static double
round_peer(void *arg)
{
	struct receiver *r = arg;
	double spent_ns = 0;
	uint32_t seen = 0;

	for (unsigned int done = 0; done < ROUND_FRAMES; done += r->batch) {
		uint32_t n_frames = r->n_frames;

		make_frames(r);
		r->n_frames = n_frames;
		spent_ns -= bench_clock_ns();
		if (r->check)
			for (unsigned int i = 0; i < r->batch; i++)
				seen += net_crc(rte_pktmbuf_mtod(r->in[i], void *),
						r->in[i]->data_len);
		else
			seen += plain_receive(r->in, r->batch, false);
		spent_ns += bench_clock_ns();
		if (r->check)
			rte_pktmbuf_free_bulk(r->in, r->batch);
	}
	sink = seen;
	return spent_ns / ROUND_FRAMES;
}

static void
compare(struct receiver *r, const char *check, const char *peer)
{
	const struct nic_stats *s;
	uint64_t drops = 0;
	char name[96];

	start(r);
	snprintf(name, sizeof(name), "nic rx, MTU %u, %u frames, %s", r->mtu_bytes, r->batch,
		 check);
	bench_compare((struct bench_side){name, round_receive, r},
		      (struct bench_side){peer, round_peer, r}, "ns/packet", ROUNDS);
	s = nic_stats(r->nic);
	for (unsigned int i = 0; i < NIC_DROPS; i++)
		drops += s->drops[i];
	bench_check(drops == 0 && s->rx_packets == r->n_frames, "all frames received");
	nic_destroy(r->nic);
}

static void
compare_all(struct receiver *r)
{
	static const struct set sets[] = {
		{1, RTE_NET_CRC_SSE42, "SSE4.2"},
		{2, RTE_NET_CRC_AVX512, "AVX-512"},
	};

	r->check = false;
	compare(r, "no ICRC check", "headers, free (limit)");
	r->check = true;
	for (unsigned int i = 0; i < ARRAY_LEN(sets); i++) {
		char check[48], peer[48];

		if (sets[i].backend >= icrc_backend_count ||
		    !icrc_backends[sets[i].backend].supported() || !net_crc_use(sets[i].peer))
			continue;
		icrc_use(&icrc_backends[sets[i].backend]);
		snprintf(check, sizeof(check), "ICRC by %s", icrc_backend());
		snprintf(peer, sizeof(peer), "rte_net_crc %s alone", sets[i].peer_name);
		compare(r, check, peer);
	}
}

int
main(void)
{
	static struct receiver r;

	bench_eal(256);
	nic_set_up_pools(&r.pools, 2 * MANY_FRAMES - 1, MAX_MTU, 255);
	for (r.mtu_bytes = 1024; r.mtu_bytes <= MAX_MTU; r.mtu_bytes *= 4) {
		r.batch = FEW_FRAMES;
		compare_all(&r);
		r.batch = MANY_FRAMES;
		compare_all(&r);
	}
	nic_set_up_pools_free(&r.pools);
	return EXIT_SUCCESS;
}
