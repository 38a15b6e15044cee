/* SPDX-License-Identifier: BSD-3-Clause */
/* A node of nothing but counters on two net_ring devices: what the loop does between node and
 * device. */
#include <stdio.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "runtime/poll/poll_loop.h"

#define RING_FRAMES 8 /* a ring of 8 holds 7 */
#define PORTS 2

struct fake_node {
	struct node node;
	struct rte_mempool *pool;
	uint32_t to_send[PORTS]; /* frames it still has */
	uint32_t next_number[PORTS];
	uint32_t tx_calls[PORTS];
	uint32_t control_to_send, control_number;
	uint32_t received[PORTS];
	uint32_t empty_rx[PORTS];
	bool forwards; /* what comes in leaves by the other port */
	struct node_drops *drops;
	uint32_t drops_of_burst; /* so many received frames of each burst are dropped */
	bool loses;              /* a frame of each burst, which was to leave by port 0 */
	uint64_t last_ns;
	uint64_t wake_ns;
};

static struct fake_node fake;
static struct rte_ring *wire_out[PORTS], *wire_in[PORTS];
/* A third device, of two queues each way. */
static struct rte_ring *queues_out[2], *queues_in[2];
static uint16_t queues_dev;
static uint16_t ethdevs[PORTS];
static atomic_bool stop;
static struct tsc_clock tsc;

static void
on_time(uint64_t now_ns)
{
	assert_true(now_ns >= fake.last_ns);
	fake.last_ns = now_ns;
}

static void
fake_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	(void)node;
	on_time(now_ns);
	assert_true(n <= POLL_BURST);
	if (n == 0) {
		fake.empty_rx[port]++;
		return;
	}
	fake.received[port] += n;
	for (uint16_t i = 0; i < n && i < fake.drops_of_burst; i++)
		if (fake.drops->wanted)
			fake.drops->dropped(fake.drops, port, pkts[i], "no_headroom");
	if (fake.loses && node_lost_wanted(fake.drops))
		fake.drops->lost(fake.drops, &(struct node_lost_frame){.m = pkts[0],
								       .reason = "wred",
								       .from_port = port,
								       .now_ns = now_ns});
	if (fake.forwards)
		fake.to_send[1 - port] += n;
	rte_pktmbuf_free_bulk(pkts, n);
}

/* Up to room frames of a count, numbered. */
static uint16_t
make(uint32_t *to_send, uint32_t *number, struct rte_mbuf **pkts, uint16_t max_pkts)
{
	uint16_t n = 0;

	while (n<max_pkts && * to_send> 0) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(fake.pool);

		assert_non_null(m);
		*(uint32_t *)rte_pktmbuf_append(m, 60) = (*number)++;
		(*to_send)--;
		pkts[n++] = m;
	}
	return n;
}

static uint16_t
fake_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	uint64_t now_ns)
{
	(void)node;
	on_time(now_ns);
	fake.tx_calls[port]++;
	return make(&fake.to_send[port], &fake.next_number[port], pkts, max_pkts);
}

static uint16_t
fake_tx_control(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
		uint64_t now_ns)
{
	(void)node;
	on_time(now_ns);
	assert_int_equal(port, 0);
	return make(&fake.control_to_send, &fake.control_number, pkts, max_pkts);
}

static uint64_t
fake_next(const struct node *node, uint16_t port)
{
	(void)node;
	(void)port;
	return fake.wake_ns;
}

static void
fake_why(const struct node *node, uint16_t port, const struct rte_mbuf *m, char *text, size_t size)
{
	(void)node;
	snprintf(text, size, "frame %u of port %u",
		 (unsigned int)*rte_pktmbuf_mtod(m, const uint32_t *), port);
}

static void
fake_watch_drops(struct node *node, struct node_drops *drops)
{
	(void)node;
	fake.drops = drops;
}

