/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two ends of DCQCN, from memory: a notification point that answers each CE mark with a CNP,
 * and a reaction point that takes CNPs; the ICRC of every frame is checked. Beside each: the rate
 * that is to be reached; a ConnectX-4 answers 200 flows each 50 us (SIGCOMM 2015 section 3.3).
 */
#include <rte_mbuf.h>

#include "bench.h"
#include "nic_set_up.h"
#include "wire/frame/ecn.h"
#include "wire/roce/roce.h"

#define FRAMES 512
#define BURST 32
#define ROUNDS 9
#define ROUND_FRAMES (256 * FRAMES)
#define QPS 200
#define LINK_BPS (100 * GBPS)
#define CE_PAYLOAD 5 /* of golden frame 04 */

struct end {
	struct nic_pools pools;
	struct node *nic;
	uint64_t now_ns;
	bool np; /* else a reaction point */
	uint32_t n_frames;
	struct rte_mbuf *in[FRAMES], *out[FRAMES];
};

static void
start(struct end *e)
{
	struct nic_qp_params qp = nic_set_up_qp(2);
	struct nic_params p;

	nic_set_up_params(&p, 1, LINK_BPS);
	p.np.np_min_time_between_cnps_us = 0;
	e->nic = nic_create(&p, &e->pools);
	bench_check(e->nic != NULL, "nic_create");
	qp.requester = !e->np;
	for (uint32_t i = 0; i < QPS; i++) {
		qp.peer_qpn = 17 + i;
		bench_check(nic_add_qp(e->nic, &qp, 0) == 17 + i, "nic_add_qp");
	}
	e->now_ns = NS_PER_MS;
	e->n_frames = 0;
	/* A CNP means something to a QP that has started. */
	for (uint32_t i = 0; i < QPS && !e->np; i++, e->now_ns += 3000)
		rte_pktmbuf_free_bulk(e->out, e->nic->ops->tx(e->nic, 0, e->out, BURST, e->now_ns));
}

/* The next frames of the peer, to each QP in turn: marked WRITEs in sequence, or CNPs. */
static void
make_frames(struct end *e)
{
	static const uint8_t payload[CE_PAYLOAD];
	uint16_t bytes = e->np ? CE_PAYLOAD : 0;
	struct roce_path path = host_path(2, 1, 0);

	if (e->np)
		path.ecn = ECN_CE;
	bench_check(rte_pktmbuf_alloc_bulk(e->pools.control, e->in, FRAMES) == 0, "mbufs");
	for (unsigned int i = 0; i < FRAMES; i++, e->n_frames++) {
		struct roce_fields f = {
			.opcode = e->np ? RC_WRITE_ONLY : ROCE_CNP,
			.becn = !e->np,
			.migreq = e->np,
			.psn = e->np ? e->n_frames / QPS : 0,
			.reth_dma_bytes = bytes,
		};
		uint8_t *at = rte_pktmbuf_mtod(e->in[i], uint8_t *);

		path.dest_qp = 17 + e->n_frames % QPS;
		rte_pktmbuf_append(e->in[i],
				   (uint16_t)roce_build(at, 256, &path, &f, payload, bytes));
	}
}

/* Give all frames to the node in bursts, and take as many answers from the NP. */
static double
receive(struct end *e)
{
	double start_ns = bench_clock_ns(), spent_ns;
	unsigned int answers = 0;

	for (unsigned int i = 0; i < FRAMES; i += BURST) {
		e->now_ns += BURST * 10;
		e->nic->ops->rx(e->nic, 0, &e->in[i], BURST, e->now_ns);
		if (e->np)
			answers += e->nic->ops->tx(e->nic, 0, &e->out[answers], BURST, e->now_ns);
	}
	spent_ns = bench_clock_ns() - start_ns;
	bench_check(answers == (e->np ? FRAMES : 0), "a CNP for each CE mark");
	rte_pktmbuf_free_bulk(e->out, answers);
	return spent_ns;
}

static void
bench(struct end *e, const char *name)
{
	double mpps[ROUNDS];
	int rounds = (int)bench_rounds(ROUNDS);

	start(e);
	for (int round = -1; round < rounds; round++) {
		double spent_ns = 0;

		for (unsigned int i = 0; i < ROUND_FRAMES; i += FRAMES) {
			make_frames(e);
			spent_ns += receive(e);
		}
		if (round >= 0)
			mpps[round] = ROUND_FRAMES / spent_ns * 1e3;
	}
	if (!e->np)
		bench_check(nic_stats(e->nic)->rp.rp_cnp_handled == e->n_frames, "CNPs handled");
	nic_destroy(e->nic);
	bench_print(name, bench_median(mpps, (unsigned int)rounds), "M/s", NULL, 0);
}

int
main(void)
{
	static struct end e;

	bench_eal(64);
	nic_set_up_pools(&e.pools, 4096, 1024, 2048);
	e.np = true;
	bench(&e, "NP: CE frame in, CNP out");
	e.np = false;
	bench(&e, "RP: CNP in");
	nic_set_up_pools_free(&e.pools);
	return EXIT_SUCCESS;
}
