/* SPDX-License-Identifier: BSD-3-Clause */
#include "pacer/token_bucket.h"
#include "base/fixed.h"

static_assert(TOKEN_BUCKET_MAX_BURST_BYTES * (uint64_t)NANOBITS_PER_BYTE <= INT64_MAX,
	      "a full bucket fits its type");
static_assert((uint64_t)NANOBITS_PER_BYTE << 29 <= (uint64_t)TOKEN_BUCKET_MAX_DEBT_NANOBITS,
	      "one charge from zero is a valid debt");

void
token_bucket_init(struct token_bucket *tb, uint64_t rate_bps, uint64_t burst_bytes, uint64_t now_ns)
{
	assert(burst_bytes <= TOKEN_BUCKET_MAX_BURST_BYTES);
	tb->cap_nanobits = (int64_t)burst_bytes * NANOBITS_PER_BYTE;
	tb->credit_nanobits = tb->cap_nanobits;
	tb->updated_ns = now_ns;
	tb->rate_bps = rate_bps;
}

void
token_bucket_set_rate(struct token_bucket *tb, uint64_t rate_bps, uint64_t now_ns)
{
	token_bucket_update(tb, now_ns);
	tb->rate_bps = rate_bps;
}

void
token_bucket_set_burst(struct token_bucket *tb, uint64_t burst_bytes)
{
	assert(burst_bytes <= TOKEN_BUCKET_MAX_BURST_BYTES);
	tb->cap_nanobits = (int64_t)burst_bytes * NANOBITS_PER_BYTE;
	if (tb->credit_nanobits > tb->cap_nanobits)
		tb->credit_nanobits = tb->cap_nanobits;
}

uint64_t
token_bucket_next_ns(const struct token_bucket *tb)
{
	uint64_t debt;

	if (tb->credit_nanobits >= 0)
		return tb->updated_ns;
	if (tb->rate_bps == 0)
		return NEVER_NS;
	/* Round up: one nanosecond earlier the debt is not paid. debt <= 2^62 leaves room for the
	 * sum. */
	debt = (uint64_t)-tb->credit_nanobits;
	return add_sat(tb->updated_ns, debt / tb->rate_bps + (debt % tb->rate_bps != 0));
}
