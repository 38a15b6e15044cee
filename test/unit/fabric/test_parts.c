/* SPDX-License-Identifier: BSD-3-Clause */
/* Which thread runs which node, and that it makes no difference. */
#include <rte_mbuf.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "fabric/links/fabric_parts.h"
#include "node/pkt_pool.h"

#define NODES 16u
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
	struct fabric *f = fabric_create(NODES, NODES / 2, threads, 1);

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

/* What a watch must see: what has arrived at the time of each tick. */
struct seen {
	const struct toy *toy;
	uint64_t first_ns; /* arrival of the first frame */
	uint64_t every_ns, ticks;
};

static void
see_ticks(void *arg, uint64_t first_ns, uint64_t n)
{
	struct seen *seen = arg;

	assert_int_equal(first_ns, (seen->ticks + 1) * seen->every_ns);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t now_ns = first_ns + i * seen->every_ns;
		uint64_t arrived =
			now_ns < seen->first_ns ? 0 : (now_ns - seen->first_ns) / GAP_NS + 1;

		assert_int_equal(seen->toy->arrived, arrived);
	}
	seen->ticks += n;
}

/* A tick between two frames, at the time of one, and in a run's last instant. */
TEST(a_watch_sees_all_that_happens_until_its_tick)
{
	static const uint64_t every_ns[] = {7, 50, GAP_NS, 1000, 1700};
	uint64_t wire_ns = serialization_ns(wire_bytes(1000), link_40g.rate_bps);

	for (uint32_t k = 0; k < 2 * ARRAY_LEN(every_ns); k++) {
		struct toy toys[NODES];
		struct fabric *f = pairs(toys, 1 + k % 2);
		struct seen seen = {.toy = &toys[2],
				    .first_ns = wire_ns + link_40g.delay_ns,
				    .every_ns = every_ns[k / 2]};

		fabric_watch_node(f, 2, &(struct fabric_watch){see_ticks, &seen, seen.every_ns});
		for (uint64_t now_ns = 0; now_ns <= 20 * NS_PER_US; now_ns += 850) {
			assert_int_equal(fabric_run(f, now_ns), 0);
			assert_in_range(seen.ticks, now_ns == 0 ? 0 : (now_ns - 1) / seen.every_ns,
					now_ns / seen.every_ns);
			if (now_ns % 3 == 0) {
				fabric_tick(f, now_ns);
				assert_int_equal(seen.ticks, now_ns / seen.every_ns);
			}
		}
		fabric_destroy(f);
	}
}

/* Three nodes in a ring, each of which sends to both others. */
static struct fabric_stats
ring_stats(uint32_t threads)
{
	struct toy toys[3];
	struct fabric *f = fabric_create(3, 3, threads, 1);
	struct fabric_stats stats;

	for (uint32_t i = 0; i < 3; i++) {
		toys[i] = (struct toy){.node.ops = &toy_ops, .gap_ns = GAP_NS + i};
		fabric_add_node(f, &toys[i].node);
	}
	for (uint16_t i = 0; i < 3; i++)
		assert_int_equal(fabric_connect(f, (struct fabric_end){i, 0},
						(struct fabric_end){(i + 1) % 3, 1}, &link_40g),
				 0);
	assert_int_equal(fabric_run(f, 50 * NS_PER_US), 0);
	assert_int_equal(f->n_sides, 1);
	stats = fabric_stats(f);
	fabric_destroy(f);
	return stats;
}

TEST(nodes_in_a_ring_of_three_are_on_one_side)
{
	struct toy toys[NODES];
	struct fabric *f = pairs(toys, 1);
	struct fabric_stats one = ring_stats(1);

	assert_int_equal(fabric_run(f, NS_PER_US), 0);
	assert_int_equal(f->n_sides, 2);
	fabric_destroy(f);
	assert_true(one.packet_hops > 300);
	for (uint32_t threads = 2; threads <= 3; threads++)
		assert_int_equal(ring_stats(threads).digest, one.digest);
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
