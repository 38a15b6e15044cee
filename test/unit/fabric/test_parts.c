/* SPDX-License-Identifier: BSD-3-Clause */
/* Which thread runs which node, and that it makes no difference. */
#include <rte_mbuf.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "base/numbers/units.h"
#include "fabric/links/parts.h"
#include "node/pkt_pool.h"

#define NODES 12u
#define GAP_NS 300u

/* Sends a frame every gap_ns, and frees what it receives. */
struct toy {
	struct node node;
	uint64_t next_ns, gap_ns; /* gap_ns 0: sends nothing */
	uint64_t arrived;
};

static struct rte_mempool *pool;
static const struct fabric_cable link_40g = {.rate_bps = 40 * GBPS, .delay_ns = 1000};

static void
toy_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	(void)port;
	(void)now_ns;
	((struct toy *)node)->arrived += n;
	rte_pktmbuf_free_bulk(pkts, n);
}

static uint16_t
toy_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts, uint64_t now_ns)
{
	struct toy *toy = (struct toy *)node;

	(void)port;
	(void)max_pkts;
	if (toy->gap_ns == 0 || now_ns < toy->next_ns)
		return 0;
	pkts[0] = rte_pktmbuf_alloc(pool);
	rte_pktmbuf_append(pkts[0], 1000);
	toy->next_ns += toy->gap_ns;
	return 1;
}

static uint64_t
toy_next_ns(const struct node *node, uint16_t port)
{
	const struct toy *toy = (const struct toy *)node;

	(void)port;
	return toy->gap_ns == 0 ? NEVER_NS : toy->next_ns;
}

static uint64_t
toy_control(struct node *node, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	return NEVER_NS;
}

static const struct node_ops toy_ops = {
	.rx = toy_rx, .tx = toy_tx, .next_ns = toy_next_ns, .control = toy_control};

/* Nodes in pairs: 0 and 2, 1 and 3, 4 and 6, ... Only the even ones send. */
static struct fabric *
pairs(struct toy toys[NODES], uint32_t threads)
{
	struct fabric *f = fabric_create(NODES, NODES / 2, threads);

	for (uint32_t i = 0; i < NODES; i++) {
		toys[i] = (struct toy){.node.ops = &toy_ops, .gap_ns = i % 2 ? 0 : GAP_NS};
		toys[i].next_ns = 10 * i;
		fabric_add_node(f, &toys[i].node);
	}
	for (uint32_t i = 0; i < NODES; i += 4)
		for (uint32_t k = i; k < i + 2; k++)
			assert_int_equal(fabric_connect(f, (struct fabric_end){k, 0},
							(struct fabric_end){k + 2, 0}, &link_40g),
					 0);
	return f;
}

static uint32_t
senders_in(const struct fabric *f, uint32_t part)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < NODES; i += 2)
		n += f->nodes[i].part == part;
	return n;
}

/* All senders begin in one part, because all links have the same rate. */
TEST(work_moves_to_the_part_with_less)
{
	struct toy toys[NODES];
	struct fabric *f = pairs(toys, 2);

	assert_int_equal(fabric_run(f, 10 * NS_PER_US), 0);
	assert_int_equal(senders_in(f, 0), NODES / 2);
	for (uint64_t us = 11; us < 200; us++)
		assert_int_equal(fabric_run(f, us * NS_PER_US), 0);
	assert_int_equal(senders_in(f, 0), NODES / 4);
	assert_int_equal(senders_in(f, 1), NODES / 4);
	/* Balanced when a third of the run is over. */
	assert_in_range(100 * fabric_stats(f).critical_calls / fabric_stats(f).calls, 50, 75);
	fabric_destroy(f);
}

static struct fabric_stats
stats_with(uint32_t threads, uint64_t arrived[NODES])
{
	struct toy toys[NODES];
	struct fabric *f = pairs(toys, threads);
	struct fabric_stats stats;

	for (uint64_t us = 1; us <= 200; us++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		assert_int_equal(fabric_run(f, us * NS_PER_US), 0);
		/* An injected frame, a link that fails, a slower cable: they meet frames that wait
		 * for another part. */
		rte_pktmbuf_append(m, 700);
		assert_int_equal(
			fabric_inject(f, (struct fabric_end){us % NODES, 0}, m, us * NS_PER_US), 0);
		if (us % 50 == 20)
			fabric_set_link_up(f, (struct fabric_end){us % 3, 0}, us > 100);
		if (us == 70)
			fabric_set_cable(
				f, (struct fabric_end){4, 0},
				&(struct fabric_cable){.rate_bps = 40 * GBPS, .delay_ns = 3000});
	}
	for (uint32_t i = 0; i < NODES; i++)
		arrived[i] = toys[i].arrived;
	stats = fabric_stats(f);
	fabric_destroy(f);
	return stats;
}

TEST(results_are_the_same_with_any_number_of_threads)
{
	unsigned int before = rte_mempool_avail_count(pool);
	uint64_t alone[NODES], many[NODES];
	struct fabric_stats one = stats_with(1, alone);

	assert_true(one.packet_hops > 3000);
	for (uint32_t threads = 2; threads <= NODES + 2; threads++) {
		struct fabric_stats all = stats_with(threads, many);

		assert_int_equal(all.digest, one.digest);
		assert_int_equal(all.packet_hops, one.packet_hops);
		assert_int_equal(all.hop_bytes, one.hop_bytes);
		assert_memory_equal(many, alone, sizeof(alone));
	}
	assert_int_equal(rte_mempool_avail_count(pool), before);
}

/* Frames that wait for another part, at the end of a run, are freed too. */
TEST(frames_between_parts_are_freed)
{
	unsigned int before = rte_mempool_avail_count(pool);
	struct toy toys[NODES];
	struct fabric *f = pairs(toys, 3);

	assert_int_equal(fabric_run(f, NS_PER_US), 0);
	assert_true(rte_mempool_avail_count(pool) < before);
	fabric_destroy(f);
	assert_int_equal(rte_mempool_avail_count(pool), before);
}

static int
open_pool(void **state)
{
	if (start_eal(state) != 0)
		return -1;
	pool = pkt_pool_create(&(struct pkt_pool_params){.name = "toy",
							 .n_mbufs = 40000,
							 .largest_frame = 1518,
							 .threads = true,
							 .grows = true,
							 .socket = -1});
	return pool == NULL;
}

TEST_MAIN(.begin = open_pool)
