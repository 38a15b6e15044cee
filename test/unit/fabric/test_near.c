/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short cables to hosts and long ones between switches: each switch and its hosts run windows of
 * their own. The same fabric beside two more nodes with a shorter cable has one window for all, and
 * every frame arrives at the same times.
 */
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "base/numbers/units.h"
#include "fabric/links/fabric_parts.h"
#include "node/pkt_pool.h"

#define SWITCHES 6u
#define HOSTS_OF_A_SWITCH 4u
#define HOSTS (SWITCHES * HOSTS_OF_A_SWITCH)
#define NODES (SWITCHES + HOSTS + 2u)
/* Of a switch: its hosts, and cables to all other switches. */
#define PORTS (HOSTS_OF_A_SWITCH + SWITCHES - 1u)
#define CABLES (HOSTS + SWITCHES * (SWITCHES - 1) / 2 + 1)
#define WAITING 4096u
#define RATE_BPS (40 * GBPS)
/* Each host sends this number of frames, each of which has as many hops. */
#define FRAMES 6u
#define HOPS 120u

static struct rte_mempool *pool;

/* Frames that wait at a port. */
struct queue {
	struct rte_mbuf *frames[WAITING];
	uint32_t first, n;
	uint64_t free_ns; /* when the port can send again */
};

struct toy {
	struct node node;
	struct queue *queues; /* by port */
	uint16_t n_ports;
	uint32_t number;
};

static void
wait_at(struct toy *toy, uint16_t port, struct rte_mbuf *m)
{
	struct queue *q = &toy->queues[port];

	assert_true(q->n < WAITING);
	q->frames[(q->first + q->n++) % WAITING] = m;
	node_wake(&toy->node, port);
}

/* A frame has the hops that are left in its bytes, and its way and length depend on them. */
static void
toy_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct toy *toy = (struct toy *)node;

	(void)now_ns;
	for (uint16_t i = 0; i < n; i++) {
		uint8_t *data = rte_pktmbuf_mtod(pkts[i], uint8_t *);
		uint16_t bytes, to;

		if (--data[15] == 0) {
			rte_pktmbuf_free(pkts[i]);
			continue;
		}
		data[16] = (uint8_t)(data[16] * 5 + toy->number + 1);
		bytes = (uint16_t)(64 + data[16] * 5);
		pkts[i]->data_len = bytes;
		pkts[i]->pkt_len = bytes;
		to = toy->n_ports == 1 ? 0
				       : (uint16_t)((port + 1 + data[16] % (PORTS - 1)) % PORTS);
		wait_at(toy, to, pkts[i]);
	}
}

static uint16_t
toy_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts, uint64_t now_ns)
{
	struct queue *q = &((struct toy *)node)->queues[port];

	(void)max_pkts;
	if (q->n == 0 || now_ns < q->free_ns)
		return 0;
	pkts[0] = q->frames[q->first];
	q->first = (q->first + 1) % WAITING;
	q->n--;
	q->free_ns = now_ns + serialization_ns(wire_bytes(pkts[0]->pkt_len), RATE_BPS);
	return 1;
}

