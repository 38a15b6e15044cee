/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of congestion control: each algorithm hears what it says, and no more. */
#include "unit/cc/cc_bed.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"

static void
start(struct cc_bed *b, enum cc_algorithm algorithm)
{
	bed_init(b, algorithm);
	bed_start(b, LINE_BPS);
}

static const struct rp_stats *
cnps(const struct cc_bed *b)
{
	return &b->stats.of[CC_SLOT(CC_DCQCN)].rp;
}

TEST(none_keeps_its_rate_whatever_happens)
{
	const struct cc_ack ack = {.acked_seq = 10, .next_seq = 20, .packets = 10, .rtt_ns = 1};
	struct cc_view view;
	struct cc_bed b;

	start(&b, CC_NONE);
	assert_false(b.node.hears_acks);
	assert_false(b.node.hears_rtts);
	assert_int_equal(b.cc.head.next_event_ns, NEVER_NS);
	assert_int_equal(cc_on_cnp(&b.cc, &b.node, &(struct cc_cnp){.next_seq = 0}, 1), 0);
	assert_int_equal(cc_on_ack(&b.cc, &b.node, &ack, 2), 0);
	assert_int_equal(cc_on_loss(&b.cc, &b.node, 0, CC_LOSS_NAK, 3), 0);
	/* The byte count may wrap: there is no byte event. */
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(cc_on_sent(&b.cc, &b.node, 1u << 31, i), 0);
	assert_int_equal(cc_on_timer(&b.cc, &b.node, 1ull << 60), 0);
	assert_int_equal(b.cc.head.rate_bps, LINE_BPS);
	assert_int_equal(cnps(&b)->rp_cnp_ignored, 1);
	assert_int_equal(cnps(&b)->rp_cnp_handled, 0);
	cc_read(&b.cc, &b.node, &view, 10);
	assert_int_equal(view.rate_bps, LINE_BPS);
	assert_int_equal(view.target_rate_bps, LINE_BPS);
	assert_false(view.limited);
}

TEST(who_hears_cnps_counts_them_as_handled)
{
	static const struct {
		enum cc_algorithm algorithm;
		bool hears;
	} rows[] = {{CC_NONE, false}, {CC_DCQCN, true}, {CC_DCTCP, true}, {CC_TIMELY, false}};
	struct cc_bed b;

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		start(&b, rows[i].algorithm);
		cc_on_cnp(&b.cc, &b.node, &(struct cc_cnp){.next_seq = 0}, 5);
		assert_int_equal(cnps(&b)->rp_cnp_handled, rows[i].hears);
		assert_int_equal(cnps(&b)->rp_cnp_ignored, !rows[i].hears);
		assert_int_equal(b.cc.head.rate_bps < LINE_BPS, rows[i].hears);
	}
}

/* SIGCOMM'15: one CNP halves, five fast steps, then the target is the line rate again. */
TEST(what_dcqcn_did_is_told)
{
	static const uint32_t did[] = {CC_DID_FAST, CC_DID_FAST, CC_DID_FAST,
				       CC_DID_FAST, CC_DID_FAST, CC_DID_RAISE};
	struct cc_view view;
	struct cc_bed b;

	start(&b, CC_DCQCN);
	assert_int_equal(cc_on_cnp(&b.cc, &b.node, &(struct cc_cnp){.next_seq = 0}, 0),
			 CC_DID_CNP | CC_DID_CUT | CC_DID_ENGAGE);
	assert_int_equal(b.cc.head.rate_bps, 20 * GBPS);
	for (uint64_t i = 0; i < 6; i++) {
		assert_int_equal(cc_on_timer(&b.cc, &b.node, (i + 1) * 55000 - 1), 0);
		assert_int_equal(cc_on_timer(&b.cc, &b.node, (i + 1) * 55000), did[i]);
	}
	assert_int_equal(b.cc.head.rate_bps, 39687500000ull);
	cc_read(&b.cc, &b.node, &view, 330000);
	assert_int_equal(view.target_rate_bps, LINE_BPS);
	assert_int_equal(view.time_stage, 6);
	assert_true(view.limited);
	/* In the end it is free, and says so once. */
	assert_true(cc_on_timer(&b.cc, &b.node, NS_PER_SEC) & CC_DID_FREE);
	assert_int_equal(cc_on_timer(&b.cc, &b.node, 2 * NS_PER_SEC), 0);
	assert_int_equal(cnps(&b)->rp_engagements, 1);
	assert_int_equal(cnps(&b)->rp_releases, 1);
}

/* Some hops, more or fewer than before, with any numbers. */
static void
any_hops(struct prng *rnd, struct cc_hop hops[CC_MAX_HOPS], struct cc_ack *ack)
{
	ack->n_hops = (uint32_t)prng_below(rnd, CC_MAX_HOPS + 1);
	ack->hops = hops;
	for (unsigned int i = 0; i < ack->n_hops; i++)
		hops[i] = (struct cc_hop){.rate_bps = prng_below(rnd, 4) * 100 * GBPS,
					  .queue_bytes = prng_u32(rnd) >> prng_below(rnd, 32),
					  .tx_bytes = prng_u32(rnd) >> prng_below(rnd, 32),
					  .time_ns = prng_u32(rnd) >> prng_below(rnd, 32)};
}

