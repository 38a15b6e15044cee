/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop, with a toy node that sends what it is told to and notes when frames arrive. */
#include <errno.h>
#include <rte_mbuf.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "base/numbers/units.h"
#include "fabric/links/fabric.h"
#include "node/pkt_pool.h"

#define FRAMES 4
#define FRAME_BYTES 1082u /* without FCS: 1106 on the wire, 221.2 ns at 40 Gb/s */

struct toy {
	struct node node;
	unsigned int to_send; /* frames left, one every gap_ns from start_ns on */
	uint64_t next_send_ns, gap_ns;
	uint64_t arrived_ns[FRAMES];
	unsigned int arrived;
	bool stale; /* answer next_ns() with a time long past */
	bool echo;  /* send a frame back on the other port for each that comes */
	unsigned int controls;
	unsigned int rx_turn, tx_turn; /* last frame in, first out, in the order of all calls */
};

static struct rte_mempool *pool;
static unsigned int turn;

static void
toy_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct toy *toy = (struct toy *)node;

	toy->rx_turn = ++turn;
	for (uint16_t i = 0; i < n; i++) {
		if (toy->arrived < FRAMES)
			toy->arrived_ns[toy->arrived] = now_ns;
		toy->arrived++;
		rte_pktmbuf_free(pkts[i]);
	}
	if (toy->echo) {
		toy->to_send += n;
		toy->next_send_ns = now_ns;
		node_wake(node, 1 - port);
	}
}

static uint16_t
toy_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts, uint64_t now_ns)
{
	struct toy *toy = (struct toy *)node;

	(void)max_pkts;
	if (toy->to_send == 0 || now_ns < toy->next_send_ns || (toy->echo && port == 0))
		return 0;
	if (toy->tx_turn == 0)
		toy->tx_turn = ++turn;
	pkts[0] = rte_pktmbuf_alloc(pool);
	rte_pktmbuf_append(pkts[0], FRAME_BYTES);
	toy->to_send--;
	toy->next_send_ns += toy->gap_ns;
	return 1;
}

static uint64_t
toy_next_ns(const struct node *node, uint16_t port)
{
	const struct toy *toy = (const struct toy *)node;

	if (toy->to_send == 0 || (toy->echo && port == 0))
		return NEVER_NS;
	return toy->stale ? 1 : toy->next_send_ns;
}

static uint64_t
toy_control(struct node *node, uint64_t now_ns)
{
	((struct toy *)node)->controls++;
	return now_ns + NS_PER_US;
}

static const struct node_ops toy_ops = {
	.rx = toy_rx, .tx = toy_tx, .next_ns = toy_next_ns, .control = toy_control};
static const struct fabric_cable link_40g = {.rate_bps = 40 * GBPS, .delay_ns = 1000};

/* 20 us of a, cabled to port 0 of relay, whose port 1 is cabled to b. */
static struct fabric *
run_in_line(struct toy *a, struct toy *relay, struct toy *b)
{
	struct fabric *f = fabric_create(3, 2, 1, 1);

	fabric_add_node(f, &a->node);
	fabric_add_node(f, &relay->node);
	fabric_add_node(f, &b->node);
	fabric_connect(f, (struct fabric_end){0, 0}, (struct fabric_end){1, 0}, &link_40g);
	fabric_connect(f, (struct fabric_end){1, 1}, (struct fabric_end){2, 0}, &link_40g);
	fabric_run(f, 20000);
	return f;
}

TEST(a_frame_arrives_after_serialization_and_delay)
{
	struct toy a = {.node.ops = &toy_ops, .to_send = 2, .next_send_ns = 50, .gap_ns = 222};
	struct toy b = {.node.ops = &toy_ops};
	struct fabric *f = fabric_create(2, 1, 1, 1);

	fabric_add_node(f, &a.node);
	fabric_add_node(f, &b.node);
	assert_int_equal(
		fabric_connect(f, (struct fabric_end){0, 0}, (struct fabric_end){1, 0}, &link_40g),
		0);
	fabric_run(f, 10000);
	assert_int_equal(b.arrived, 2);
	/* 1106 B at 40 Gb/s is 221.2 ns, rounded up. */
	assert_int_equal(b.arrived_ns[0], 50 + 222 + 1000);
	assert_int_equal(b.arrived_ns[1], 50 + 222 + 222 + 1000);
	assert_int_equal(fabric_stats(f).packet_hops, 2);
	assert_int_equal(fabric_stats(f).hop_bytes, 2 * 1106);
	fabric_destroy(f);
}

