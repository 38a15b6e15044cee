/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPCC: worked numbers of algorithm 1 on a path of one hop, with T 10 us at 40 Gb/s, which is a
 * window of 50,000 bytes, eta 95 %, maxStage 5 and W_AI 80 bytes.
 */
#include "unit/cc/cc_bed.h"

#define WINDOW 50000u

static struct cc_bed bed;
static struct cc_hop hop;
static uint32_t acked;

static int
setup(void **state)
{
	(void)state;
	bed_init(&bed, CC_HPCC);
	bed_start(&bed, LINE_BPS);
	hop = (struct cc_hop){.rate_bps = LINE_BPS, .time_ns = UINT32_MAX - 5000};
	acked = UINT32_MAX - 5;
	return 0;
}

/*
 * An ACK of a packet of this round trip (or of the next one), after a time in which the link had
 * this load, in percent, and left a queue.
 */
static uint32_t
ack(uint32_t ns, uint32_t load_pct, uint32_t queue_bytes, bool next_round)
{
	struct cc_ack a = {.packets = 1, .n_hops = 1, .hops = &hop};

	hop.time_ns += ns;
	hop.tx_bytes += ns * 5 * load_pct / 100;
	hop.queue_bytes = queue_bytes;
	acked += next_round ? 100 : 0;
	a.acked_seq = acked + 1;
	a.next_seq = acked + 100;
	return cc_on_ack(&bed.cc, &bed.node, &a, 0);
}

static uint32_t
window(void)
{
	return bed.cc.head.window_bytes;
}

TEST(first_ack_only_gives_what_to_compare_with)
{
	assert_int_equal(window(), WINDOW);
	assert_int_equal(ack(0, 0, 1000000, false), CC_DID_INT);
	assert_int_equal(window(), WINDOW);
	assert_int_equal(bed_count(&bed, "hpcc_new_paths"), 1);
}

/* U = 1 + 50,000 / 50,000 over a whole T: W = 50,000 x 0.95 / 2 + 80. */
TEST(full_link_with_a_queue_of_one_window_halves)
{
	ack(0, 0, 50000, false);
	assert_int_equal(ack(10000, 100, 50000, true), CC_DID_INT | CC_DID_CUT);
	assert_in_range(window(), 23829, 23831);
	assert_in_range(bed.cc.head.rate_bps, 19063 * MBPS, 19065 * MBPS);
}

TEST(smaller_of_two_queues_counts)
{
	ack(0, 0, 0, false);
	ack(10000, 95, 50000, true);
	/* U = 0.95 + 0: back to the same window, and W_AI more, but not above the port's. */
	assert_int_equal(window(), WINDOW);
}

/* Many ACKs of one round trip: each starts from the same reference. */
TEST(acks_of_one_round_trip_do_not_add_up)
{
	ack(0, 0, 50000, false);
	ack(10000, 100, 50000, true);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(ack(10000, 100, 50000, false), CC_DID_INT);
	assert_in_range(window(), 23830u * 95 / 200 + 78, 23830u * 95 / 200 + 82);
	assert_int_equal(bed_count(&bed, "hpcc_cuts"), 1);
}

/* At half load, five additive rounds, then a multiplicative one: x 0.95 / 0.5. */
TEST(additive_rounds_come_before_a_multiplicative_one)
{
	uint32_t before;

	bed_start(&bed, 4 * GBPS);
	ack(0, 0, 0, false);
	before = window();
	for (unsigned int i = 1; i <= 5; i++) {
		assert_int_equal(ack(10000, 50, 0, true), CC_DID_INT | CC_DID_RAISE);
		assert_int_equal(window(), before + i * 80);
	}
	ack(10000, 50, 0, true);
	assert_in_range(window(), (before + 400) * 19 / 10 + 78, (before + 400) * 19 / 10 + 82);
}

TEST(window_stays_between_floor_and_port)
{
	ack(0, 0, 0, false);
	for (unsigned int i = 0; i < 100; i++)
		ack(10000, 100, 10000000, true);
	/* A cut to nothing and W_AI. */
	assert_in_range(window(), 12, 200);
	for (unsigned int i = 0; i < 1000; i++)
		ack(10000, 1, 0, true);
	assert_int_equal(window(), WINDOW);
	assert_int_equal(bed.cc.head.rate_bps, LINE_BPS);
}

TEST(another_path_and_a_missing_header_change_nothing)
{
	struct cc_hop hops[2] = {{.rate_bps = LINE_BPS, .queue_bytes = 1000000},
				 {.rate_bps = LINE_BPS, .queue_bytes = 1000000}};
	struct cc_ack a = {.packets = 1, .n_hops = 2, .hops = hops};

	ack(0, 0, 0, false);
	assert_int_equal(cc_on_ack(&bed.cc, &bed.node, &a, 0), CC_DID_INT);
	a.n_hops = 0;
	assert_int_equal(cc_on_ack(&bed.cc, &bed.node, &a, 0), 0);
	assert_int_equal(window(), WINDOW);
	assert_int_equal(bed_count(&bed, "hpcc_new_paths"), 2);
	assert_int_equal(bed_count(&bed, "hpcc_missing"), 1);
}

/* Figure 7: a path of as many hops is another one if its ID differs. */
TEST(another_path_of_as_many_hops_changes_nothing)
{
	struct cc_ack a = {.packets = 1, .n_hops = 1, .hops = &hop, .path_id = 7};

	ack(0, 0, 0, false);
	/* Its port has sent 3 GB more. */
	hop.tx_bytes += 3000000000u;
	hop.time_ns += 1000;
	assert_int_equal(cc_on_ack(&bed.cc, &bed.node, &a, 0), CC_DID_INT);
	assert_int_equal(window(), WINDOW);
	assert_int_equal(bed_count(&bed, "hpcc_new_paths"), 2);
}

/* The counters of a hop have wrapped: nothing to compare with. */
TEST(silence_changes_nothing)
{
	struct cc_ack a = {.packets = 1, .n_hops = 1, .hops = &hop, .acked_seq = acked + 200};

	ack(0, 0, 0, false);
	/* 4.3 s, in which the clock has wrapped: 1 MB seems to have left in 32 ns. */
	hop.time_ns += 32;
	hop.tx_bytes += 1000000;
	assert_int_equal(cc_on_ack(&bed.cc, &bed.node, &a, 4294967328), CC_DID_INT);
	assert_int_equal(window(), WINDOW);
	assert_int_equal(bed_count(&bed, "hpcc_new_paths"), 2);
}

/* A hop without a slot counts as full: 5 % of the window and W_AI balance. */
TEST(window_of_a_path_with_too_few_slots_falls)
{
	struct cc_ack a = {.packets = 1, .n_hops = 1, .hops = &hop, .is_full = true};

	for (unsigned int i = 0; i < 500; i++) {
		hop.time_ns += 10000;
		acked += 100;
		a.acked_seq = acked + 1;
		a.next_seq = acked + 100;
		cc_on_ack(&bed.cc, &bed.node, &a, i * 10000);
	}
	assert_in_range(window(), 1500, 1700);
	assert_int_equal(bed_count(&bed, "hpcc_full"), 500);
}

TEST_MAIN(.before_each = setup)
