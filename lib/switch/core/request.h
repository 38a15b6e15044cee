/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of other threads to a shard's owner, who serves them before its next frame: a bit for
 * each kind, and its argument.
 *
 * Invariant: an argument is written before its bit is set.
 */
#ifndef QUENCH_SWITCH_CORE_REQUEST_H
#define QUENCH_SWITCH_CORE_REQUEST_H

#include <stdint.h>

struct sw_forwarding;
struct sw_params;
struct sw_snapshot;

#define SW_REQUEST_SWEEP 0x1u
#define SW_REQUEST_PORTS 0x2u
#define SW_REQUEST_CLEAR 0x4u
#define SW_REQUEST_LLDP 0x8u
#define SW_REQUEST_SNAPSHOT 0x10u
#define SW_REQUEST_RELOAD 0x20u
#define SW_REQUEST_NEXT_HOPS 0x40u

struct sw_request {
	uint32_t pending;                  /* SW_REQUEST_* */
	uint32_t clear_watermarks;         /* mask of kinds */
	struct sw_snapshot *snapshot;      /* requested, or NULL */
	const struct sw_params *reload;    /* to be put in force, or NULL */
	const struct sw_forwarding *adopt; /* forwarding tables of the reload, or NULL */
};

/** Set request bits; from any thread. */
static inline void
sw_post_request(struct sw_request *request, uint32_t what)
{
	__atomic_fetch_or(&request->pending, what, __ATOMIC_RELEASE);
}

/** Pending requests, a mask of SW_REQUEST_*. */
static inline uint32_t
sw_requested(const struct sw_request *request)
{
	return __atomic_load_n(&request->pending, __ATOMIC_RELAXED);
}

#endif
