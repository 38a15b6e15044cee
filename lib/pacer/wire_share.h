/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One wire shared by senders on several lcores: each reserves its next bytes and learns when they
 * may leave. Reservations are served in their order. Backlogged senders that poll equally often get
 * equal shares. Capacity that one sender does not reserve goes to the others. A reservation is one
 * compare-and-swap, without a lock.
 *
 * A sender reserves again when its last reservation is used up, and keeps what it does not use.
 * Bound (tested): in any interval of t all senders together send at most rate_bps * t / 8, plus
 * burst_bytes, plus one reservation and one frame of each sender. Bytes are counted from time 0
 * modulo 2^64 and times are computed from them, so rounding does not accumulate. After 2.9 years
 * without a reservation at 1.6 Tb/s the wire may look reserved for up to 43 ms.
 */
#ifndef QUENCH_PACER_WIRE_SHARE_H
#define QUENCH_PACER_WIRE_SHARE_H

#include <stdint.h>

struct wire_share {
	uint64_t reserved_bytes; /* atomic: since time 0, modulo 2^64 */
	uint64_t rate_bps;
	uint64_t burst_bytes; /* bytes by which late senders together may catch up */
};

void wire_share_init(struct wire_share *w, uint64_t rate_bps, uint64_t burst_bytes);

/** Reserve bytes. @return the earliest time at which they may leave; at most now_ns: at once. */
uint64_t wire_share_reserve(struct wire_share *w, uint32_t bytes, uint64_t now_ns);

#endif
