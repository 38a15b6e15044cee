/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A receive buffer that is drained at a steady rate: what makes a receiver slow.
 *
 * Accepted frames fill it, a host that never pauses for breath empties it at drain_rate, whatever
 * lies in it. At xoff_bytes the sender has to be held, at xon_bytes or below it may go on; a frame
 * that does not fit buffer_bytes is lost. Nothing is kept but the byte up to which it is filled,
 * counted as the drain counts, whole bytes from time 0 modulo 2^64: an idle buffer costs nothing,
 * no remainder of the rate is lost, and several lcores may fill one buffer by an atomic operation
 * for each frame. A buffer that nothing filled for 5.8 years at 800 Gb/s looks filled to such a
 * byte again for at most 86 ms.
 *
 * Invariant (tested): in any time t at most drain_rate t + buffer_bytes of frames are accepted, and
 * one byte.
 */
#ifndef QUENCH_TM_RX_DRAIN_H
#define QUENCH_TM_RX_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/units.h"

struct rx_drain_params {
	uint64_t drain_rate_bps; /* of frame bytes with FCS; 0: the receiver is not slow */
	/* of each priority's buffer */
	uint64_t xoff_bytes;
	uint64_t xon_bytes;
	uint64_t buffer_bytes;
	/* longest pauses: pause_storm.h */
	uint64_t device_stall_minor_watermark_ns;
	uint64_t device_stall_critical_watermark_ns;
};

extern const struct field rx_drain_fields[];
extern const unsigned int rx_drain_fields_n;

/** Ranges and rules across keys. @return 0, or as params_refuse(). */
int rx_drain_params_check(const struct rx_drain_params *params, char *why, unsigned int why_size);

/* Of one priority. Zero-initialised state is empty. */
struct rx_drain {
	uint64_t filled_bytes; /* atomic: the drain empties the buffer when it has got there */
};

/** Bytes in the buffer, rounded up; rate > 0 here and below. */
uint64_t rx_drain_bytes(const struct rx_drain *d, const struct rx_drain_params *params,
			uint64_t now_ns);

/** It holds so many bytes at now_ns, whatever was in it: params have another rate from now on. */
void rx_drain_refill(struct rx_drain *d, const struct rx_drain_params *params, uint64_t bytes,
		     uint64_t now_ns);

/** A frame comes. @return false: there is no room for it. */
bool rx_drain_admit(struct rx_drain *d, const struct rx_drain_params *params, uint32_t bytes,
		    uint64_t now_ns);

/** Should the sender be held now, given that it is or is not? */
bool rx_drain_wants_xoff(const struct rx_drain *d, const struct rx_drain_params *params, bool held,
			 uint64_t now_ns);

/** When it will first have sunk to xon_bytes if nothing more comes; at most now_ns if it has. */
uint64_t rx_drain_xon_ns(const struct rx_drain *d, const struct rx_drain_params *params,
			 uint64_t now_ns);

#endif
