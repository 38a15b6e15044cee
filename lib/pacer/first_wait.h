/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spreads the first frames of senders that start together and have equal rates: without this, they
 * send at the same instant again and again.
 *
 * The k-th sender of an address waits for a fraction k phi + address sqrt(2), modulo 1, of the time
 * of a frame. Multiples of an irrational number fill the circle evenly, however many there are; the
 * second number keeps hosts apart whose senders have the same numbers.
 *
 * Bound (tested): of n consecutive numbers, every part p of the period gets n p frames, give or
 * take a few (the discrepancy of the golden ratio's multiples grows with log n).
 */
#ifndef QUENCH_PACER_FIRST_WAIT_H
#define QUENCH_PACER_FIRST_WAIT_H

#include <stdint.h>

#include "pacer/token_bucket.h"

/** Debt of a bucket with which a sender starts, below the charge of a frame of wire_bytes. */
static inline int64_t
first_wait_nanobits(uint32_t number, uint32_t address, uint32_t wire_bytes)
{
	/* As fractions of 2^32. */
	uint32_t turn = number * 0x9E3779B9u + address * 0x6A09E668u;

	/* Below 2^29 x 8e9 x 2^32: 94 bits. */
	return (int64_t)((unsigned __int128)(wire_bytes * (uint64_t)NANOBITS_PER_BYTE) * turn >>
			 32);
}

#endif
