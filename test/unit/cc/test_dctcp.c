/* SPDX-License-Identifier: BSD-3-Clause */
/* DCTCP as a rate: worked numbers of RFC 8257's filter and cut. */
#include "unit/cc/cc_bed.h"

static struct cc_bed bed;

static int
setup(void **state)
{
	(void)state;
	bed_init(&bed, CC_DCTCP);
	bed_start(&bed, LINE_BPS);
	return 0;
}

static uint32_t
ack(uint32_t acked_seq, uint32_t next_seq, uint32_t packets)
{
	const struct cc_ack a = {.acked_seq = acked_seq, .next_seq = next_seq, .packets = packets};

	return cc_on_ack(&bed.cc, &bed.node, &a, 0);
}

static uint32_t
cnp(uint32_t next_seq)
{
	return cc_on_cnp(&bed.cc, &bed.node, &(struct cc_cnp){.next_seq = next_seq}, 0);
}

static uint32_t
loss(uint32_t next_seq)
{
	return cc_on_loss(&bed.cc, &bed.node, next_seq, CC_LOSS_NAK, 0);
}

static double
alpha(void)
{
	return (double)bed_view(&bed, 0).alpha_q32 / (double)(1ull << 32);
}

static bool
near(double a, double b)
{
	return a - b < 1e-6 && b - a < 1e-6;
}

TEST(first_mark_cuts_and_others_of_its_window_do_nothing)
{
	/* A round trip of one packet, not marked: alpha = 15/16, and 40 (1 - 15/32) = 21.25. */
	ack(1, 101, 1);
	assert_int_equal(cnp(131), CC_DID_CNP | CC_DID_CUT);
	assert_int_equal(bed.cc.head.rate_bps, 21250 * MBPS);
	for (unsigned int i = 0; i < 49; i++)
		assert_int_equal(cnp(131 + i % 20), CC_DID_CNP);
	/* Up to the last packet of the round trip nothing ends. */
	assert_int_equal(ack(100, 150, 99), 0);
	assert_int_equal(bed.cc.head.rate_bps, 21250 * MBPS);
	assert_int_equal(bed_count(&bed, "dctcp_round_trips"), 1);
	/* 50 of 100 were marked: alpha = 15/16 x (15/16 of before) + 1/16 x 1/2. */
	assert_int_equal(ack(101, 151, 1), 0);
	assert_true(near(alpha(), 15.0 / 16 * 15 / 16 + 0.5 / 16));
	assert_int_equal(bed_count(&bed, "dctcp_round_trips"), 2);
	assert_int_equal(bed_count(&bed, "dctcp_marked_round_trips"), 1);
	assert_int_equal(bed_count(&bed, "dctcp_cuts"), 1);
	/* Packets 101 to 130 were sent before the cut. */
	assert_int_equal(cnp(151), CC_DID_CNP);
	assert_int_equal(ack(130, 160, 29), 0);
	assert_int_equal(cnp(160), CC_DID_CNP);
	assert_int_equal(bed_count(&bed, "dctcp_cuts"), 1);
	/* The next window may cut again, by the alpha of now: 0.91015625 / 2. */
	assert_int_equal(ack(131, 160, 1), 0);
	assert_int_equal(cnp(160), CC_DID_CNP | CC_DID_CUT);
	assert_int_equal(bed.cc.head.rate_bps, 21250 * MBPS - 9670410156ull);
}

/* RFC 8257 3.3, RFC 3168 6.1.2: with a mark in every ACK, a cut each 100 packets and no more. */
TEST(echoes_of_packets_sent_before_a_cut_do_not_cut)
{
	struct cc_ack a = {.acked_seq = 0, .next_seq = 100, .packets = 1};
	uint32_t cut_seq = 1000;

	for (unsigned int i = 1; i < 1100; i++) {
		uint32_t did;

		a.acked_seq++;
		a.next_seq++;
		/* The first mark is in the last ACK of a round trip. */
		a.ce_packets = i >= 900;
		did = cc_on_ack(&bed.cc, &bed.node, &a, 0);
		assert_int_equal(!!(did & CC_DID_CUT), i == 900 || i == cut_seq + 1);
		if (did & CC_DID_CUT)
			cut_seq = a.next_seq;
	}
	assert_int_equal(bed_count(&bed, "dctcp_cuts"), 2);
}

