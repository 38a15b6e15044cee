/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN+: worked numbers with N = 50 us, lambda = 2 and F = 5, at 40 Gb/s; and its notification
 * point beside a count of the marked QPs. test_dcqcn_plus_model.c has the reaction point.
 */
#include "unit/cc/cc_bed.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"

#define US NS_PER_US

static struct cc_bed bed;

static int
setup(void **state)
{
	(void)state;
	bed_init(&bed, CC_DCQCN_PLUS);
	bed_start(&bed, LINE_BPS);
	return 0;
}

static uint32_t
cnp(uint32_t tau_ns, uint64_t now_ns)
{
	return cc_on_cnp(&bed.cc, &bed.node, &(struct cc_cnp){.value = tau_ns}, now_ns);
}

TEST(a_cnp_halves_the_rate_and_sets_the_timer)
{
	assert_int_equal(bed.cc.head.next_event_ns, NEVER_NS);
	assert_int_equal(cnp(2000 * US, 7), CC_DID_CNP | CC_DID_CUT);
	assert_int_equal(bed.cc.head.rate_bps, 20 * GBPS);
	assert_int_equal(bed.cc.head.next_event_ns, 7 + 2 * 2000 * US);
	/* N is the shortest interval, also of a receiver that tells none. */
	cnp(0, 8);
	assert_int_equal(bed.cc.head.next_event_ns, 8 + 2 * 50 * US);
}

/* At 10 Mb/s a packet of 1000 bytes takes 800 us: no CNP can come earlier than the next packet. */
TEST(a_slow_qp_waits_for_packets_of_its_own)
{
	for (unsigned int i = 0; i < 100; i++)
		cnp(0, i);
	assert_int_equal(bed.cc.head.rate_bps, 10 * MBPS);
	assert_int_equal(bed.cc.head.next_event_ns, 99 + 2 * 800 * US);
}

/* From 10 Mb/s on, where the steps are shares of the rate: C / 100 is 400 Mb/s. */
TEST(steps_follow_the_rate_and_then_grow)
{
	for (unsigned int i = 0; bed.cc.head.rate_bps > 10 * MBPS; i++)
		cnp(0, i);
	for (unsigned int s = 1; s <= 21; s++) {
		uint64_t rate_bps = bed.cc.head.rate_bps;
		uint64_t target_bps = bed_view(&bed, 0).target_rate_bps;
		uint32_t did = CC_DID_HYPER;

		if (s > 20) {
			target_bps += rate_bps;
		} else if (s > 5) {
			target_bps += rate_bps / 5;
			did = CC_DID_RAISE;
		} else {
			did = CC_DID_FAST;
		}
		assert_int_equal(cc_on_timer(&bed.cc, &bed.node, bed.cc.head.next_event_ns), did);
		assert_int_equal(bed_view(&bed, 0).target_rate_bps, target_bps);
		assert_int_equal(bed.cc.head.rate_bps, (target_bps + rate_bps + 1) / 2);
	}
	assert_int_equal(bed_count(&bed, "dcqcn_plus_fast_recoveries"), 5);
	assert_int_equal(bed_count(&bed, "dcqcn_plus_additive_increases"), 15);
	assert_int_equal(bed_count(&bed, "dcqcn_plus_exponential_increases"), 1);
}

#define QPS 3000u
static struct cc_np of_qp[QPS];
static struct cc_np_node of_node;

/* A marked packet of a QP. @return tau of the CNP, or 0: none is sent. */
static uint32_t
mark(unsigned int qp, uint32_t gap_ns, uint64_t now_ns)
{
	const struct cc_arrival arrival = {.ce = true, .cnp_gap_ns = gap_ns};
	uint32_t value = 0;

	if (!bed.node.ops->notify(&of_qp[qp], &of_node, &bed.node, &arrival, &value, now_ns))
		return 0;
	assert_true(value > 0);
	return value;
}

static int
setup_np(void **state)
{
	memset(of_qp, 0, sizeof(of_qp));
	memset(&of_node, 0, sizeof(of_node));
	return setup(state);
}

/* n QPs, each with a marked packet in turn, one each 220 ns: 1 KB at 40 Gb/s. */
TEST_WITH(the_interval_is_that_of_all_marked_qps, setup_np, NULL)
{
	static const unsigned int counts[] = {1, 10, 200, 2000, 3000, 40};
	uint64_t now_ns = NS_PER_SEC;

	for (unsigned int c = 0; c < ARRAY_LEN(counts); c++) {
		uint64_t told_ns[QPS] = {0}, tau_ns = counts[c] * US;
		uint64_t first_ns = now_ns + 30 * NS_PER_MS, end_ns = now_ns + 60 * NS_PER_MS;

		if (tau_ns < 50 * US)
			tau_ns = 50 * US;
		for (unsigned int i = 0; now_ns < end_ns; i++, now_ns += 220) {
			unsigned int qp = i % counts[c];
			uint32_t value = mark(qp, US, now_ns);

			if (value == 0)
				continue;
			assert_true(told_ns[qp] == 0 || now_ns - told_ns[qp] >= 50 * US);
			told_ns[qp] = now_ns;
			if (now_ns >= first_ns)
				assert_int_equal(value, tau_ns);
		}
	}
}

/* Without a limit on the port's CNPs, those of a QP are N apart whatever their number. */
TEST_WITH(without_a_gap_the_interval_is_the_shortest, setup_np, NULL)
{
	struct prng rnd;

	prng_seed(&rnd, 5, 0);
	for (uint64_t i = 0; i < 100000; i++) {
		uint32_t value = mark((unsigned int)prng_below(&rnd, QPS), 0, NS_PER_SEC + i * 100);

		assert_true(value == 0 || value == 50 * US);
	}
}

/* A number that does not fit is the greatest: 3000 QPs, and a CNP each 0.1 s. */
TEST_WITH(a_long_interval_is_told_as_the_longest, setup_np, NULL)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < QPS; i++)
		value = mark(i, 100 * NS_PER_MS, NS_PER_SEC + i);
	assert_int_equal(value, UINT32_MAX);
}

TEST_MAIN(.before_each = setup)
