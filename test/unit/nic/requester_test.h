/* SPDX-License-Identifier: BSD-3-Clause */
/* A requester and its responder, on a cable that shows what left and loses some of it. */
#ifndef QUENCH_TEST_UNIT_NIC_REQUESTER_TEST_H
#define QUENCH_TEST_UNIT_NIC_REQUESTER_TEST_H

#include "unit/nic/nic_test.h"

#define SEEN_MAX 4096

/* What a cable saw of one direction, and which of its frames it loses. */
struct seen {
	struct roce_view v[SEEN_MAX];
	uint64_t at_ns[SEEN_MAX];
	unsigned int n;
	uint64_t lose_from, lose_to; /* numbers of frames of host 0 */
	uint64_t lose_ack_from, lose_ack_to;
	uint32_t lose_psn; /* this many times */
	unsigned int lose_psn_times;
	bool lose_each_once; /* the first copy of each PSN */
	uint32_t new_psn;
};

static inline enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	struct seen *s = p->arg;

	if (from == 1)
		return n >= s->lose_ack_from && n < s->lose_ack_to ? FATE_LOSE : FATE_PASS;
	assert_true(s->n < SEEN_MAX);
	s->at_ns[s->n] = p->now_ns;
	s->v[s->n++] = *v;
	if (v->psn == s->lose_psn && s->lose_psn_times > 0) {
		s->lose_psn_times--;
		return FATE_LOSE;
	}
	if (s->lose_each_once && v->psn == s->new_psn) {
		s->new_psn++;
		return FATE_LOSE;
	}
	return n >= s->lose_from && n < s->lose_to ? FATE_LOSE : FATE_PASS;
}

static struct seen seen;

static inline int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, watch, &seen, sizeof(seen));
	pair.arg = &seen;
	return 0;
}

static inline void
start(const struct nic_qp_params *qp)
{
	pair_create(&pair, 512);
	pair_connect(&pair, qp);
}

static inline const struct nic_stats *
stats(unsigned int host)
{
	return nic_stats(pair.nic[host]);
}

/* Start, and run until nothing happens any more. */
static inline void
play(const struct nic_qp_params *qp)
{
	pair_play(&pair, 512, qp);
}

/* All messages arrived once and whole, both ends agree, and nothing is left to do. */
static inline void
expect_complete(const struct nic_qp_params *qp)
{
	struct nic_qp_info a = pair_info(&pair, 0, 0), b = pair_info(&pair, 1, 0);

	assert_true(a.done);
	assert_false(a.error);
	assert_true(nic_done(pair.nic[0]));
	assert_int_equal(a.tx_messages, qp->messages);
	assert_int_equal(b.rx_messages, qp->messages);
	assert_int_equal(b.rx_payload_bytes, qp->messages * qp->message_bytes);
	assert_int_equal(pair_next_ns(&pair), NEVER_NS);
	pair_destroy(&pair);
}

#endif
