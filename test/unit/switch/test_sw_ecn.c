/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to which packet at the congestion point: every case there is, and how often. */
#include <stdio.h>

#include "unit/refused.h"
#include "unit/switch/sw_test.h"

#define LOSSY_DSCP 0     /* queue 0 */
#define LOSSLESS_DSCP 26 /* queue 3 */

struct ecn_case {
	bool wred, ecn_all, lossless, drop_nonect, at_enqueue;
	uint8_t codepoint, ip_version;
	bool tagged;
};

enum fate { PASSES, MARKED, DROPPED };

/*
 * The table of SAI and RFC 3168: off: nothing happens. ecn_none: dropped, whatever it says.
 * ecn_all: ECT is marked, CE is let through and is no mark of ours, Not-ECT is dropped. Drops do
 * not happen in a lossless queue unless the knob says so.
 */
static enum fate
expected_fate(const struct ecn_case *c)
{
	bool may_drop = !c->lossless || c->drop_nonect;

	if (!c->wred)
		return PASSES;
	if (c->ecn_all && c->codepoint != ECN_NOT_ECT)
		return c->codepoint == ECN_CE ? PASSES : MARKED;
	return may_drop ? DROPPED : PASSES;
}

/* Between two others in the queue, so that the step at 0 is passed at its arrival and departure. */
static struct rte_mbuf *
send_between(struct bench *b, const struct ecn_case *c, uint8_t *before, uint16_t *len)
{
	struct frame_spec other = {.src = 0,
				   .dst = 1,
				   .dscp = c->lossless ? LOSSLESS_DSCP : LOSSY_DSCP,
				   .ecn = ECN_CE,
				   .psn = 1};
	struct frame_spec s = other;
	struct rte_mbuf *m, *found = NULL;
	uint64_t now_ns = 0;

	s.ecn = c->codepoint;
	s.ip_version = c->ip_version;
	s.tagged = c->tagged;
	s.vlan_tci = 5 << 13 | 7;
	s.psn = 2;
	give(b, 0, make_frame(b, &other), 0);
	m = make_frame(b, &s);
	*len = m->data_len;
	memcpy(before, rte_pktmbuf_mtod(m, uint8_t *), *len);
	give(b, 0, m, 0);
	give(b, 0, make_frame(b, &other), 0);
	while ((m = take_next(b, 1, &now_ns)) != NULL) {
		if (roce_of(m).psn == 2)
			found = m;
		else
			sent(m);
	}
	return found;
}

/* Nothing but the codepoint and IPv4's checksum may differ; roce_of() checked sum and ICRC. */
static void
sees_only_ecn_changed(const struct rte_mbuf *m, const uint8_t *before, uint16_t len,
		      const struct ecn_case *c, uint8_t codepoint)
{
	unsigned int l3 = ETH_HDR_BYTES + (c->tagged ? VLAN_TAG_BYTES : 0);
	const uint8_t *after = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned int shift = c->ip_version == 6 ? 4 : 0;

	assert_int_equal(m->data_len, len);
	assert_int_equal(after[l3 + 1] >> shift & 3, codepoint);
	for (uint16_t i = 0; i < len; i++) {
		bool sum = c->ip_version == 4 && (i == l3 + 10 || i == l3 + 11);
		uint8_t mask = i == l3 + 1 ? (uint8_t) ~(3u << shift) : 0xff;

		if (!sum && (after[i] & mask) != (before[i] & mask))
			fail_msg("byte %u changed from %02x to %02x", i, before[i], after[i]);
	}
}

/* The other two frames have CE; WRED drops one of them only if it drops CE. */
static void
counts_of_the_queue(const struct bench *b, const struct ecn_case *c, enum fate fate, uint16_t len)
{
	const struct sw_queue_stats *s = &sw_port_stats(b->sw, 1)->queue[c->lossless ? 3 : 0];
	uint64_t frame_bytes = len + 4u;

	assert_int_equal(s->ecn_marked_packets, fate == MARKED);
	assert_int_equal(s->ecn_marked_bytes, fate == MARKED ? frame_bytes : 0);
	assert_int_equal(s->drop_packets, drops(b, 1, SW_DROP_WRED));
	assert_int_equal(s->wred_drop_packets, s->drop_packets);
	assert_int_equal(s->wred_drop_bytes, s->drop_bytes);
	if (fate != DROPPED)
		assert_int_equal(s->ce_in_packets, c->codepoint == ECN_CE ? 3 : 2);
	if (fate == DROPPED && c->ecn_all) {
		assert_int_equal(s->ce_in_packets, 2);
		assert_int_equal(s->drop_packets, 1);
		assert_int_equal(s->drop_bytes, frame_bytes);
	}
}