TEST(rate_rises_only_when_the_window_of_the_cut_is_over)
{
	bed_start(&bed, 10 * GBPS);
	assert_int_equal(ack(1, 101, 1), CC_DID_RAISE);
	ack(50, 150, 49);
	cnp(150);
	assert_int_equal(ack(101, 201, 51), 0);
	assert_int_equal(ack(150, 250, 49), 0);
	assert_int_equal(ack(201, 301, 51), CC_DID_RAISE);
}

TEST(quiet_round_trips_raise_the_rate_and_forget)
{
	double want = 1;
	uint32_t seq = UINT32_MAX - 300; /* the count wraps on the way */

	bed_start(&bed, 10 * GBPS);
	for (unsigned int i = 0; i < 5; i++, seq += 10) {
		assert_int_equal(ack(seq, seq + 10, 10), CC_DID_RAISE);
		want *= 15.0 / 16;
		assert_true(near(alpha(), want));
		assert_int_equal(bed.cc.head.rate_bps, 10 * GBPS + (i + 1) * 615 * MBPS);
	}
	for (unsigned int i = 0; i < 60; i++, seq += 10)
		ack(seq, seq + 10, 10);
	assert_int_equal(bed.cc.head.rate_bps, LINE_BPS);
}

TEST(more_cnps_than_acks_are_a_fraction_of_one)
{
	for (unsigned int i = 0; i < 30; i++)
		cnp(10);
	ack(10, 20, 10);
	assert_true(near(alpha(), 1));
}

TEST(loss_halves_whatever_alpha_is)
{
	bed_set(&bed, "alpha0", "0");
	bed_start(&bed, LINE_BPS);
	assert_int_equal(loss(0), CC_DID_LOSS | CC_DID_CUT);
	assert_int_equal(bed.cc.head.rate_bps, 20 * GBPS);
	/* What was sent again is lost too. */
	assert_int_equal(loss(0), CC_DID_LOSS | CC_DID_CUT);
	assert_int_equal(bed.cc.head.rate_bps, 10 * GBPS);
	ack(10, 20, 10);
	assert_int_equal(loss(10), CC_DID_LOSS | CC_DID_CUT);
	assert_int_equal(bed.cc.head.rate_bps, 5 * GBPS);
}

TEST(mark_and_loss_of_a_window_cut_once)
{
	assert_int_equal(cnp(10), CC_DID_CNP | CC_DID_CUT);
	assert_int_equal(loss(0), CC_DID_LOSS);
	assert_int_equal(cnp(5), CC_DID_CNP);
	assert_int_equal(bed.cc.head.rate_bps, 20 * GBPS);
	assert_int_equal(loss(0), CC_DID_LOSS | CC_DID_CUT);
	assert_int_equal(cnp(5), CC_DID_CNP);
	ack(10, 20, 10);
	assert_int_equal(cnp(20), CC_DID_CNP | CC_DID_CUT);
}

/* 100 packets were in flight. Sent again at a low rate, they are many round trips. */
TEST(round_trips_after_a_loss_begin_with_what_is_sent_again)
{
	bed_start(&bed, 10 * GBPS);
	ack(1, 101, 1);
	assert_int_equal(loss(1), CC_DID_LOSS | CC_DID_CUT);
	assert_int_equal(ack(2, 3, 1), 0);
	assert_int_equal(ack(3, 4, 1), CC_DID_RAISE);
	assert_int_equal(ack(4, 6, 1), CC_DID_RAISE);
	assert_int_equal(ack(5, 6, 1), 0);
}

TEST(cuts_end_at_the_floor)
{
	for (uint32_t seq = 10; seq < 1000; seq += 10) {
		cnp(seq);
		cnp(seq);
		ack(seq, seq + 10, 2);
	}
	assert_int_equal(bed.cc.head.rate_bps, 10 * MBPS);
	assert_true(near(alpha(), 1));
}

TEST(bad_parameters_name_their_key)
{
	char why[256];

	assert_int_equal(bed_check(&bed, why, sizeof(why)), 0);
	bed_set(&bed, "dctcp_min_rate_bps", "41G");
	assert_true(bed_check(&bed, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "dctcp_min_rate_bps must not exceed link_speed_bps"));
	bed_init(&bed, CC_DCTCP);
	memset(&bed.params.of[CC_SLOT(CC_DCTCP)], 0, sizeof(union cc_keys));
	assert_true(bed_check(&bed, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "dctcp_g"));
}

TEST_MAIN(.before_each = setup)
