/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner's tables, read by others: in its time, in steps, or not at all. */
#include "unit/switch/sw_test.h"
#include "switch/control/snapshot.h"
#include "switch/core/switch.h"

#define ADDRESSES 300u

/* What the owner does between two frames. */
static void
run_owner(struct bench *b, uint64_t now_ns)
{
	struct rte_mbuf *none[1];

	assert_int_equal(b->sw->ops->tx(b->sw, 0, none, 1, now_ns), 0);
}

static struct bench *
bench_of(void)
{
	struct bench *b = &bench;

	bench_defaults(&b->params, 2);
	bench_start(b);
	return b;
}

TEST(addresses_come_in_steps_when_the_owner_looks)
{
	struct bench *b = bench_of();
	struct sw_snapshot s = {.table = SW_SNAPSHOT_FDB};
	bool seen[ADDRESSES] = {false};
	unsigned int found = 0;

	for (unsigned int i = 0; i < ADDRESSES; i++) {
		const uint8_t mac[6] = {2, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i};

		assert_int_equal(sw_learn(b->sw, 0, mac, 1, 0), 0);
	}
	while (s.at != SW_SNAPSHOT_END) {
		sw_snapshot_ask(b->sw, &s);
		assert_false(sw_snapshot_is_done(&s));
		run_owner(b, 1000);
		assert_true(sw_snapshot_is_done(&s));
		for (uint32_t i = 0; i < s.n; i++, found++) {
			unsigned int number = (unsigned int)s.fdb[i].mac[4] << 8 | s.fdb[i].mac[5];

			assert_false(seen[number]);
			seen[number] = true;
			assert_int_equal(s.fdb[i].port, 1);
			assert_int_equal(s.fdb[i].age_ns, 1000);
		}
	}
	assert_int_equal(found, ADDRESSES);
	bench_stop(b);
}

static struct sw_look look;

/* What the owner sees in queue 3 of port 1. */
static const struct sw_look *
look_at(struct bench *b, uint64_t now_ns)
{
	struct sw_snapshot s = {.table = SW_SNAPSHOT_LOOK, .look = &look};

	memset(&look, 0, sizeof(look));
	look.port = 1;
	look.queue = 3;
	sw_snapshot_ask(b->sw, &s);
	assert_null(take(b, 3, now_ns)); /* whatever port the owner polls */
	assert_true(sw_snapshot_is_done(&s));
	return &look;
}

/* Four ports; the host of port 1 is known. */
static struct bench *
bench_to_host_1(void)
{
	struct bench *b = bench_with_ports(4);
	uint8_t mac[6];

	bench_start(b);
	host_mac(mac, 1);
	assert_int_equal(sw_learn(b->sw, 0, mac, 1, 0), 0);
	return b;
}

TEST(a_look_says_what_waits_where_it_came_from_and_why)
{
	struct bench *b = bench_to_host_1();
	const struct sw_look *l;

	assert_int_equal(look_at(b, 500)->hold, SW_HOLD_EMPTY);
	/* The peer pauses it: frames of two ports wait, and one of them cannot be marked. */
	give_pfc(b, 1, 1u << 3, 1000, 1000);
	for (uint32_t i = 0; i < 30; i++)
		give(b, i % 3 == 0 ? 2 : 0, make_data(b, i % 3 == 0 ? 2 : 0, 1, i), 2000);
	give(b, 2,
	     make_frame(b,
			&(struct frame_spec){
				.src = 2, .dst = 1, .dscp = 26, .payload_bytes = DATA_PAYLOAD}),
	     2000);
	l = look_at(b, 3000);
	assert_int_equal(l->hold, SW_HOLD_PAUSE);
	assert_int_equal(l->paused_prios, 1u << 3);
	assert_int_equal(l->since_ns, 1000);
	assert_int_equal(l->now_ns, 3000);
	assert_int_equal(l->read.packets, 31);
	assert_int_equal(l->read.bytes, l->queue_bytes);
	assert_int_equal(l->queue_bytes, sw_queue_bytes(b->sw, 1, 3));
	assert_int_equal(l->group[0 * TM_CLASSES + 3].packets, 20);
	assert_int_equal(l->group[2 * TM_CLASSES + 3].packets, 11);
	assert_int_equal(l->group[2 * TM_CLASSES + 3].not_ect_packets, 1);
	assert_int_equal(l->group[0 * TM_CLASSES + 3].not_ect_packets, 0);
	assert_int_equal(l->n_headers, 31);
	assert_int_equal(l->headers[0].data[11], 2); /* source of the oldest: host 2 */
	bench_stop(b);
}

