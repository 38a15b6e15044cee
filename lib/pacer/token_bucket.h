/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Token bucket in which no remainder exists: the credit is kept in nanobits (1e-9 bit), the unit in
 * which rate_bps * elapsed_ns is exact. At 1 bit/s or 400 Gb/s, nothing is rounded away.
 *
 * A frame may leave while the credit is not negative; it is charged whole and may leave a debt that
 * is paid off at the current rate, so that a rate change shortens or lengthens a wait already begun.
 *
 * Bound (tested): over any interval of t ns at a constant rate, at most
 * rate_bps * t / 8e9 + burst_bytes + one frame bytes are sent.
 */
#ifndef QUENCH_PACER_TOKEN_BUCKET_H
#define QUENCH_PACER_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define NANOBITS_PER_BYTE (8 * (int64_t)NS_PER_SEC)

struct token_bucket {
	int64_t credit_nanobits; /* in [-2^62, cap_nanobits] */
	uint64_t updated_ns;
	uint64_t rate_bps; /* wire bytes; 0 stops the bucket */
	int64_t cap_nanobits;
};

/** Start full. burst_bytes is how far a late sender may catch up; at most 1 GB. */
void token_bucket_init(struct token_bucket *tb, uint64_t rate_bps, uint64_t burst_bytes, uint64_t now_ns);

/** Change the rate from now on: what was earned until now was earned at the old rate. */
void token_bucket_set_rate(struct token_bucket *tb, uint64_t rate_bps, uint64_t now_ns);

/** Change the burst; credit above it is lost. */
void token_bucket_set_burst(struct token_bucket *tb, uint64_t burst_bytes);

/** Earn what time has brought. now_ns never decreases for one bucket. */
void token_bucket_update(struct token_bucket *tb, uint64_t now_ns);

/** May a frame leave now? Call after token_bucket_update(). */
static inline bool
token_bucket_can_send(const struct token_bucket *tb)
{
	return tb->credit_nanobits >= 0;
}

/** Charge what was sent. bytes < 2^29. */
static inline void
token_bucket_charge(struct token_bucket *tb, uint32_t bytes)
{
	tb->credit_nanobits -= bytes * NANOBITS_PER_BYTE;
}

/** First time at which can_send() is true if nothing is charged before; NEVER_NS at rate 0 in debt. */
uint64_t token_bucket_next_ns(const struct token_bucket *tb);

#endif