static uint64_t
toy_next_ns(const struct node *node, uint16_t port)
{
	const struct queue *q = &((const struct toy *)node)->queues[port];

	return q->n == 0 ? NEVER_NS : q->free_ns;
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

struct bed {
	struct fabric *f;
	struct toy toys[NODES];
};

static void
join(struct bed *b, uint32_t x, uint16_t x_port, uint32_t y, uint16_t y_port, uint64_t delay_ns)
{
	const struct fabric_cable cable = {.rate_bps = RATE_BPS, .delay_ns = delay_ns};

	assert_int_equal(fabric_connect(b->f, (struct fabric_end){x, x_port},
					(struct fabric_end){y, y_port}, &cable),
			 0);
}

/* The port of switch x to switch y. */
static uint16_t
port_to(uint32_t x, uint32_t y)
{
	return (uint16_t)(HOSTS_OF_A_SWITCH + (y < x ? y : y - 1));
}

static void
build(struct bed *b, uint32_t threads, bool beside)
{
	b->f = fabric_create(NODES, CABLES, threads, 7);
	for (uint32_t i = 0; i < NODES; i++) {
		struct toy *toy = &b->toys[i];

		*toy = (struct toy){
			.node.ops = &toy_ops, .n_ports = i < SWITCHES ? PORTS : 1, .number = i};
		toy->queues = calloc(toy->n_ports, sizeof(*toy->queues));
		assert_non_null(toy->queues);
		fabric_add_node(b->f, &toy->node);
	}
	for (uint32_t h = 0; h < HOSTS; h++)
		join(b, h / HOSTS_OF_A_SWITCH, h % HOSTS_OF_A_SWITCH, SWITCHES + h, 0, 15);
	for (uint32_t x = 0; x < SWITCHES; x++)
		for (uint32_t y = x + 1; y < SWITCHES; y++)
			join(b, x, port_to(x, y), y, port_to(y, x), 400 + 37 * x + 11 * y);
	if (beside)
		join(b, NODES - 2, 0, NODES - 1, 0, 0);
	for (uint32_t h = 0; h < HOSTS; h++)
		for (uint32_t i = 0; i < FRAMES; i++) {
			struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

			assert_non_null(m);
			memset(rte_pktmbuf_append(m, 1400), 0, 1400);
			rte_pktmbuf_mtod(m, uint8_t *)[15] = HOPS;
			rte_pktmbuf_mtod(m, uint8_t *)[16] = (uint8_t)(h * 16 + i);
			wait_at(&b->toys[SWITCHES + h], 0, m);
		}
}

static void
set_delay(struct bed *b, uint32_t x, uint32_t y, uint64_t delay_ns)
{
	const struct fabric_cable cable = {.rate_bps = RATE_BPS, .delay_ns = delay_ns};

	assert_int_equal(fabric_set_cable(b->f, (struct fabric_end){x, port_to(x, y)}, &cable), 0);
}

struct outcome {
	uint64_t digests[2 * CABLES];
	uint64_t hops, windows;
};

/* Long cables become short for a time, and longer. */
static struct outcome
run(uint32_t threads, bool beside)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct outcome out = {0};

	assert_non_null(b);
	build(b, threads, beside);
	for (uint64_t us = 1; us <= 60; us++) {
		assert_int_equal(fabric_run(b->f, us * NS_PER_US), 0);
		assert_int_equal(b->f->is_near, !beside);
		if (us == 20)
			set_delay(b, 0, 3, 1);
		else if (us == 30)
			set_delay(b, 0, 3, 900);
		else if (us == 40)
			set_delay(b, 5, 1, 3000);
	}
	for (uint32_t i = 0; i < 2 * (CABLES - 1); i++)
		out.digests[i] = b->f->directions[i].digest;
	out.hops = fabric_stats(b->f).packet_hops;
	out.windows = fabric_stats(b->f).windows;
	fabric_destroy(b->f);
	for (uint32_t i = 0; i < NODES; i++) {
		for (uint16_t port = 0; port < b->toys[i].n_ports; port++)
			for (struct queue *q = &b->toys[i].queues[port]; q->n > 0; q->n--)
				rte_pktmbuf_free(q->frames[(q->first + q->n - 1) % WAITING]);
		free(b->toys[i].queues);
	}
	free(b);
	return out;
}

TEST(each_frame_arrives_as_with_one_window_for_all)
{
	struct outcome plain = run(1, true);

	assert_true(plain.hops > HOSTS * FRAMES * 20);
	for (uint32_t threads = 1; threads <= 4; threads++) {
		struct outcome near = run(threads, false), far = run(threads, true);

		assert_int_equal(near.hops, plain.hops);
		assert_memory_equal(near.digests, plain.digests, sizeof(plain.digests));
		assert_memory_equal(far.digests, plain.digests, sizeof(plain.digests));
		/* For 50 us, 0.4 us each instead of 0.03. */
		assert_true(near.windows * 3 < plain.windows);
	}
}

static int
open_pool(void **state)
{
	if (start_eal(state) != 0)
		return -1;
	pool = pkt_pool_create(&(struct pkt_pool_params){.name = "toy",
							 .n_mbufs = 20000,
							 .largest_frame = 1518,
							 .threads = true,
							 .grows = true,
							 .socket = -1});
	return pool == NULL;
}

TEST_MAIN(.begin = open_pool)
