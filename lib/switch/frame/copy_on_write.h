/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing into frames: first a private copy where others read the same bytes, then the tag.
 *
 * Invariant (tested): no other holder of a frame sees a byte of it change.
 */
#ifndef QUENCH_SWITCH_FRAME_COPY_ON_WRITE_H
#define QUENCH_SWITCH_FRAME_COPY_ON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "switch/frame/pools.h"

struct rte_mbuf;

/* Of sw_retag(), beside a TCI. */
#define SW_UNTAGGED (-1)

/**
 * A copy of a frame, in data of its own.
 *
 * @return  Owned by the caller; NULL: there is no mbuf, or none that is long enough. m stays the
 *          caller's.
 */
struct rte_mbuf *sw_copy_frame(const struct sw_pools *pools, struct rte_mbuf *m);

/**
 * The frame with data that nobody else reads, so that it may be written.
 *
 * @param m  Owned by the caller, who owns what is returned instead: m, or its copy.
 * @return   NULL when no copy could be had: m is as it was, and still the caller's.
 */
struct rte_mbuf *sw_make_writable(const struct sw_pools *pools, struct rte_mbuf *m);

/**
 * Put a tag on a frame, change it, or take it off (tci SW_UNTAGGED). Ownership as
 * sw_make_writable().
 */
struct rte_mbuf *sw_retag(const struct sw_pools *pools, struct rte_mbuf *m, bool tagged,
			  int32_t tci);

#endif
