/* SPDX-License-Identifier: BSD-3-Clause */
/* Applying the requested state of a port, by its owner. */
#include "switch/egress/egress.h"

#include "switch/egress/closed.h"
#include "switch/egress/pfc.h"

static struct sw_port_state
read_requested(const struct sw_port_state *w)
{
	return (struct sw_port_state){
		.link_down = __atomic_load_n(&w->link_down, __ATOMIC_RELAXED),
		.link_down_confirms = __atomic_load_n(&w->link_down_confirms, __ATOMIC_RELAXED),
		.tx_disabled = __atomic_load_n(&w->tx_disabled, __ATOMIC_RELAXED),
		.shutdown = __atomic_load_n(&w->shutdown, __ATOMIC_RELAXED),
		.pfc_prios = __atomic_load_n(&w->pfc_prios, __ATOMIC_RELAXED),
		.storm_drop = __atomic_load_n(&w->storm_drop, __ATOMIC_RELAXED),
		.storm_forward = __atomic_load_n(&w->storm_forward, __ATOMIC_RELAXED),
		.pfc_delay_quanta = __atomic_load_n(&w->pfc_delay_quanta, __ATOMIC_RELAXED),
	};
}

static void
set_bit(uint64_t *mask, uint16_t port, bool on)
{
	if (on)
		__atomic_fetch_or(mask, 1ull << port, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(mask, ~(1ull << port), __ATOMIC_RELAXED);
}

/* Has a port that shares the bit of down_ports no link? */
static bool
other_is_down(const struct sw *sw, uint16_t port)
{
	for (uint16_t other = port % 64; other < sw->n_ports; other += 64)
		if (other != port && sw->forward.ports[other].is_down)
			return true;
	return false;
}

/* Set a port's bit of down_ports in all shards. Only the port's owner calls this. */
static void
set_down(struct sw *sw, uint16_t port, bool down)
{
	sw->forward.ports[port].is_down = down;
	for (uint16_t i = 0; i < sw_shard_count(sw); i++)
		set_bit(&sw_shard_at(sw, i)->forward.down_ports, port % 64,
			down || other_is_down(sw, port));
}

static void
link_down(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	set_down(sw, port, true);
	for (uint8_t queue = 0; queue < TM_CLASSES; queue++)
		sw_closed_flush(sw, port, queue, sw_closed_reason(&sw->ports[port]), now_ns);
	sw_pfc_reset(sw, port, now_ns);
}

static void
close_queues(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	uint8_t storm = qos_map_paused_queues(&sw_classes_of(sw, port)->qos, p->now.storm_drop);
	uint8_t fresh = storm & (uint8_t)~p->closed_queues;

	p->storm_pgs = p->now.storm_drop | p->now.storm_forward;
	p->closed_queues = p->now.link_down ? UINT8_MAX : storm;
	sw_port_set_decides(p);
	for (; fresh != 0 && !p->now.link_down; fresh &= (uint8_t)(fresh - 1))
		sw_closed_flush_storm(sw, port, (uint8_t)__builtin_ctz(fresh), now_ns);
}

void
sw_port_apply(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	bool was_down = p->now.link_down;
	uint8_t looks = p->now.link_down_confirms;

	p->now = read_requested(&p->requested);
	if (!p->now.link_down || p->now.link_down_confirms != looks)
		__atomic_store_n(&p->heard, false, __ATOMIC_RELAXED);
	if (p->heard && !p->now.shutdown)
		p->now.link_down = false;
	if (p->now.link_down && !was_down)
		link_down(sw, port, now_ns);
	else if (!p->now.link_down)
		set_down(sw, port, false);
	close_queues(sw, port, now_ns);
	sw_pfc_apply(sw, port, now_ns);
	node_wake(&sw->node, port);
}

void
sw_port_hear(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	__atomic_store_n(&sw->ports[port].heard, true, __ATOMIC_RELAXED);
	sw_port_apply(sw, port, now_ns);
}