TEST(a_wake_of_another_port_is_heard)
{
	struct toy a = {.node.ops = &toy_ops, .to_send = 3, .gap_ns = 500};
	struct toy relay = {.node.ops = &toy_ops, .echo = true};
	struct toy b = {.node.ops = &toy_ops};
	struct fabric *f = run_in_line(&a, &relay, &b);

	assert_int_equal(b.arrived, 3);
	assert_int_equal(b.arrived_ns[0], 2 * (222 + 1000));
	assert_int_equal(fabric_stats(f).packet_hops, 6);
	fabric_destroy(f);
}

/* What a frame makes a node send at once waits for the other frames that come at that time. */
TEST(arrivals_come_before_what_they_wake)
{
	struct toy a = {.node.ops = &toy_ops, .to_send = 1}, b = a;
	struct toy relay = {.node.ops = &toy_ops, .echo = true};
	struct fabric *f = run_in_line(&a, &relay, &b);

	assert_int_equal(relay.arrived, 2);
	assert_int_equal(relay.arrived_ns[0], relay.arrived_ns[1]);
	assert_true(relay.tx_turn > relay.rx_turn);
	assert_int_equal(b.arrived, 2);
	fabric_destroy(f);
}

/* A node that is behind says so with a time that has passed; nobody may see the clock step back. */
TEST(a_time_in_the_past_means_at_once)
{
	struct toy a = {.node.ops = &toy_ops, .to_send = 1, .next_send_ns = 5000};
	struct toy relay = {.node.ops = &toy_ops, .echo = true, .stale = true};
	struct toy b = {.node.ops = &toy_ops};
	struct fabric *f = run_in_line(&a, &relay, &b);

	assert_int_equal(b.arrived, 1);
	assert_int_equal(b.arrived_ns[0], 5000 + 2 * (222 + 1000));
	fabric_destroy(f);
}

TEST(control_runs_on_its_own_clock)
{
	struct toy a = {.node.ops = &toy_ops};
	struct fabric *f = fabric_create(1, 1, 1, 1);

	fabric_add_node(f, &a.node);
	fabric_run(f, 10 * NS_PER_US);
	assert_int_equal(a.controls, 11);
	fabric_destroy(f);
}

TEST(a_port_connects_once)
{
	struct toy a = {.node.ops = &toy_ops}, b = {.node.ops = &toy_ops};
	struct fabric *f = fabric_create(2, 2, 1, 1);
	struct fabric_end a0 = {0, 0}, b0 = {1, 0}, b1 = {1, 1};

	fabric_add_node(f, &a.node);
	fabric_add_node(f, &b.node);
	assert_int_equal(fabric_connect(f, a0, a0, &link_40g), -EINVAL);
	assert_int_equal(fabric_connect(f, a0, b0, &link_40g), 0);
	assert_int_equal(fabric_connect(f, a0, b1, &link_40g), -EINVAL);
	fabric_destroy(f);
}

TEST(frames_on_cables_are_freed)
{
	struct toy a = {.node.ops = &toy_ops, .to_send = 100, .gap_ns = 222};
	struct toy b = {.node.ops = &toy_ops};
	struct fabric *f = fabric_create(2, 1, 1, 1);
	unsigned int before = rte_mempool_avail_count(pool);

	fabric_add_node(f, &a.node);
	fabric_add_node(f, &b.node);
	fabric_connect(f, (struct fabric_end){0, 0}, (struct fabric_end){1, 0}, &link_40g);
	fabric_run(f, 1200);
	assert_true(rte_mempool_avail_count(pool) < before);
	fabric_destroy(f);
	assert_int_equal(rte_mempool_avail_count(pool), before);
}

static int
open_pool(void **state)
{
	if (start_eal(state) != 0)
		return -1;
	pool = pkt_pool_create(&(struct pkt_pool_params){
		.name = "toy", .n_mbufs = 1000, .largest_frame = 1518, .socket = -1});
	return pool == NULL;
}

TEST_MAIN(.begin = open_pool)