static const struct node_ops fake_ops = {.rx = fake_rx,
					 .tx = fake_tx,
					 .tx_control = fake_tx_control,
					 .next_ns = fake_next,
					 .why = fake_why,
					 .watch_drops = fake_watch_drops};

/* A device of n rings each way. @return its number, or -1. */
static int
make_device(const char *name, struct rte_ring **in, struct rte_ring **out, uint16_t n)
{
	struct rte_eth_conf conf = {0};
	int port;

	for (uint16_t q = 0; q < n; q++) {
		char ring[32];

		snprintf(ring, sizeof(ring), "%s-in%u", name, q);
		in[q] = rte_ring_create(ring, 64, SOCKET_ID_ANY, 0);
		snprintf(ring, sizeof(ring), "%s-out%u", name, q);
		out[q] = rte_ring_create(ring, RING_FRAMES, SOCKET_ID_ANY, 0);
	}
	port = rte_eth_from_rings(name, in, n, out, n, 0);
	if (port < 0 || rte_eth_dev_configure((uint16_t)port, n, n, &conf) != 0)
		return -1;
	for (uint16_t q = 0; q < n; q++)
		if (rte_eth_rx_queue_setup((uint16_t)port, q, 64, 0, NULL, fake.pool) != 0 ||
		    rte_eth_tx_queue_setup((uint16_t)port, q, 64, 0, NULL) != 0)
			return -1;
	return rte_eth_dev_start((uint16_t)port) != 0 ? -1 : port;
}

static int
setup_devices(void **state)
{
	static const char *const names[PORTS] = {"dev0", "dev1"};
	int port;

	if (start_eal(state) != 0)
		return -1;
	fake.pool = rte_pktmbuf_pool_create("frames", 1023, 0, 0, 2048, SOCKET_ID_ANY);
	if (fake.pool == NULL)
		return -1;
	for (unsigned int i = 0; i < PORTS; i++) {
		port = make_device(names[i], &wire_in[i], &wire_out[i], 1);
		if (port < 0)
			return -1;
		ethdevs[i] = (uint16_t)port;
	}
	port = make_device("dev2", queues_in, queues_out, 2);
	queues_dev = (uint16_t)port;
	tsc_clock_init(&tsc, rte_get_tsc_hz());
	return port < 0 ? -1 : 0;
}

static int
setup(void **state)
{
	struct rte_mempool *pool = fake.pool;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.pool = pool;
	fake.node.ops = &fake_ops;
	fake.wake_ns = NEVER_NS;
	stop = false;
	return 0;
}

/* Take up to n frames off a wire; each must carry the next number. */
static void
take_from(struct rte_ring *wire, unsigned int n, uint32_t *expected)
{
	void *m;

	while (n-- > 0 && rte_ring_dequeue(wire, &m) == 0) {
		assert_int_equal(*rte_pktmbuf_mtod((struct rte_mbuf *)m, uint32_t *), *expected);
		(*expected)++;
		rte_pktmbuf_free(m);
	}
}

static void
take_in_order(unsigned int port, unsigned int n, uint32_t *expected)
{
	take_from(wire_out[port], n, expected);
}

TEST(refused_frames_are_held_and_leave_first_and_in_order)
{
	struct poll_loop loop;
	uint32_t expected = 0;

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	fake.to_send[0] = 100;
	for (unsigned int round = 0; expected < 100; round++) {
		uint32_t calls = fake.tx_calls[0];
		uint32_t given = fake.next_number[0];

		assert_true(round < 1000);
		poll_loop_round(&loop);
		/* Nothing lost, nothing counted twice. */
		assert_int_equal(fake.next_number[0], expected + rte_ring_count(wire_out[0]) +
							      poll_port_held(&loop.ports[0]));
		/* The node is asked for more only after all that it gave before has left. */
		if (fake.tx_calls[0] > calls)
			assert_true(poll_port_held(&loop.ports[0]) <= fake.next_number[0] - given);
		take_in_order(0, round % 4, &expected);
	}
	assert_true(poll_port_refusals(&loop.ports[0]) > 0);
	assert_int_equal(poll_port_held(&loop.ports[0]), 0);
}