TEST(a_look_at_a_long_queue_reads_a_bounded_part)
{
	struct bench *b = bench_to_host_1();
	const struct sw_look *l;

	give_pfc(b, 1, 1u << 3, 1000, 1000);
	for (uint32_t i = 0; i < 200; i++)
		give(b, 0, make_data(b, 0, 1, i), 2000);
	l = look_at(b, 3000);
	assert_int_equal(l->read.packets, 200);
	assert_true(l->n_headers > SW_LOOK_FRAMES / 2 && l->n_headers <= SW_LOOK_FRAMES);
	bench_stop(b);
}

TEST(a_look_says_which_queues_go_first)
{
	struct bench *b = bench_to_host_1();

	for (uint32_t i = 0; i < 4; i++) {
		give(b, 0, make_data(b, 0, 1, i), 1000);
		give(b, 0, make_frame(b, &(struct frame_spec){.src = 0, .dst = 1, .dscp = 48}),
		     1000);
	}
	/* Data share by weight; queue 7 is strict. */
	assert_int_equal(look_at(b, 1000)->hold, SW_HOLD_STRICT);
	assert_int_equal(look.behind, 1u << 7);
	for (uint64_t now_ns = 1000; look.hold == SW_HOLD_STRICT; now_ns += 1000) {
		struct rte_mbuf *m = take(b, 1, now_ns);

		if (m != NULL)
			sent(m);
		(void)look_at(b, now_ns);
	}
	assert_int_equal(look.hold, SW_HOLD_WIRE);
	give(b, 0, make_frame(b, &(struct frame_spec){.src = 0, .dst = 1, .dscp = 0}), 9000);
	assert_int_equal(look_at(b, 9000)->hold, SW_HOLD_WEIGHTS);
	assert_int_equal(look.behind, 1u << 0);
	bench_stop(b);
}

/* Queue 3 of port 1, as its owner counts its marks. */
static struct sw_mark_look
marks_at(struct bench *b, uint64_t now_ns)
{
	struct sw_mark_look marks = {.port = 1, .queue = 3};
	struct sw_snapshot s = {.table = SW_SNAPSHOT_MARKS, .marks = &marks};

	assert_int_equal(sw_mark_look_prepare(b->sw, 1, 3), 0);
	sw_snapshot_ask(b->sw, &s);
	run_owner(b, now_ns);
	assert_true(sw_snapshot_is_done(&s));
	return marks;
}

/* n ECT frames at once through queue 3 of port 1. @return how many were marked. */
static unsigned int
send_marked(struct bench *b, unsigned int n, uint64_t *now_ns)
{
	uint64_t before = sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets;

	for (unsigned int i = 0; i < n; i++)
		give(b, 0, make_data(b, 0, 1, i), *now_ns);
	assert_int_equal(drain(b, 1, now_ns), n);
	return (unsigned int)(sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets - before);
}

static uint64_t
counted(const struct sw_mark_look *l, uint64_t *marked)
{
	uint64_t n = 0;

	*marked = 0;
	for (unsigned int i = 0; i < MARK_BINS; i++) {
		n += l->counts.bins[i].packets;
		*marked += l->counts.bins[i].marked;
	}
	return n;
}

