/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Release of ingress charges. A charge of another shard's group is returned to that shard instead.
 *
 * Invariant (tested): an admitted charge is released once, by the last holder of the frame.
 */
#ifndef QUENCH_SWITCH_EGRESS_SW_RELEASE_H
#define QUENCH_SWITCH_EGRESS_SW_RELEASE_H

#include <rte_mbuf.h>
#include "switch/egress/pfc.h"
#include "switch/core/switch.h"
#include "switch/frame/charge.h"
#include "switch/shard/give_back.h"

/*
 * Charges that a departing burst releases, by group. Each group's limit is checked once, after the
 * whole burst, with the same result, because all frames of the burst leave at the same time. The
 * sum of the last frame's group is here, and those of the groups before it are in sw->release.
 */
struct sw_releases {
	uint16_t n;      /* groups in sw->release */
	uint16_t group;  /* of the last frame */
	uint64_t charge; /* of this group, not in sw->release yet */
};

/** Release the charges of the packets that have left. */
void sw_release_all(struct sw *sw, struct sw_releases r, uint64_t now_ns);

/**
 * A packet leaves its queue: release its ingress charge. A flooded frame's charge is released when
 * its last copy leaves.
 */
void sw_leave_ingress(struct sw *sw, const struct sw_entry *e, uint64_t now_ns);

/* Inline definitions */

static inline void
sw_ingress_release(struct sw *sw, uint16_t port, uint8_t pg, uint64_t charge, uint64_t now_ns)
{
	mmu_ingress_release(sw->mmu, port, pg, sw_charge_bytes(charge), sw_charge_packets(charge));
	if (sw_classes_of(sw, port)->lossless_pgs >> pg & 1)
		sw_update_lossless(sw, port, pg, now_ns);
}

/**
 * Release the ingress charge of an admitted frame that is dropped. The end of the burst checks
 * XOFF.
 */
static inline void
sw_refund(struct sw *sw, uint16_t port, uint8_t pg, uint32_t charged_bytes)
{
	if (likely(sw_owns(&sw->shard, port)))
		mmu_ingress_release(sw->mmu, port, pg, charged_bytes, 1);
	else
		sw_give_back(&sw->shard, port, pg, sw_charge(charged_bytes));
}

/**
 * Add n, which may be negative, to the number of copies of a flooded frame. @return the new number.
 */
static inline uint32_t
sw_hold_copies(const struct sw *sw, struct rte_mbuf *origin, int32_t n)
{
	uint32_t *copies = &pkt_meta(origin)->copies;

	if (likely(sw->shard.shards == NULL))
		return *copies += (uint32_t)n;
	return __atomic_add_fetch(copies, (uint32_t)n, __ATOMIC_ACQ_REL);
}

/* Move the sum of the last frame's group to sw->release. */
static inline void
sw_release_spill(struct sw *sw, struct sw_releases *r)
{
	if (r->charge == 0)
		return;
	if (sw->release.charge[r->group] == 0)
		sw->release.groups[r->n++] = r->group;
	sw->release.charge[r->group] += r->charge;
	r->charge = 0;
}

static inline void
sw_release_later(struct sw *sw, struct sw_releases *r, uint16_t group, uint32_t charged_bytes)
{
	if (group != r->group)
		sw_release_spill(sw, r);
	r->group = group;
	r->charge += sw_charge(charged_bytes);
}

/** As sw_leave_ingress(), but the charge is released by sw_release_all(). */
static inline void
sw_leave_ingress_later(struct sw *sw, struct sw_releases *r, const struct sw_entry *e)
{
	struct rte_mbuf *origin;

	if (likely(!(sw_entry_flags(e) & (PKT_CLONE | PKT_GENERATED)))) {
		sw_release_later(sw, r, sw_entry_group(e), sw_entry_charged_bytes(e));
		return;
	}
	if (sw_entry_flags(e) & PKT_GENERATED)
		return;
	origin = pkt_meta(sw_entry_mbuf(e))->origin;
	if (sw_hold_copies(sw, origin, -1) > 0)
		return;
	sw_release_later(sw, r, sw_entry_group(e), sw_entry_charged_bytes(e));
	rte_pktmbuf_free(origin);
}

#endif
