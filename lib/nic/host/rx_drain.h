/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive buffer with a constant drain rate: models a slow receiver.
 *
 * Accepted frames fill it, and a host empties it at drain_rate without interruption. At xoff_bytes
 * or above, the sender must be paused; at xon_bytes or below, it may resume. A frame that does not
 * fit into buffer_bytes is lost. The drain takes bytes numbered from 0 at time 0, modulo 2^64. The
 * only state is the number of the byte up to which the buffer is filled. So an idle buffer costs
 * nothing, no remainder of the rate is lost, and several lcores can fill one buffer with one atomic
 * operation per frame. Numbers wrap: at 800 Gb/s, a buffer that got no frame for 5.8 years seems
 * filled again for at most 86 ms.
 *
 * Invariant (tested): in any time t, accepted bytes <= drain_rate t + buffer_bytes + 1.
 */
#ifndef QUENCH_NIC_HOST_RX_DRAIN_H
#define QUENCH_NIC_HOST_RX_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "base/numbers/units.h"

struct rx_drain_params {
	uint64_t drain_rate_bps; /* frame bytes with FCS; 0: the receiver is not slow */
	/* per priority */
	uint64_t xoff_bytes;
	uint64_t xon_bytes;
	uint64_t buffer_bytes;
	/* limits on pauses: pause_storm.h */
	uint64_t device_stall_minor_watermark_ns;
	uint64_t device_stall_critical_watermark_ns;
};

FIELD_TABLE(rx_drain_fields);

/** Ranges and rules across keys. @return 0, or as params_refuse(). */
int rx_drain_params_check(const struct rx_drain_params *params, char *why, unsigned int why_size);

/* Buffer of one priority. Zero-initialised: empty. */
struct rx_drain {
	uint64_t filled_bytes; /* atomic; the buffer is empty when the drain reaches this byte */
};

/**
 * Bytes in the buffer, rounded up. Here and below, drain_rate_bps > 0, except in rx_drain_refill()
 * with bytes = 0.
 */
uint64_t rx_drain_bytes(const struct rx_drain *d, const struct rx_drain_params *params,
			uint64_t now_ns);

/** Set the buffer's content at now_ns to `bytes`, when params have a new rate. */
void rx_drain_refill(struct rx_drain *d, const struct rx_drain_params *params, uint64_t bytes,
		     uint64_t now_ns);

/** A frame arrives. @return false: it does not fit. */
bool rx_drain_admit(struct rx_drain *d, const struct rx_drain_params *params, uint32_t bytes,
		    uint64_t now_ns);

/** Should the sender be paused now? held: is it paused already? */
bool rx_drain_wants_xoff(const struct rx_drain *d, const struct rx_drain_params *params, bool held,
			 uint64_t now_ns);

/**
 * Time at which the buffer will have drained to xon_bytes if no frame arrives; at most now_ns if it
 * has already.
 */
uint64_t rx_drain_xon_ns(const struct rx_drain *d, const struct rx_drain_params *params,
			 uint64_t now_ns);

#endif
