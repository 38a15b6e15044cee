/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One wire, several senders on lcores of their own: each reserves its next bytes, and is told when
 * they may leave. Reservations are served in the order in which they were made, so senders that
 * always have something to send and poll alike get like parts, and what one does not want is the
 * others'; nobody computes a division. One atomic addition for each reservation, no lock.
 *
 * A sender makes its next reservation when the last one is used up, and keeps what it does not use.
 * Bound (tested): over any interval all senders together send at most rate_bps * t / 8, plus
 * burst_bytes, plus one reservation of each sender and its last frame. Bytes are counted whole from
 * the start, modulo 2^64, and time is computed from them: no remainder is lost. A wire that nobody
 * used for 2.9 years at 1.6 Tb/s may look reserved for up to 43 ms.
 */
#ifndef QUENCH_PACER_WIRE_SHARE_H
#define QUENCH_PACER_WIRE_SHARE_H

#include <stdint.h>

struct wire_share {
	uint64_t reserved_bytes; /* atomic: since time 0, modulo 2^64 */
	uint64_t rate_bps;
	uint64_t burst_bytes; /* how far senders that all were late may catch up */
};

void wire_share_init(struct wire_share *w, uint64_t rate_bps, uint64_t burst_bytes);

/** Reserve bytes. @return the time from which on they may leave; at most now_ns if at once. */
uint64_t wire_share_reserve(struct wire_share *w, uint32_t bytes, uint64_t now_ns);

#endif