/* A sent frame is captured once, when the device has taken it, however often it was refused. */
TEST(a_capture_has_the_frames_that_the_devices_received_and_took)
{
	struct capture_lane lane = {
		.filter = {.kinds = capture_kinds("all"), .dest_qp = CAPTURE_ANY_QP},
		.snap_bytes = UINT32_MAX,
	};
	const struct capture_record *r;
	struct poll_loop loop;
	uint32_t expected = 0, sent = 0, received = 0;
	uint64_t last_ns = 0;
	char why[64];

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	assert_int_equal(capture_ring_init(&lane.ring, 1 << 16), 0);
	capture_tap_connect(&loop.ports[0].tap, &lane);
	fake.to_send[0] = 100;
	fake.to_send[1] = 5;
	for (unsigned int round = 0; expected < 100; round++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(fake.pool);

		fake.drops_of_burst = round % 2;

		assert_true(round < 1000);
		assert_int_equal(rte_ring_enqueue(wire_in[0], m), 0);
		(void)rte_pktmbuf_append(m, 60);
		poll_loop_round(&loop);
		for (; (r = capture_ring_peek(&lane.ring)) != NULL; capture_ring_take(&lane.ring)) {
			assert_true(r->at_ns >= last_ns);
			last_ns = r->at_ns;
			if (r->way == PCAPNG_SENT) {
				snprintf(why, sizeof(why), "frame %u of port 0", sent);
				assert_int_equal(*(const uint32_t *)(const void *)(r + 1), sent++);
				assert_string_equal(r->why, why);
			} else {
				assert_string_equal(r->why, fake.drops_of_burst > 0
								    ? "dropped: no_headroom"
								    : "");
				received++;
			}
		}
		assert_int_equal(sent, expected + rte_ring_count(wire_out[0]));
		assert_int_equal(received, round + 1);
		take_in_order(0, round % 4, &expected);
	}
	capture_tap_disconnect(&loop.ports[0].tap);
	fake.to_send[0] = 1;
	poll_loop_round(&loop);
	assert_null(capture_ring_peek(&lane.ring));
	capture_ring_free(&lane.ring);
	take_in_order(0, 1, &expected);
	for (expected = 0; expected < 5;)
		take_in_order(1, 5, &expected);
}

static void
receive_frame(unsigned int port)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(fake.pool);

	(void)rte_pktmbuf_append(m, 60);
	assert_int_equal(rte_ring_enqueue(wire_in[port], m), 0);
}

/* The next record, which has to be there. */
static void
assert_next(struct capture_ring *ring, enum pcapng_way way, const char *why)
{
	const struct capture_record *r = capture_ring_peek(ring);

	assert_non_null(r);
	assert_int_equal(r->way, way);
	assert_string_equal(r->why, why);
	capture_ring_take(ring);
}

/* While the node has frames of the captured port, and of another one. */
TEST(a_capture_has_the_frames_that_were_to_leave_and_were_dropped)
{
	struct capture_lane lane = {
		.filter = {.kinds = capture_kinds("all"), .dest_qp = CAPTURE_ANY_QP},
		.snap_bytes = UINT32_MAX,
	};
	struct poll_loop loop;

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	assert_int_equal(capture_ring_init(&lane.ring, 1 << 16), 0);
	fake.loses = true;
	assert_false(node_lost_wanted(fake.drops));
	capture_tap_connect(&loop.ports[0].tap, &lane);
	for (unsigned int i = 0; i < PORTS; i++)
		receive_frame(i);
	poll_loop_round(&loop);
	assert_next(&lane.ring, PCAPNG_RECEIVED, "");
	assert_next(&lane.ring, PCAPNG_LOST, "dropped: wred, received by port 0");
	assert_next(&lane.ring, PCAPNG_LOST, "dropped: wred, received by port 1");
	assert_null(capture_ring_peek(&lane.ring));
	lane.filter.direction = CAPTURE_RECEIVED;
	for (unsigned int i = 0; i < PORTS; i++)
		receive_frame(i);
	poll_loop_round(&loop);
	assert_next(&lane.ring, PCAPNG_RECEIVED, "");
	assert_null(capture_ring_peek(&lane.ring));
	capture_tap_disconnect(&loop.ports[0].tap);
	assert_false(node_lost_wanted(fake.drops));
	capture_ring_free(&lane.ring);
}