TEST(marks_are_counted_by_length_while_somebody_asks)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 1000, marked;
	struct sw_mark_look l;
	unsigned int n;

	b->params.wred.green_min_threshold_bytes = 5 * DATA_BYTES;
	b->params.wred.green_max_threshold_bytes = 50 * DATA_BYTES;
	b->params.wred.green_drop_probability_ppm = 500000;
	bench_start_learnt(b);
	(void)send_marked(b, 100, &now_ns);
	l = marks_at(b, now_ns);
	assert_true(l.marks && !l.always);
	assert_int_equal(counted(&l, &marked), 0);
	assert_int_equal(l.curve.min_bytes, 5 * DATA_BYTES);
	n = send_marked(b, 100, &now_ns);
	l = marks_at(b, now_ns);
	assert_int_equal(counted(&l, &marked), 100);
	assert_int_equal(marked, n);
	assert_int_equal(l.counts.bins[0].packets, 6);              /* with 0 to 5 behind them */
	assert_int_equal(l.counts.bins[MARK_BINS - 1].packets, 49); /* with 51 to 99 */
	assert_int_equal(l.counts.bins[MARK_BINS - 1].marked, 49);
	/* Some time after the last question, the queue is as one that nobody asked about. */
	assert_int_equal(sw_of(b->sw)->ports[1].observed_queues, 1u << 3);
	now_ns += SW_MARK_LOOK_NS;
	(void)send_marked(b, 100, &now_ns);
	assert_int_equal(sw_of(b->sw)->ports[1].observed_queues, 0);
	l = marks_at(b, now_ns);
	assert_int_equal(counted(&l, &marked), 100);
	assert_null(sw_mark_accuracy(b->sw, 1, 3)); /* the report has only those since the start */
	bench_stop(b);
}

TEST(marks_of_a_queue_without_a_curve_are_not_counted)
{
	struct bench *b = bench_with_ports(2);

	b->params.wred.ecn = WRED_ECN_NONE;
	bench_start_learnt(b);
	assert_false(marks_at(b, 0).marks);
	bench_stop(b);
}

TEST(who_withdraws_is_not_written_to)
{
	struct bench *b = bench_of();
	struct sw_snapshot s = {.table = SW_SNAPSHOT_FDB};

	sw_snapshot_ask(b->sw, &s);
	assert_true(sw_snapshot_withdraw(&s));
	run_owner(b, 0);
	assert_false(sw_snapshot_is_done(&s));
	assert_int_equal(s.at, 0);
	sw_snapshot_ask(b->sw, &s);
	run_owner(b, 0);
	assert_false(sw_snapshot_withdraw(&s));
	bench_stop(b);
}

TEST(neighbours_of_a_router_are_read)
{
	static struct sw_interface interfaces[] = {{"port 1", "10.0.0.254/24", "none"}};
	static struct sw_neighbor neighbors[] = {{"10.0.0.7", {2, 0, 0, 0, 0, 7}}};
	struct bench *b = &bench;
	struct sw_snapshot s = {.table = SW_SNAPSHOT_NEIGH};

	bench_defaults(&b->params, 2);
	b->params.vlan_filtering = true;
	b->params.router.router_mac[0] = 2;
	b->params.router.router_mac[5] = 0xFE;
	b->params.tables = (struct sw_tables){.interfaces = interfaces,
					      .n_interfaces = 1,
					      .neighbors = neighbors,
					      .n_neighbors = 1};
	bench_start(b);
	sw_snapshot_ask(b->sw, &s);
	run_owner(b, 0);
	assert_true(sw_snapshot_is_done(&s));
	assert_int_equal(s.n, 1);
	assert_int_equal(s.at, SW_SNAPSHOT_END);
	assert_int_equal(s.neigh[0].key.ip.addr[3], 7);
	assert_int_equal(s.neigh[0].mac[5], 7);
	assert_true(s.neigh[0].fixed);
	bench_stop(b);
}

