/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/egress/sw_release.h"

static __rte_always_inline void
release(struct sw *sw, uint16_t group, uint64_t charge, uint64_t now_ns)
{
	uint16_t port = group / TM_CLASSES;
	uint8_t pg = group % TM_CLASSES;

	if (likely(sw_owns(&sw->shard, port)))
		sw_ingress_release(sw, port, pg, charge, now_ns);
	else
		sw_give_back(&sw->shard, port, pg, charge);
}

void
sw_release_all(struct sw *sw, struct sw_releases r, uint64_t now_ns)
{
	/* All frames have one group, as a single frame does. */
	if (r.n == 0) {
		if (likely(r.charge != 0))
			release(sw, r.group, r.charge, now_ns);
		return;
	}
	sw_release_spill(sw, &r);
	for (uint16_t i = 0; i < r.n; i++) {
		uint16_t group = sw->release.groups[i];

		release(sw, group, sw->release.charge[group], now_ns);
		sw->release.charge[group] = 0;
	}
}

void
sw_leave_ingress(struct sw *sw, const struct sw_entry *e, uint64_t now_ns)
{
	struct sw_releases r = {0};

	sw_leave_ingress_later(sw, &r, e);
	sw_release_all(sw, r, now_ns);
}
