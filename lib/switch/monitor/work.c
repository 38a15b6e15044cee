/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/monitor/work.h"

#include "base/numbers/fixed.h"
#include "switch/monitor/sw_dcbx.h"
#include "switch/monitor/sw_pfcwd.h"
#include "switch/control/control_state.h"
#include "switch/forward/routing_table.h"
#include "switch/monitor/watermarks.h"

/* A reload may replace the table; the old one stays allocated for readers. */
static const struct fdb *
fdb_of(const struct sw *sw)
{
	return __atomic_load_n(&sw_shard_at(sw, 0)->forward.fdb, __ATOMIC_ACQUIRE);
}

/*
 * Request a step of ageing. The owner does it in its next rx() or tx(), since the table belongs to
 * the data path.
 */
static uint64_t
age_control(struct sw *sw, uint64_t now_ns)
{
	uint64_t interval_ns = fdb_sweep_interval_ns(fdb_of(sw));

	if (interval_ns == NEVER_NS)
		return NEVER_NS;
	if (now_ns >= sw->control->sweep_ns) {
		struct sw *owner = sw_shard_at(sw, 0);

		sw_post_request(&owner->request, SW_REQUEST_SWEEP);
		/* In virtual time an owner without frames is not called unless a port is woken. */
		sw_wake(sw, (uint16_t)__builtin_ctzll(owner->shard.own_ports));
		sw->control->sweep_ns = add_sat(now_ns, interval_ns);
	}
	return sw->control->sweep_ns;
}

/* Time between two checks of the routes' next hops; NEVER_NS: there are none. */
static uint64_t
check_interval_ns(struct sw *sw)
{
	struct sw_forwardings *f = &sw->control->forwarding;
	const struct sw_routing_table *routes;
	uint64_t interval_ns = NEVER_NS;

	rte_spinlock_lock(&f->routes_lock);
	routes = f->in_force.routes;
	if (routes != NULL && routes->n_routes > 0)
		interval_ns = routes->params.neigh_retrans_time_ns;
	rte_spinlock_unlock(&f->routes_lock);
	return interval_ns;
}

/* Request a check of the routes' next hops, each neigh_retrans_time_ns. */
static uint64_t
next_hops_control(struct sw *sw, uint64_t now_ns)
{
	struct sw *owner = sw_shard_at(sw, 0);
	uint64_t *due_ns = &sw->control->next_hops_ns, interval_ns, never = NEVER_NS;

	if (now_ns < __atomic_load_n(due_ns, __ATOMIC_RELAXED))
		return __atomic_load_n(due_ns, __ATOMIC_RELAXED);
	/* sw_reload_settle() may set it to 0 meanwhile, for new routes. */
	__atomic_store_n(due_ns, NEVER_NS, __ATOMIC_SEQ_CST);
	interval_ns = check_interval_ns(sw);
	__atomic_compare_exchange_n(due_ns, &never, add_sat(now_ns, interval_ns), false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	if (interval_ns != NEVER_NS) {
		sw_post_request(&owner->request, SW_REQUEST_NEXT_HOPS);
		sw_wake(sw, (uint16_t)__builtin_ctzll(owner->shard.own_ports));
	}
	return __atomic_load_n(due_ns, __ATOMIC_RELAXED);
}

uint64_t
sw_control_work(struct sw *sw, uint64_t now_ns)
{
	uint64_t next_ns = age_control(sw, now_ns);

	next_ns = min_u64(next_ns, next_hops_control(sw, now_ns));
	next_ns = min_u64(next_ns, sw_watermarks_control(sw, now_ns));
	next_ns = min_u64(next_ns, sw_pfcwd_control(sw, now_ns));
	return min_u64(next_ns, sw_dcbx_control(sw, now_ns));
}