TEST(a_stuck_port_does_not_stop_the_others)
{
	struct poll_loop loop;
	uint32_t first = 0, second = 0;

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	fake.to_send[0] = fake.to_send[1] = 40;
	for (unsigned int round = 0; round < 100; round++) {
		poll_loop_round(&loop);
		take_in_order(1, RING_FRAMES, &second);
	}
	assert_int_equal(second, 40);
	/* One burst was asked for, and it waits. */
	assert_int_equal(fake.tx_calls[0], 1);
	for (unsigned int round = 0; round < 100; round++) {
		take_in_order(0, RING_FRAMES, &first);
		poll_loop_round(&loop);
	}
	assert_int_equal(first, 40);
}

TEST(a_removed_device_is_never_used_again_and_its_held_frames_are_counted)
{
	_Atomic uint64_t removed = 0;
	struct poll_loop loop;
	uint32_t first = 0, second = 0, given, empty;
	void *waiting = NULL;

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	loop.removed = &removed;
	fake.to_send[0] = 40;
	poll_loop_round(&loop);
	assert_int_equal(poll_port_held(&loop.ports[0]), POLL_BURST - (RING_FRAMES - 1));
	given = fake.tx_calls[0];

	removed = 1 << 0;
	assert_int_equal(rte_ring_enqueue(wire_in[0], rte_pktmbuf_alloc(fake.pool)), 0);
	take_in_order(0, RING_FRAMES, &first);
	empty = fake.empty_rx[0];
	fake.to_send[1] = 5;
	for (unsigned int round = 0; round < 10; round++)
		poll_loop_round(&loop);
	/* The control thread may close the device. */
	assert_int_equal(loop.let_go, removed);
	assert_int_equal(loop.ports[0].removal_drops, POLL_BURST - (RING_FRAMES - 1));
	assert_int_equal(poll_port_held(&loop.ports[0]), 0);
	assert_int_equal(rte_ring_count(wire_out[0]), 0);
	assert_int_equal(fake.received[0], 0);
	assert_int_equal(fake.tx_calls[0], given);
	/* The node still serves requests of other threads, and the other port goes on. */
	assert_int_equal(fake.empty_rx[0], empty + 10);
	take_in_order(1, RING_FRAMES, &second);
	assert_int_equal(second, 5);
	assert_int_equal(rte_ring_dequeue(wire_in[0], &waiting), 0);
	rte_pktmbuf_free(waiting);
}

/* One at a time: from the first port to the second in one round, back in the next at the latest. */
TEST(no_frame_waits_for_another)
{
	struct poll_loop loop;
	uint32_t expected[PORTS] = {0};

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	fake.forwards = true;
	for (unsigned int i = 0; i < 100; i++) {
		unsigned int in = i % PORTS, out = 1 - in;

		assert_int_equal(rte_ring_enqueue(wire_in[in], rte_pktmbuf_alloc(fake.pool)), 0);
		for (unsigned int round = 0; round <= in; round++)
			poll_loop_round(&loop);
		assert_int_equal(rte_ring_count(wire_out[out]), 1);
		take_in_order(out, 1, &expected[out]);
	}
}

