/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "cc/algorithms/rtt.h"

TEST(a_sample_ends_when_the_packet_that_asked_is_acknowledged)
{
	struct rtt r = {0};

	assert_int_equal(rtt_on_ack(&r, 5, 0), 0);
	/* Time may begin at 0. */
	rtt_on_ask(&r, 10, 0);
	/* All before packet 10: it is not among them. */
	assert_int_equal(rtt_on_ack(&r, 10, 9000), 0);
	assert_int_equal(rtt_on_ack(&r, 11, 11000), 11000);
	assert_int_equal(r.last_ns, 11000);
	assert_int_equal(rtt_on_ack(&r, 12, 12000), 0);
}

TEST(one_sample_is_outstanding_at_a_time)
{
	struct rtt r = {0};

	rtt_on_ask(&r, 10, 1000);
	rtt_on_ask(&r, 20, 5000);
	assert_int_equal(rtt_on_ack(&r, 21, 11000), 10000);
	assert_int_equal(rtt_on_ack(&r, 22, 12000), 0);
}

TEST(loss_gives_up_the_sample)
{
	struct rtt r = {0};

	rtt_on_ask(&r, 10, 1000);
	rtt_on_loss(&r);
	assert_int_equal(rtt_on_ack(&r, 11, 900000), 0);
	rtt_on_ask(&r, 12, 1000000);
	assert_int_equal(rtt_on_ack(&r, 13, 1010000), 10000);
}

/* Karn: after a timeout, the first ACK may be of either transmission. */
TEST(first_ack_after_a_timeout_is_no_sample)
{
	struct rtt r = {0};

	rtt_on_ask(&r, 10, 1000);
	rtt_on_timeout(&r);
	rtt_on_ask(&r, 10, 900000);
	assert_int_equal(rtt_on_ack(&r, 11, 900001), 0);
	rtt_on_ask(&r, 12, 1000000);
	assert_int_equal(rtt_on_ack(&r, 13, 1010000), 10000);
}

TEST(packets_are_compared_across_the_wrap_and_a_sample_is_never_zero)
{
	struct rtt r = {0};

	rtt_on_ask(&r, UINT32_MAX, 7);
	assert_int_equal(rtt_on_ack(&r, UINT32_MAX, 7), 0);
	assert_int_equal(rtt_on_ack(&r, 0, 7), 1);
	rtt_on_ask(&r, 0, 7);
	assert_int_equal(rtt_on_ack(&r, 2, 7 + (1ull << 40)), 1ull << 40);
	assert_int_equal(r.last_ns, UINT32_MAX);
}

TEST_MAIN()
