/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/egress/release.h"

void
sw_release_all(struct sw *sw, const struct sw_releases *r, uint64_t now_ns)
{
	for (uint16_t i = 0; i < r->n; i++) {
		uint16_t group = sw->release.groups[i];

		uint16_t port = group / TM_CLASSES;
		uint8_t pg = group % TM_CLASSES;

		if (likely(sw_owns(&sw->shard, port)))
			sw_ingress_release(sw, port, pg, sw->release.charge[group], now_ns);
		else
			sw_give_back(&sw->shard, port, pg, sw->release.charge[group]);
		sw->release.charge[group] = 0;
	}
}

void
sw_leave_ingress(struct sw *sw, const struct sw_entry *e, uint64_t now_ns)
{
	struct sw_releases r = {0};

	sw_leave_ingress_later(sw, &r, e);
	sw_release_all(sw, &r, now_ns);
}
