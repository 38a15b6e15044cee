/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Token bucket without rounding: the credit is in nanobits (1e-9 bit), in which rate_bps *
 * elapsed_ns is an integer, at 1 bit/s as at 400 Gb/s.
 *
 * A frame may leave while the credit is not negative. It is charged completely, so the credit may
 * become negative (a debt). The debt is paid off at the current rate, so a change of the rate
 * shortens or lengthens a wait that has begun.
 *
 * Bound (tested): bytes sent in any interval are at most the integral of rate_bps / 8 over it, plus
 * burst_bytes, plus one frame. A sender that is never late sends at least that integral.
 */
#ifndef QUENCH_PACER_TOKEN_BUCKET_H
#define QUENCH_PACER_TOKEN_BUCKET_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/units.h"

#define NANOBITS_PER_BYTE (8 * (int64_t)NS_PER_SEC)
#define TOKEN_BUCKET_MAX_BURST_BYTES 1000000000ull
/* Limit of the debt: more than one charge of the largest size. */
#define TOKEN_BUCKET_MAX_DEBT_NANOBITS ((int64_t)1 << 62)

/* A bucket whose cap is an argument, for owners of many buckets with equal caps. */
struct token_account {
	int64_t credit_nanobits; /* in [-2^62, cap_nanobits] */
	uint64_t updated_ns;
	uint64_t rate_bps; /* wire bytes; 0 stops the bucket */
};

struct token_bucket {
	struct token_account account;
	int64_t cap_nanobits;
};

/** A burst in nanobits; burst_bytes is at most 1 GB. */
int64_t token_burst_nanobits(uint64_t burst_bytes);

/** Start with credit_nanobits, at most the cap. */
void token_account_init(struct token_account *a, uint64_t rate_bps, int64_t credit_nanobits,
			uint64_t now_ns);

/**
 * Start with a full bucket. burst_bytes, at most 1 GB, limits the bytes by which a late sender may
 * catch up.
 */
void token_bucket_init(struct token_bucket *tb, uint64_t rate_bps, uint64_t burst_bytes,
		       uint64_t now_ns);

/**
 * Change the rate at now_ns. Credit up to now_ns is earned at the old rate. A remaining debt is
 * paid off at the new rate, so a caller that waits must call token_bucket_next_ns() again.
 */
void token_bucket_set_rate(struct token_bucket *tb, uint64_t rate_bps, uint64_t now_ns);

/** Change the burst; credit above it is lost. */
void token_bucket_set_burst(struct token_bucket *tb, uint64_t burst_bytes);

/* Inline definitions */

/** As token_bucket_update(). */
static inline void
token_account_update(struct token_account *a, int64_t cap_nanobits, uint64_t now_ns)
{
	/* At most 8e18 + 2^62 < 2^64. */
	uint64_t missing = (uint64_t)cap_nanobits - (uint64_t)a->credit_nanobits;
	uint64_t earned;

	if (now_ns <= a->updated_ns)
		return;
	/* A product above 64 bits exceeds any room. */
	if (__builtin_mul_overflow(a->rate_bps, now_ns - a->updated_ns, &earned) ||
	    earned > missing)
		earned = missing;
	/* Unsigned, because earned may exceed 2^63; the sum is at most the cap. */
	a->credit_nanobits = (int64_t)((uint64_t)a->credit_nanobits + earned);
	a->updated_ns = now_ns;
}

/** As token_bucket_set_rate(). */
static inline void
token_account_set_rate(struct token_account *a, int64_t cap_nanobits, uint64_t rate_bps,
		       uint64_t now_ns)
{
	token_account_update(a, cap_nanobits, now_ns);
	a->rate_bps = rate_bps;
}

/** Change the cap; credit above it is lost. Call token_account_update() first. */
static inline void
token_account_clamp(struct token_account *a, int64_t cap_nanobits)
{
	if (a->credit_nanobits > cap_nanobits)
		a->credit_nanobits = cap_nanobits;
}

/** As token_bucket_can_send(). */
static inline bool
token_account_can_send(const struct token_account *a)
{
	return a->credit_nanobits >= 0;
}

/** As token_bucket_charge(), by bytes * NANOBITS_PER_BYTE, for an account that is not in debt. */
static inline void
token_account_charge_nanobits(struct token_account *a, int64_t nanobits)
{
	a->credit_nanobits -= nanobits;
}

/** As token_bucket_charge(). */
static inline void
token_account_charge(struct token_account *a, uint32_t bytes)
{
	a->credit_nanobits -= bytes * NANOBITS_PER_BYTE;
	assert(a->credit_nanobits >= -TOKEN_BUCKET_MAX_DEBT_NANOBITS);
}

/** Earn credit since the last update, up to the burst. An earlier now_ns earns none. */
static inline void
token_bucket_update(struct token_bucket *tb, uint64_t now_ns)
{
	token_account_update(&tb->account, tb->cap_nanobits, now_ns);
}

/** As token_bucket_next_ns(). */
static inline uint64_t
token_account_next_ns(const struct token_account *a)
{
	uint64_t debt, wait_ns;

	if (a->credit_nanobits >= 0)
		return a->updated_ns;
	if (a->rate_bps == 0)
		return NEVER_NS;
	/* Round up: one nanosecond earlier the debt would not be paid yet. */
	debt = (uint64_t)-a->credit_nanobits;
	wait_ns = debt / a->rate_bps + (debt % a->rate_bps != 0);
	/* debt <= 2^62 */
	return wait_ns > NEVER_NS - a->updated_ns ? NEVER_NS : a->updated_ns + wait_ns;
}

/** May a frame leave now? Call after token_bucket_update(). */
static inline bool
token_bucket_can_send(const struct token_bucket *tb)
{
	return token_account_can_send(&tb->account);
}

/** When can_send() will be true without further charges; NEVER_NS: in debt at rate 0. */
static inline uint64_t
token_bucket_next_ns(const struct token_bucket *tb)
{
	return token_account_next_ns(&tb->account);
}

/**
 * Charge a frame of less than 2^29 bytes. Control frames, which do not wait for credit, may be
 * charged to a bucket in debt as long as the debt stays below 2^29 bytes.
 */
static inline void
token_bucket_charge(struct token_bucket *tb, uint32_t bytes)
{
	token_account_charge(&tb->account, bytes);
}

#endif
