/* SPDX-License-Identifier: BSD-3-Clause */
/* What a queue may send at least and at most, and frames longer than their class's MTU. */
#include "base/numbers/array.h"
#include "unit/switch/sw_test.h"

#define FRAMES 2000

static void
set_burst(struct bench *b, uint32_t burst_bytes)
{
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		b->params.queues[1][i].burst_bytes = burst_bytes;
}

/* Two ports at 40G; queues 0 and 3 of equal weight, 7 strict. */
static struct bench *
bench_of(void)
{
	struct bench *b = &bench;

	bench_defaults(&b->params, 2);
	memset(b->params.sched.dwrr_weight, 10, sizeof(b->params.sched.dwrr_weight));
	set_burst(b, 4 * DATA_WIRE_BYTES);
	return b;
}

static void
fill(struct bench *b, uint8_t dscp, unsigned int n)
{
	struct frame_spec s = {
		.src = 0, .dst = 1, .dscp = dscp, .ecn = ECN_ECT0, .payload_bytes = DATA_PAYLOAD};

	for (unsigned int i = 0; i < n; i++)
		give(b, 0, make_frame(b, &s), 0);
}

/* Wire bits per second of a queue that sent frames of DATA_WIRE_BYTES until now. */
static void
sees_rate(const struct bench *b, uint8_t queue, uint64_t rate_bps, uint64_t now_ns)
{
	uint64_t frames = sw_port_stats(b->sw, 1)->queue[queue].tx_packets;
	uint64_t share = rate_bps / 8 * now_ns / NS_PER_SEC / DATA_WIRE_BYTES;

	/* The burst of the start, and a round of the scheduler. */
	assert_in_range(frames, share - 7, share + 7);
}

/* Without emptying a queue: n frames of the port. */
static uint64_t
send(struct bench *b, unsigned int n)
{
	uint64_t now_ns = 0;

	for (unsigned int i = 0; i < n; i++)
		sent(take_next(b, 1, &now_ns));
	return now_ns;
}

TEST(queue_sends_no_more_than_its_maximum)
{
	struct bench *b = bench_of();
	uint64_t now_ns = 0;

	b->params.queues[1][3].max_rate_bps = 1 * GBPS;
	set_burst(b, 1);
	bench_start(b);
	fill(b, 26, 11);
	/* take_next() asserts that the port is neither early nor late. */
	assert_int_equal(drain(b, 1, &now_ns), 11);
	assert_int_equal(now_ns, 10 * 8848 - 8); /* 1106 bytes at 1G; a full bucket is one byte */
	bench_stop(b);
}

/* Two queues are backlogged, and a maximum or a minimum is set for one: who gets how much. */
TEST(maxima_and_minima_divide_the_port_with_strictness_and_weights)
{
	static const struct {
		const char *what;
		uint64_t max_rate_bps[TM_CLASSES], min_rate_bps[TM_CLASSES];
		uint8_t queue[2];
		uint64_t rate_bps[2];
	} rows[] = {
		{.what = "others share what a maximum leaves",
		 .max_rate_bps = {[3] = 10 * GBPS},
		 .queue = {3, 0},
		 .rate_bps = {10 * GBPS, 30 * GBPS}},
		{.what = "the maximum of a strict queue lets others through",
		 .max_rate_bps = {[7] = 4 * GBPS},
		 .queue = {7, 3},
		 .rate_bps = {4 * GBPS, 36 * GBPS}},
		{.what = "a minimum is served before a strict queue",
		 .min_rate_bps = {[3] = 4 * GBPS},
		 .queue = {7, 3},
		 .rate_bps = {36 * GBPS, 4 * GBPS}},
		{.what = "weights divide what a minimum leaves: 10G, and half each of the other 30G",
		 .min_rate_bps = {[0] = 10 * GBPS},
		 .queue = {0, 3},
		 .rate_bps = {25 * GBPS, 15 * GBPS}},
	};
	static const uint8_t dscp_of[TM_CLASSES] = {[0] = 0, [3] = 26, [7] = 48};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct bench *b = bench_of();
		uint64_t now_ns;

		print_message("%s\n", rows[i].what);
		for (unsigned int q = 0; q < TM_CLASSES; q++) {
			b->params.queues[1][q].max_rate_bps = rows[i].max_rate_bps[q];
			b->params.queues[1][q].min_rate_bps = rows[i].min_rate_bps[q];
		}
		bench_start(b);
		for (unsigned int k = 0; k < 2; k++)
			fill(b, dscp_of[rows[i].queue[k]], FRAMES / 2);
		now_ns = send(b, FRAMES / 2);
		for (unsigned int k = 0; k < 2; k++)
			sees_rate(b, rows[i].queue[k], rows[i].rate_bps[k], now_ns);
		drain(b, 1, &now_ns);
		bench_stop(b);
	}
}

