/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swift: worked numbers with a base target of 25 us, 1 us per hop, flow scaling over 25 us between
 * 0.1 and 100 packets, ai 1, beta 0.8 and max_mdf 0.5; packets of 1000 bytes at 40 Gb/s.
 */
#include "unit/cc/cc_bed.h"
#include "base/numbers/array.h"

#define US NS_PER_US

static struct cc_bed bed;
static uint64_t now_ns;

static int
setup(void **state)
{
	(void)state;
	now_ns = 0;
	bed_init(&bed, CC_SWIFT);
	bed_set(&bed, "swift_fs_range_ns", "0");
	/* 40 Gb/s in 25 us: 125 packets. */
	bed_start(&bed, LINE_BPS);
	return 0;
}

/* A sample, so many packets after the last one, and a round trip later. */
static uint32_t
sample(uint64_t rtt_ns, uint32_t packets)
{
	const struct cc_ack ack = {.packets = packets, .rtt_ns = rtt_ns};

	now_ns += rtt_ns;
	return cc_on_ack(&bed.cc, &bed.node, &ack, now_ns);
}

static uint32_t
window(void)
{
	return bed.cc.head.window_bytes;
}

TEST(below_the_target_a_round_trip_adds_ai)
{
	assert_int_equal(window(), 125000);
	assert_int_equal(sample(25 * US, 125), CC_DID_RTT | CC_DID_RAISE);
	assert_in_range(window(), 125999, 126000);
	/* Half the packets of the window: half of ai. */
	sample(25 * US, 63);
	assert_in_range(window(), 126499, 126500);
}

/* Target 26 us: at 52 us the excess is half, so 0.8 x 0.5 of the window goes. */
TEST(above_the_target_the_excess_cuts)
{
	assert_int_equal(sample(52 * US, 125), CC_DID_RTT | CC_DID_CUT);
	assert_in_range(window(), 74999, 75000);
	assert_int_equal(bed_count(&bed, "swift_above_target"), 1);
}

TEST(cut_is_at_most_max_mdf_and_once_in_a_round_trip)
{
	const struct cc_ack again = {.packets = 1, .rtt_ns = 1000 * US};

	sample(1000 * US, 125);
	assert_in_range(window(), 62499, 62500);
	assert_int_equal(cc_on_ack(&bed.cc, &bed.node, &again, now_ns + 999 * US), CC_DID_RTT);
	assert_int_equal(cc_on_loss(&bed.cc, &bed.node, 0, CC_LOSS_NAK, now_ns + 999 * US),
			 CC_DID_LOSS);
	assert_in_range(window(), 62499, 62500);
	assert_int_equal(cc_on_loss(&bed.cc, &bed.node, 0, CC_LOSS_NAK, now_ns + 1000 * US),
			 CC_DID_LOSS | CC_DID_CUT);
	assert_in_range(window(), 31249, 31250);
}

/* The last of five timeouts in a row; an ACK or a NAK between them begins the count again. */
TEST(timeouts_in_a_row_leave_the_smallest_window)
{
	static const struct {
		enum { TIMEOUT, NAK, ACK } event;
		uint32_t bytes; /* window afterwards */
	} rows[] = {
		{TIMEOUT, 62500}, {TIMEOUT, 31250}, {NAK, 15625},    {TIMEOUT, 7812}, {ACK, 7812},
		{TIMEOUT, 3906},  {TIMEOUT, 1953},  {TIMEOUT, 1000}, {TIMEOUT, 1000},
	};
	uint64_t at_ns = now_ns;

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		at_ns += NS_PER_MS;
		if (rows[i].event == ACK)
			cc_on_ack(&bed.cc, &bed.node, &(struct cc_ack){.packets = 1}, at_ns);
		else
			cc_on_loss(&bed.cc, &bed.node, 0,
				   rows[i].event == NAK ? CC_LOSS_NAK : CC_LOSS_TIMEOUT, at_ns);
		assert_in_range(window(), rows[i].bytes - 1, rows[i].bytes);
	}
	/* 0.49 packets in 25 us. */
	assert_in_range(bed.cc.head.rate_bps, 155 * MBPS, 157 * MBPS);
	assert_int_equal(bed_count(&bed, "swift_resets"), 0);
	/* At once, even within a round trip of the last cut: 0.01 packets in 25 us. */
	cc_on_loss(&bed.cc, &bed.node, 0, CC_LOSS_TIMEOUT, at_ns);
	assert_in_range(bed.cc.head.rate_bps, 3199 * KBPS, 3200 * KBPS);
	assert_int_equal(bed_count(&bed, "swift_resets"), 1);
	assert_int_equal(bed_count(&bed, "swift_cuts"), 9);
}

/* A hundredth of a packet: one packet may be in flight, and one leaves in 100 round trips. */
TEST(window_below_a_packet_is_a_pace)
{
	for (unsigned int i = 0; i < 50; i++)
		sample(100 * US, 1);
	assert_int_equal(window(), 1000);
	/* 8000 bits x 0.01 in 100 us. */
	assert_in_range(bed.cc.head.rate_bps, 799 * KBPS, 801 * KBPS);
	/* Below one packet, each acknowledged packet adds ai. */
	sample(25 * US, 1);
	assert_in_range(window(), 1009, 1011);
	assert_int_equal(bed.cc.head.rate_bps, LINE_BPS);
}

/* The term for flows: all of fs_range at 0.1 packets, nothing at 100, by 1 / sqrt between. */
TEST(target_grows_as_the_window_shrinks)
{
	static const struct {
		uint32_t packets; /* window */
		uint64_t below_ns, above_ns;
	} rows[] = {
		/* (1 / sqrt(w) - 0.1) / (sqrt(10) - 0.1) x 25 us + 26 us */
		{4, 29200, 29300},
		{25, 26780, 26880},
		{100, 25990, 26010},
	};

	for (unsigned int i = 0; i < 3; i++) {
		bed_init(&bed, CC_SWIFT);
		bed_start(&bed, rows[i].packets * 320 * MBPS);
		assert_int_equal(window(), rows[i].packets * 1000);
		sample(rows[i].below_ns, 1);
		assert_int_equal(bed_count(&bed, "swift_above_target"), 0);
		bed_start(&bed, rows[i].packets * 320 * MBPS);
		sample(rows[i].above_ns, 1);
		assert_int_equal(bed_count(&bed, "swift_above_target"), 1);
	}
}

TEST_MAIN(.before_each = setup)
