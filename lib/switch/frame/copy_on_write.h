/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copy on write: if other packets share a frame's data, the frame is copied before it is changed.
 * Also adds and removes VLAN tags.
 *
 * Invariant (tested): no other holder of a frame sees a byte of it change.
 */
#ifndef QUENCH_SWITCH_FRAME_COPY_ON_WRITE_H
#define QUENCH_SWITCH_FRAME_COPY_ON_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_mbuf.h>

#include "switch/frame/pools.h"

/* Value of tci with which sw_retag() removes the tag. */
#define SW_UNTAGGED (-1)

/**
 * Copy a frame with its data.
 *
 * @return  Owned by the caller, as m still is; NULL: no mbuf is free, or the frame is too long.
 */
struct rte_mbuf *sw_copy_frame(const struct sw_pools *pools, struct rte_mbuf *m);

/**
 * Make a frame writable: return m if nobody else holds its data, else a private copy.
 *
 * @param m  Owned by the caller, who afterwards owns the returned frame instead.
 * @return   NULL: no mbuf is free; m is unchanged and still the caller's.
 */
struct rte_mbuf *sw_make_writable(const struct sw_pools *pools, struct rte_mbuf *m);

/**
 * Add a tag to a frame, change its tag, or remove it (tci SW_UNTAGGED). Ownership as in
 * sw_make_writable().
 */
struct rte_mbuf *sw_retag(const struct sw_pools *pools, struct rte_mbuf *m, bool tagged,
			  int32_t tci);

/* Inline definitions */

/** Is this packet the only holder of its data? */
static inline bool
sw_is_writable(const struct rte_mbuf *m)
{
	if (rte_mbuf_refcnt_read(m) != 1)
		return false;
	if (RTE_MBUF_CLONED(m))
		return rte_mbuf_refcnt_read(rte_mbuf_from_indirect((struct rte_mbuf *)m)) == 1;
	return !RTE_MBUF_HAS_EXTBUF(m) || rte_mbuf_ext_refcnt_read(m->shinfo) == 1;
}

#endif