TEST(without_a_router_there_are_no_neighbours)
{
	struct bench *b = bench_of();
	struct sw_snapshot s = {.table = SW_SNAPSHOT_NEIGH};

	sw_snapshot_ask(b->sw, &s);
	run_owner(b, 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.at, SW_SNAPSHOT_END);
	bench_stop(b);
}

TEST(watermarks_are_read_and_begun_anew_at_once_by_port)
{
	struct bench *b = bench_of();
	struct sw_snapshot s = {
		.table = SW_SNAPSHOT_WATERMARKS, .kind = MMU_WATERMARK_QUEUE, .at = 1};
	const struct mmu *mmu = sw_mmu(b->sw);
	uint8_t mac[6];
	uint64_t now_ns = 0;

	host_mac(mac, 1);
	sw_learn(b->sw, 0, mac, 1, 0);
	for (uint32_t psn = 0; psn < 5; psn++)
		give(b, 0, make_frame(b, &(struct frame_spec){.src = 0, .dst = 1, .psn = psn}), 0);
	/* Two leave: three are held, five was the most. */
	for (unsigned int i = 0; i < 2; i++)
		sent(take_next(b, 1, &now_ns));
	sw_snapshot_ask(b->sw, &s);
	run_owner(b, now_ns);
	assert_true(sw_snapshot_is_done(&s));
	assert_int_equal(s.n, TM_CLASSES);
	assert_int_equal(s.at, SW_SNAPSHOT_END);
	assert_int_equal(s.watermark_bytes[0] * 3, sw_queue_bytes(b->sw, 1, 0) * 5);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_QUEUE, 1, 0),
			 sw_queue_bytes(b->sw, 1, 0));
	assert_int_equal(mmu_persistent_watermark_bytes(mmu, MMU_WATERMARK_QUEUE, 1, 0),
			 s.watermark_bytes[0]);
	/* Those of the other port, and of another kind, are as they were. */
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_PG, 0, 0), s.watermark_bytes[0]);
	s.at = 0;
	s.kind = MMU_WATERMARK_POOL;
	sw_snapshot_ask(b->sw, &s);
	run_owner(b, now_ns);
	assert_int_equal(s.n, MMU_POOLS);
	while (sw_queue_bytes(b->sw, 1, 0) > 0)
		sent(take_next(b, 1, &now_ns));
	bench_stop(b);
}

TEST(watermarks_begin_anew_with_their_interval)
{
	struct bench *b = &bench;
	const struct mmu *mmu;
	uint8_t mac[6];
	uint64_t now_ns = 0, peak;

	bench_defaults(&b->params, 2);
	b->params.watermark_interval_ns = 10 * NS_PER_MS;
	bench_start(b);
	mmu = sw_mmu(b->sw);
	host_mac(mac, 1);
	sw_learn(b->sw, 0, mac, 1, 0);
	assert_int_equal(b->sw->ops->control(b->sw, 0), 10 * NS_PER_MS);
	give(b, 0, make_frame(b, &(struct frame_spec){.src = 0, .dst = 1}), 0);
	sent(take_next(b, 1, &now_ns));
	peak = mmu_watermark_bytes(mmu, MMU_WATERMARK_QUEUE, 1, 0);
	assert_true(peak > 0);
	b->sw->ops->control(b->sw, 10 * NS_PER_MS - 1);
	run_owner(b, 10 * NS_PER_MS - 1);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_QUEUE, 1, 0), peak);
	/* Late: the next time is on the grid all the same. */
	assert_int_equal(b->sw->ops->control(b->sw, 13 * NS_PER_MS), 20 * NS_PER_MS);
	run_owner(b, 13 * NS_PER_MS);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_QUEUE, 1, 0), 0);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_PG, 0, 0), 0);
	assert_int_equal(mmu_persistent_watermark_bytes(mmu, MMU_WATERMARK_QUEUE, 1, 0), peak);
	bench_stop(b);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
