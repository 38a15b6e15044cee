/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Token bucket in which no remainder exists: the credit is kept in nanobits (1e-9 bit), the unit in
 * which rate_bps * elapsed_ns is exact. At 1 bit/s or 400 Gb/s, nothing is rounded away.
 *
 * A frame may leave while the credit is not negative; it is charged whole and may leave a debt that
 * is paid off at the current rate, so that a rate change shortens or lengthens a wait already
 * begun.
 *
 * Bound (tested): over any interval, at most the integral of rate_bps over it / 8, plus
 * burst_bytes, plus one frame are sent; and a sender that is never late sends no less than that
 * integral / 8.
 */
#ifndef QUENCH_PACER_TOKEN_BUCKET_H
#define QUENCH_PACER_TOKEN_BUCKET_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define NANOBITS_PER_BYTE (8 * (int64_t)NS_PER_SEC)
#define TOKEN_BUCKET_MAX_BURST_BYTES 1000000000ull
/* Deepest debt: more than one charge of the largest size. */
#define TOKEN_BUCKET_MAX_DEBT_NANOBITS ((int64_t)1 << 62)

/* A bucket without its cap, for owners of many whose caps are equal: the cap is an argument. */
struct token_account {
	int64_t credit_nanobits; /* in [-2^62, cap_nanobits] */
	uint64_t updated_ns;
	uint64_t rate_bps; /* wire bytes; 0 stops the bucket */
};

struct token_bucket {
	struct token_account account;
	int64_t cap_nanobits;
};

/** Nanobits of a burst; at most 1 GB. */
int64_t token_burst_nanobits(uint64_t burst_bytes);

/** Start with a credit, at most the cap. */
void token_account_init(struct token_account *a, uint64_t rate_bps, int64_t credit_nanobits,
			uint64_t now_ns);

/** As token_bucket_set_rate(). */
void token_account_set_rate(struct token_account *a, int64_t cap_nanobits, uint64_t rate_bps,
			    uint64_t now_ns);

/** Start full. burst_bytes is how far a late sender may catch up; at most 1 GB. */
void token_bucket_init(struct token_bucket *tb, uint64_t rate_bps, uint64_t burst_bytes,
		       uint64_t now_ns);

/**
 * Change the rate from now on: what was earned until now was earned at the old rate, and what is
 * left of a debt is paid off at the new one. A wait begun earlier has to be asked for again
 * (token_bucket_next_ns()): it is shorter after a rise and longer after a cut.
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
	uint64_t room = (uint64_t)cap_nanobits - (uint64_t)a->credit_nanobits;
	uint64_t earned;

	if (now_ns <= a->updated_ns)
		return;
	/* A product beyond 64 bits is more than any room. */
	if (__builtin_mul_overflow(a->rate_bps, now_ns - a->updated_ns, &earned) || earned > room)
		earned = room;
	/* What is earned may pass 2^63; the sum is at most the cap. */
	a->credit_nanobits = (int64_t)((uint64_t)a->credit_nanobits + earned);
	a->updated_ns = now_ns;
}

/** The cap is another from now on: credit above it is lost. token_account_update() before. */
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

/** As token_bucket_charge(). */
static inline void
token_account_charge(struct token_account *a, uint32_t bytes)
{
	a->credit_nanobits -= bytes * NANOBITS_PER_BYTE;
	assert(a->credit_nanobits >= -TOKEN_BUCKET_MAX_DEBT_NANOBITS);
}

/** Earn what time has brought, up to the burst; nothing if now_ns is not later than the last. */
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
	/* Round up: one nanosecond earlier the debt is not paid. */
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

/** First time at which can_send() is true if nothing is charged; NEVER_NS at rate 0 in debt. */
static inline uint64_t
token_bucket_next_ns(const struct token_bucket *tb)
{
	return token_account_next_ns(&tb->account);
}

/**
 * Charge what was sent. bytes < 2^29. Frames that do not wait for credit (control) may be charged
 * while in debt, as long as the debt stays below 2^29 bytes.
 */
static inline void
token_bucket_charge(struct token_bucket *tb, uint32_t bytes)
{
	token_account_charge(&tb->account, bytes);
}

#endif