/* A queue that is paused and above its maximum waits for the later of the two, to the
 * nanosecond. */
TEST(pause_and_maximum_hold_until_the_later)
{
	static const struct {
		uint16_t quanta;
		uint64_t due_ns;
	} rows[] = {
		{100, 8840}, /* 1.28 us of pause; 1106 bytes at 1G, less a byte of credit */
		{1000, 12800},
	};

	for (unsigned int i = 0; i < 2; i++) {
		struct bench *b = bench_of();
		uint64_t now_ns = 0;

		b->params.queues[1][3].max_rate_bps = 1 * GBPS;
		set_burst(b, 1);
		bench_start(b);
		fill(b, 26, 2);
		sent(take_next(b, 1, &now_ns));
		give_pfc(b, 1, 1 << 3, rows[i].quanta, now_ns);
		sent(take_next(b, 1, &now_ns));
		assert_int_equal(now_ns, rows[i].due_ns);
		bench_stop(b);
	}
}

TEST(packet_of_another_queue_does_not_wait_for_a_maximum)
{
	struct bench *b = bench_of();
	uint64_t now_ns = 0;

	b->params.queues[1][3].max_rate_bps = 1 * MBPS;
	set_burst(b, 1);
	bench_start(b);
	fill(b, 26, 3);
	sent(take_next(b, 1, &now_ns));
	assert_true(next_ns(b, 1) > 1000000);
	fill(b, 0, 1);
	assert_in_range(next_ns(b, 1), 1, 300);
	now_ns = next_ns(b, 1);
	sent(take(b, 1, now_ns));
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[0].tx_packets, 1);
	bench_stop(b);
}

/* mtu 1000: 1022 bytes with a tag, 1018 without, header and FCS included. */
TEST(frame_above_the_mtu_of_its_class_is_dropped)
{
	static const struct {
		uint8_t dscp;
		bool tagged, filtering;
		uint16_t payload_bytes; /* 62 more with header and FCS, 4 with a tag */
		bool passes;
	} rows[] = {
		{26, false, false, 956, true}, {26, false, false, 960, false},
		{26, true, false, 956, true},  {26, true, false, 960, false},
		{26, true, true, 956, true},   {26, true, true, 960, false},
		{0, false, false, 1024, true},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct bench *b = bench_of();
		struct frame_spec s = {.src = 0,
				       .dst = 1,
				       .dscp = rows[i].dscp,
				       .tagged = rows[i].tagged,
				       .payload_bytes = rows[i].payload_bytes};
		uint64_t now_ns = 0;

		b->params.tcs[3].mtu_bytes = 1000;
		/* A priority tag is taken off on its way in. */
		b->params.vlan_filtering = rows[i].filtering;
		for (uint16_t port = 0; port < b->params.n_ports; port++)
			b->params.ports[port].access_vlan = rows[i].filtering ? 1 : 0;
		bench_start(b);
		give(b, 0, make_frame(b, &s), 0);
		assert_int_equal(drops(b, 0, SW_DROP_MTU), !rows[i].passes);
		assert_int_equal(all_drops(b), !rows[i].passes);
		assert_int_equal(drain(b, 1, &now_ns), rows[i].passes);
		bench_stop(b);
	}
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