/* Random events: no algorithm leaves [least floor, line rate], or forgets who it is. */
TEST(rates_stay_in_range)
{
	for (int a = 0; a < CC_ALGORITHMS; a++) {
		uint32_t acked = UINT32_MAX - 99, next = acked;
		struct cc_hop hops[CC_MAX_HOPS];
		uint64_t now_ns = 0;
		struct prng rnd;
		struct cc_bed b;

		prng_seed(&rnd, 7, (uint64_t)a);
		start(&b, (enum cc_algorithm)a);
		for (unsigned int i = 0; i < 50000; i++) {
			struct cc_ack ack = {0};

			now_ns += prng_below(&rnd, 100000);
			switch (prng_below(&rnd, 6)) {
			case 0:
				cc_on_cnp(&b.cc, &b.node, &(struct cc_cnp){.next_seq = next},
					  now_ns);
				break;
			case 1:
				cc_on_loss(&b.cc, &b.node, next, CC_LOSS_NAK, now_ns);
				break;
			case 2:
				if (acked == next)
					break;
				ack.packets = 1 + (uint32_t)prng_below(&rnd, next - acked);
				acked += ack.packets;
				ack.acked_seq = acked;
				ack.next_seq = next;
				ack.rtt_ns = prng_below(&rnd, 600000);
				ack.ce_packets = prng_below(&rnd, 4) == 0 ? ack.packets : 0;
				any_hops(&rnd, hops, &ack);
				cc_on_ack(&b.cc, &b.node, &ack, now_ns);
				break;
			case 3:
				cc_on_timer(&b.cc, &b.node, now_ns);
				break;
			default:
				next++;
				cc_on_sent(&b.cc, &b.node, 1106, now_ns);
			}
			/* Swift has no lowest rate, but a smallest window. */
			assert_in_range(b.cc.head.rate_bps, a == CC_SWIFT ? 1 : 10 * MBPS,
					LINE_BPS);
			if (b.node.has_window)
				assert_true(b.cc.head.window_bytes > 0);
		}
	}
}

/* The timer of a QP that sends nothing is not run for as long. */
TEST(a_long_silence_ends_at_line_rate)
{
	const struct cc_cnp cnp = {.next_seq = 1, .value = 100};
	/* 36 years: 2^50 rises of 1.6e12, a multiple of 2^14, are 0 modulo 2^64. */
	const uint64_t late_ns = NS_PER_SEC + (1ull << 50) * 1000;
	struct cc_bed b;

	for (int a = CC_NONE; a < CC_ALGORITHMS; a++) {
		uint64_t cut_bps;

		bed_init(&b, (enum cc_algorithm)a);
		if (a == CC_FAIR) {
			bed_set(&b, "fair_timer_ns", "1us");
			bed_set(&b, "fair_ai_rate_bps", "1600G");
		}
		bed_start(&b, LINE_BPS);
		cc_on_cnp(&b.cc, &b.node, &cnp, NS_PER_SEC);
		cut_bps = b.cc.head.rate_bps;
		assert_true(a != CC_FAIR || cut_bps < LINE_BPS / 100);
		cc_on_timer(&b.cc, &b.node, late_ns);
		assert_in_range(b.cc.head.rate_bps, cut_bps, LINE_BPS);
		assert_true(a != CC_FAIR || b.cc.head.rate_bps == LINE_BPS);
	}
}

/* What configuration files, counters and reports read, so that they need no line for it. */
TEST(every_algorithm_describes_itself)
{
	const struct field_alias *alias;
	struct cc_bed b;
	char why[256];

	for (int a = CC_NONE + 1; a < CC_ALGORITHMS; a++) {
		const struct cc_ops *ops = cc_algorithms[a];

		start(&b, (enum cc_algorithm)a);
		assert_int_equal(bed_check(&b, why, sizeof(why)), 0);
		assert_true(*ops->n_counters <= sizeof(union cc_counts) / sizeof(uint64_t));
		if (ops->byte_event_key != NULL) {
			assert_non_null(ops->sent);
			assert_non_null(field_find(ops->fields, *ops->n_fields, ops->byte_event_key,
						   &alias));
			assert_true(b.node.byte_event_bytes > 0);
		}
		for (unsigned int i = 0; i < *ops->n_counters; i++)
			assert_true(ops->counters[i].offset < sizeof(union cc_counts));
		for (unsigned int i = 0; i < *ops->n_fields; i++)
			assert_true(ops->fields[i].offset < sizeof(union cc_keys));
		if (ops->min_rate_key != NULL)
			assert_int_equal(
				field_find(ops->fields, *ops->n_fields, ops->min_rate_key, &alias)
					->type,
				FIELD_U64);
	}
}

TEST(every_reason_has_a_word_of_its_own)
{
	for (unsigned int i = 0; i < CC_REASONS; i++)
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(cc_reason_word(i), cc_reason_word(j));
}

TEST_MAIN()