TEST(bursts_are_received_whole)
{
	struct poll_loop loop;

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	for (unsigned int i = 0; i < 50; i++)
		assert_int_equal(rte_ring_enqueue(wire_in[1], rte_pktmbuf_alloc(fake.pool)), 0);
	assert_int_equal(poll_loop_round(&loop), POLL_BURST);
	assert_int_equal(poll_loop_round(&loop), 50 - POLL_BURST);
	assert_int_equal(poll_loop_round(&loop), 0);
	assert_int_equal(fake.received[1], 50);
	assert_int_equal(fake.received[0], 0);
}

static uint64_t
stop_after_5_ms(void *arg, uint64_t now_ns)
{
	uint64_t *start = arg;

	if (*start == 0)
		*start = now_ns;
	atomic_store(&stop, now_ns >= *start + 5 * NS_PER_MS);
	return *start + 5 * NS_PER_MS;
}

TEST(an_idle_loop_sleeps_and_still_does_its_slow_work)
{
	struct poll_loop loop;
	uint64_t start = 0;

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	loop.idle_sleep_ns = 200 * NS_PER_US;
	loop.slow = stop_after_5_ms;
	loop.slow_arg = &start;
	loop.slow_next_ns = 0;
	poll_loop_run(&loop);
	/* One in each 200 us of the 5 ms at most, and a last short one. */
	assert_in_range(loop.sleeps, 1, 26);
}

TEST(a_node_with_work_soon_is_not_slept_over)
{
	struct poll_loop loop;
	uint64_t start = 0;

	fake.wake_ns = 0;
	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	loop.idle_sleep_ns = NS_PER_SEC;
	loop.slow = stop_after_5_ms;
	loop.slow_arg = &start;
	loop.slow_next_ns = 0;
	poll_loop_run(&loop);
	assert_int_equal(loop.sleeps, 0);
}

TEST(a_node_whose_device_takes_nothing_is_still_called)
{
	struct poll_loop loop;
	uint32_t expected = 0;

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	fake.to_send[0] = POLL_BURST;
	poll_loop_round(&loop);
	for (uint32_t round = 1; round <= 3; round++) {
		poll_loop_round(&loop);
		assert_int_equal(fake.tx_calls[0], 1);
		assert_int_equal(fake.empty_rx[0], round);
		assert_int_equal(fake.empty_rx[1], 0);
	}
	stop = true;
	poll_loop_run(&loop);
	take_in_order(0, RING_FRAMES, &expected);
}

TEST(held_frames_are_freed_at_the_end_and_stay_counted)
{
	struct poll_loop loop;
	unsigned int before = rte_mempool_avail_count(fake.pool);
	uint32_t expected = 0;

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	fake.to_send[0] = POLL_BURST;
	poll_loop_round(&loop);
	stop = true;
	poll_loop_run(&loop);
	assert_int_equal(poll_port_held(&loop.ports[0]), POLL_BURST - (RING_FRAMES - 1));
	take_in_order(0, RING_FRAMES, &expected);
	assert_int_equal(expected, RING_FRAMES - 1);
	assert_int_equal(rte_mempool_avail_count(fake.pool), before);
}

static const struct poll_queues apart = {
	.rx_step = 1, .rx_end = 2, .control = 1, .control_apart = true};

/* A CNP that is owed while data has filled the device leaves in the next round. */
TEST(control_frames_do_not_wait_for_refused_data)
{
	uint32_t data = 0, control = 0;
	struct poll_loop loop;

	poll_loop_init(&loop, &fake.node, &queues_dev, 1, &tsc, &stop);
	poll_loop_use_queues(&loop, &apart);
	fake.to_send[0] = 100;
	poll_loop_round(&loop);
	assert_int_equal(rte_ring_count(queues_out[0]), RING_FRAMES - 1);
	for (unsigned int i = 0; i < 5; i++) {
		fake.control_to_send = 1;
		poll_loop_round(&loop);
		assert_int_equal(rte_ring_count(queues_out[1]), 1);
		take_from(queues_out[1], RING_FRAMES, &control);
	}
	assert_int_equal(control, 5);
	assert_int_equal(fake.tx_calls[0], 1);
	while (fake.to_send[0] > 0 || poll_port_held(&loop.ports[0]) > 0) {
		take_from(queues_out[0], RING_FRAMES, &data);
		poll_loop_round(&loop);
	}
	take_from(queues_out[0], RING_FRAMES, &data);
	assert_int_equal(data, 100);
}