static void
check_case(struct bench *b, const struct ecn_case *c)
{
	enum fate fate = expected_fate(c);
	uint8_t before[256];
	struct rte_mbuf *m;
	uint16_t len;

	bench_defaults(&b->params, 2);
	b->params.wred_queues = c->wred ? 1 << 0 | 1 << 3 : 0;
	b->params.wred.green_min_threshold_bytes = 0;
	b->params.wred.green_max_threshold_bytes = 0;
	b->params.wred.ecn = c->ecn_all ? WRED_ECN_ALL : WRED_ECN_NONE;
	b->params.wred.nonect_drop_in_lossless = c->drop_nonect;
	b->params.mark_at = c->at_enqueue ? SW_MARK_AT_ENQUEUE : SW_MARK_AT_DEQUEUE;
	b->params.fdb_entries = 64;
	bench_start(b);
	m = send_between(b, c, before, &len);
	assert_int_equal(m == NULL, fate == DROPPED);
	counts_of_the_queue(b, c, fate, len);
	if (fate == DROPPED)
		assert_true(drops(b, 1, SW_DROP_WRED) >= 1);
	if (m != NULL) {
		sees_only_ecn_changed(m, before, len, c, fate == MARKED ? ECN_CE : c->codepoint);
		sent(m);
	}
	bench_stop(b);
}

TEST(every_case_at_the_congestion_point_is_as_the_table_says)
{
	static const uint8_t codepoints[] = {ECN_NOT_ECT, ECN_ECT1, ECN_ECT0, ECN_CE};

	for (unsigned int i = 0; i < 1 << 9; i++) {
		struct ecn_case c = {
			.wred = i & 1,
			.ecn_all = i >> 1 & 1,
			.lossless = i >> 2 & 1,
			.drop_nonect = i >> 3 & 1,
			.at_enqueue = i >> 4 & 1,
			.ip_version = i >> 5 & 1 ? 6 : 4,
			.tagged = i >> 6 & 1,
			.codepoint = codepoints[i >> 7 & 3],
		};

		check_case(&bench, &c);
	}
}

/* Port 1 and port 2, queue 3 and queue 4: a curve each, or none. */
TEST(profiles_differ_by_port_and_queue)
{
	static const char *const profiles[3][2] = {
		{"default", "default"}, {"step", "none"}, {"none", "step"}};
	struct bench *b = &bench;

	bench_defaults(&b->params, 3);
	b->params.wred_queues = 0;
	b->params.qos.dscp_to_tc_map[4] = 4;
	b->params.n_wred_profiles = 1;
	strcpy(b->params.wred_profiles[0].name, "step");
	b->params.wred_profiles[0].params = b->params.wred;
	b->params.wred_profiles[0].params.green_min_threshold_bytes = 0;
	b->params.wred_profiles[0].params.green_max_threshold_bytes = 0;
	for (unsigned int port = 0; port < 3; port++) {
		for (unsigned int i = 0; i < 2; i++)
			strcpy(b->params.queues[port][3 + i].wred_profile, profiles[port][i]);
	}
	bench_start_learnt(b);
	for (uint8_t port = 1; port < 3; port++) {
		for (unsigned int i = 0; i < 4; i++) {
			struct frame_spec s = {
				.src = 0, .dst = port, .dscp = i % 2 ? 26 : 4, .ecn = ECN_ECT0};

			give(b, 0, make_frame(b, &s), 0);
		}
	}
	for (uint8_t port = 1; port < 3; port++) {
		uint64_t now_ns = 0;

		assert_int_equal(drain(b, port, &now_ns), 4);
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(
				sw_port_stats(b->sw, port)->queue[3 + i].ecn_marked_packets,
				strcmp(profiles[port][i], "step") == 0);
	}
	bench_stop(b);
}

