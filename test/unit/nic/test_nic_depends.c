/* SPDX-License-Identifier: BSD-3-Clause */
/* A QP that passes on: its messages wait for those that another QP of its node receives. */
#include <errno.h>

#include "unit/nic/nic_test.h"

/* Messages that host 1 has begun, and whether one was early. */
static uint64_t begun;
static bool early;
static uint64_t lose; /* frame of host 0 that is lost; UINT64_MAX: none */

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	struct nic_qp_info info;

	if (from == 1 && (v->opcode == RC_WRITE_FIRST || v->opcode == RC_WRITE_ONLY)) {
		nic_qp_info(p->nic[1], 0, &info);
		early |= begun > info.rx_messages;
		begun++;
	}
	return from == 0 && n == lose ? FATE_LOSE : FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	begun = 0;
	early = false;
	lose = UINT64_MAX;
	pair_init(&pair);
	pair.fate = watch;
	pair.params[0].local_ack_timeout = 4;
	return 0;
}

/* QP 0 from host 0 to host 1, QP 1 back. */
static void
connect_both_ways(void)
{
	pair_create(&pair, 4096);
	for (unsigned int qp = 0; qp < 2; qp++) {
		for (unsigned int host = 0; host < 2; host++) {
			struct nic_qp_params params = nic_test_qp(host);

			params.requester = host == qp;
			params.peer_qpn = pair.params[1 - host].first_qpn + qp;
			params.flow_id = qp;
			params.messages = 8;
			assert_true(nic_add_qp(pair.nic[host], &params, 0) >= 0);
		}
	}
}

static void
expect_all(void)
{
	for (unsigned int host = 0; host < 2; host++) {
		struct nic_qp_info info;

		nic_qp_info(pair.nic[host], host, &info);
		assert_int_equal(info.tx_messages, 8);
		assert_true(info.done);
	}
	assert_false(early);
	pair_destroy(&pair);
}

TEST(a_message_waits_for_the_one_before_it_to_come_in)
{
	connect_both_ways();
	assert_int_equal(nic_depends(pair.nic[1], 1, 0), 0);
	pair_run(&pair, NS_PER_MS);
	assert_int_equal(begun, 8);
	expect_all();
}

TEST(without_a_chain_messages_do_not_wait)
{
	connect_both_ways();
	pair_run(&pair, NS_PER_MS);
	assert_true(early);
	early = false;
	expect_all();
}

TEST(a_loss_holds_the_chain_and_breaks_nothing)
{
	for (uint64_t frame = 0; frame < 24; frame++) {
		setup(NULL);
		lose = frame;
		connect_both_ways();
		assert_int_equal(nic_depends(pair.nic[1], 1, 0), 0);
		pair_run(&pair, 20 * NS_PER_MS);
		expect_all();
	}
}

TEST(chains_that_cannot_be_are_refused)
{
	connect_both_ways();
	assert_int_equal(nic_depends(pair.nic[1], 0, 1), -EINVAL);
	assert_int_equal(nic_depends(pair.nic[1], 1, 1), -EINVAL);
	assert_int_equal(nic_depends(pair.nic[1], 1, 2), -EINVAL);
	assert_int_equal(nic_depends(pair.nic[1], 1, 0), 0);
	assert_int_equal(nic_depends(pair.nic[1], 1, 0), -EINVAL);
	pair_destroy(&pair);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
