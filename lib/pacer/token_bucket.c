/* SPDX-License-Identifier: BSD-3-Clause */
#include "pacer/token_bucket.h"
#include "base/numbers/fixed.h"

static_assert(TOKEN_BUCKET_MAX_BURST_BYTES * (uint64_t)NANOBITS_PER_BYTE <= INT64_MAX,
	      "a full bucket fits its type");
static_assert((uint64_t)NANOBITS_PER_BYTE << 29 <= (uint64_t)TOKEN_BUCKET_MAX_DEBT_NANOBITS,
	      "one charge from zero is a valid debt");

int64_t
token_burst_nanobits(uint64_t burst_bytes)
{
	assert(burst_bytes <= TOKEN_BUCKET_MAX_BURST_BYTES);
	return (int64_t)burst_bytes * NANOBITS_PER_BYTE;
}

void
token_account_init(struct token_account *a, uint64_t rate_bps, int64_t credit_nanobits,
		   uint64_t now_ns)
{
	a->credit_nanobits = credit_nanobits;
	a->updated_ns = now_ns;
	a->rate_bps = rate_bps;
}

void
token_bucket_init(struct token_bucket *tb, uint64_t rate_bps, uint64_t burst_bytes, uint64_t now_ns)
{
	tb->cap_nanobits = token_burst_nanobits(burst_bytes);
	token_account_init(&tb->account, rate_bps, tb->cap_nanobits, now_ns);
}

void
token_bucket_set_rate(struct token_bucket *tb, uint64_t rate_bps, uint64_t now_ns)
{
	token_account_set_rate(&tb->account, tb->cap_nanobits, rate_bps, now_ns);
}

void
token_bucket_set_burst(struct token_bucket *tb, uint64_t burst_bytes)
{
	tb->cap_nanobits = token_burst_nanobits(burst_bytes);
	token_account_clamp(&tb->account, tb->cap_nanobits);
}