/* SAI's separate thresholds: ECT is marked from one frame on, Not-ECT dropped above ten. */
TEST(marking_may_begin_below_dropping)
{
	struct bench *b = &bench;
	struct frame_spec ect = {.src = 0, .dst = 1, .dscp = 0, .ecn = ECN_ECT0};
	struct frame_spec nonect = {.src = 0, .dst = 1, .dscp = 0, .ecn = ECN_NOT_ECT};
	uint64_t now_ns = 0, frame;

	bench_defaults(&b->params, 2);
	b->params.wred_queues = 1 << 0;
	bench_start(b);
	give(b, 0, make_frame(b, &ect), 0);
	frame = sw_queue_bytes(b->sw, 1, 0);
	drain(b, 1, &now_ns);
	bench_stop(b);
	b->params.wred.ecn_green_min_threshold_bytes = frame;
	b->params.wred.ecn_green_max_threshold_bytes = frame;
	b->params.wred.green_min_threshold_bytes = 10 * frame;
	b->params.wred.green_max_threshold_bytes = 10 * frame;
	bench_start(b);
	for (unsigned int i = 0; i < 15; i++)
		give(b, 0, make_frame(b, &nonect), 0);
	/* The twelfth finds eleven before it. */
	assert_int_equal(drops(b, 1, SW_DROP_WRED), 4);
	give(b, 0, make_frame(b, &ect), 0);
	give(b, 0, make_frame(b, &ect), 0);
	give(b, 0, make_frame(b, &ect), 0);
	now_ns = 0;
	assert_int_equal(drain(b, 1, &now_ns), 14);
	/* Of the three at the end, one has two behind it. */
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[0].ecn_marked_packets, 1);
	bench_stop(b);
}

/* A step at 0 marks what WRED's curve, far above, does not. */
TEST(a_queue_marks_by_its_own_scheme)
{
	for (unsigned int at = SW_MARK_AT_DEQUEUE; at <= SW_MARK_AT_ENQUEUE; at++) {
		struct bench *b = &bench;
		struct frame_spec ect = {.src = 0, .dst = 1, .dscp = 26, .ecn = ECN_ECT0};
		uint64_t now_ns = 0;
		char key[] = "step_threshold_bytes";
		const struct field_alias *alias;
		char expected[FIELD_TEXT_SIZE];

		bench_defaults(&b->params, 2);
		b->params.wred.green_min_threshold_bytes = 1000000;
		b->params.wred.green_max_threshold_bytes = 1000000;
		b->params.mark_at = (int)at;
		b->params.queues[1][3].marking = MARK_STEP;
		assert_int_equal(field_parse(field_find(step_fields, step_fields_n, key, &alias),
					     NULL, "0", &b->params.marking.of[MARK_SLOT(MARK_STEP)],
					     expected, sizeof(expected)),
				 0);
		bench_start(b);
		for (unsigned int i = 0; i < 5; i++)
			give(b, 0, make_frame(b, &ect), 0);
		assert_int_equal(drain(b, 1, &now_ns), 5);
		/* All but the last to leave, or the first to arrive. */
		assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets, 4);
		assert_int_equal(sw_mark_scheme(b->sw, 1, 3)->counts.words[0], 4);
		assert_null(sw_mark_scheme(b->sw, 0, 3));
		assert_int_equal(sw_mark_curve(b->sw, 1, 3)->max_bytes, 0);
		bench_stop(b);
	}
}

/* A queue that a phantom queue marks is emptied at the rate of its port: 95 % is exceeded. */
TEST(a_phantom_queue_drains_with_the_time_of_its_port)
{
	struct bench *b = &bench;
	struct frame_spec ect = {.src = 0, .dst = 1, .dscp = 26, .ecn = ECN_ECT0};
	uint64_t now_ns = 0, marked;

	bench_defaults(&b->params, 2);
	b->params.queues[1][3].marking = MARK_PHANTOM;
	bench_start(b);
	/* Frames far apart meet an empty phantom queue. */
	for (unsigned int i = 0; i < 300; i++) {
		give(b, 0, make_frame(b, &ect), now_ns);
		drain(b, 1, &now_ns);
		now_ns += 10000;
	}
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets, 0);
	/* At line rate, the phantom queue gains 5 % of each frame: 30 KB take 600 KB. */
	for (unsigned int i = 0; i < 20000; i++) {
		give(b, 0, make_frame(b, &ect), now_ns);
		drain(b, 1, &now_ns);
	}
	marked = sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets;
	assert_true(marked > 1000 && marked < 19000);
	bench_stop(b);
}

TEST(a_scheme_needs_wred_on_its_queue)
{
	struct bench *b = &bench;

	bench_defaults(&b->params, 2);
	b->params.queues[1][2].marking = MARK_STEP;
	sw_params_resolve(&b->params);
	assert_refused(sw_params_check, &b->params, "port 1, class 2, marking needs WRED");
	b->params.wred_queues |= 1 << 2;
	b->params.wred.ecn = WRED_ECN_NONE;
	assert_refused(sw_params_check, &b->params, "port 1, class 2, marking needs WRED");
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