/* Frames to send stay in the node, frames that come are received, and the node is still called. */
TEST(nothing_is_asked_for_while_the_link_is_down)
{
	struct port_link link = {.down = false};
	struct poll_loop loop;
	uint32_t data = 0;

	poll_loop_init(&loop, &fake.node, ethdevs, PORTS, &tsc, &stop);
	loop.ports[0].link = &link;
	fake.to_send[0] = fake.to_send[1] = 3;
	assert_true(port_link_saw(&link, false, 1000));
	assert_false(port_link_saw(&link, false, 2000));
	rte_ring_enqueue(wire_in[0], rte_pktmbuf_alloc(fake.pool));
	poll_loop_round(&loop);
	assert_int_equal(fake.received[0], 1);
	assert_int_equal(fake.tx_calls[0], 0);
	assert_int_equal(fake.to_send[1], 0);
	/* A reload is asked for: rx() does it, with or without frames. */
	assert_int_equal(fake.empty_rx[0], 1);
	poll_loop_round(&loop);
	assert_int_equal(fake.empty_rx[0], 2);
	assert_int_equal(fake.empty_rx[1], 0);
	assert_true(port_link_saw(&link, true, 5000));
	poll_loop_round(&loop);
	take_in_order(0, 3, &data);
	assert_int_equal(data, 3);
	data = 0;
	take_in_order(1, 3, &data);
	assert_true(port_link_saw(&link, false, 9000));
	assert_false(port_link_saw(&link, false, 9500));
	assert_int_equal(link.down_events, 2);
	assert_int_equal(link.down_ns, 4000 + 500);
}

TEST(each_queue_holds_what_it_refused_in_order)
{
	uint32_t data = 0, control = 0;
	struct poll_loop loop;

	poll_loop_init(&loop, &fake.node, &queues_dev, 1, &tsc, &stop);
	poll_loop_use_queues(&loop, &apart);
	fake.to_send[0] = fake.control_to_send = 200;
	for (unsigned int round = 0; data < 200 || control < 200; round++) {
		assert_true(round < 2000);
		poll_loop_round(&loop);
		assert_int_equal(fake.next_number[0], data + rte_ring_count(queues_out[0]) +
							      poll_txq_held(&loop.ports[0].data));
		assert_int_equal(fake.control_number,
				 control + rte_ring_count(queues_out[1]) +
					 poll_txq_held(&loop.ports[0].control));
		take_from(queues_out[0], round % 3, &data);
		take_from(queues_out[1], round % 5, &control);
	}
	assert_true(loop.ports[0].data.refusals > 0 && loop.ports[0].control.refusals > 0);
}

TEST(all_receive_queues_of_a_loop_are_polled)
{
	struct poll_loop loop;

	poll_loop_init(&loop, &fake.node, &queues_dev, 1, &tsc, &stop);
	poll_loop_use_queues(&loop, &apart);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(rte_ring_enqueue(queues_in[i % 2], rte_pktmbuf_alloc(fake.pool)),
				 0);
	assert_int_equal(poll_loop_round(&loop), 20);
	assert_int_equal(fake.received[0], 20);
	/* None at all: another loop has the only one. */
	poll_loop_use_queues(&loop,
			     &(struct poll_queues){.rx_first = 1, .rx_step = 1, .rx_end = 1});
	rte_ring_enqueue(queues_in[0], rte_pktmbuf_alloc(fake.pool));
	assert_int_equal(poll_loop_round(&loop), 0);
	poll_loop_use_queues(&loop, &apart);
	assert_int_equal(poll_loop_round(&loop), 1);
}

TEST_MAIN(.begin = setup_devices, .before_each = setup)
