/* SPDX-License-Identifier: BSD-3-Clause */
/* A port's state from outside: what other threads ask for, put in force by the owner. */
#include <rte_mbuf.h>

#include "switch/sw_shard.h"

/* control() and the program's other threads wake ports beside the owner, who ignores it but in
 * virtual time, where there is one thread. */
void
sw_wish_made(struct sw *sw, uint16_t port)
{
	sw_wake(sw, port);
	sw_want(sw_owner(sw, port), SW_WANT_PORTS);
}

void
sw_set_link(struct node *node, uint16_t port, bool up, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);
	struct sw_port *p = &sw->ports[port];

	if (p->wish.link_down == !up) {
		/* Who looks again and still sees no link knows better than a frame of before. */
		if (!up && __atomic_load_n(&p->heard, __ATOMIC_RELAXED)) {
			__atomic_store_n(&p->wish.link_down_looks,
					 (uint8_t)(p->wish.link_down_looks + 1), __ATOMIC_RELAXED);
			sw_wish_made(sw, port);
		}
		return;
	}
	sw_event_record(sw, &(struct sw_event){.at_ns = now_ns,
					       .kind = up ? SW_EVENT_LINK_UP : SW_EVENT_LINK_DOWN,
					       .port = port});
	if (!up)
		sw_dcbx_link_down(sw, port, now_ns);
	__atomic_store_n(&p->wish.link_down, !up, __ATOMIC_RELAXED);
	sw_wish_made(sw, port);
}

void
sw_set_tx_disabled(struct node *node, uint16_t port, bool disabled)
{
	struct sw *sw = sw_of(node);

	__atomic_store_n(&sw->ports[port].wish.tx_disabled, disabled, __ATOMIC_RELAXED);
	sw_wish_made(sw, port);
}

void
sw_set_pfc_delay(struct node *node, uint16_t port, uint16_t quanta)
{
	struct sw *sw = sw_of(node);

	__atomic_store_n(&sw->ports[port].wish.pfc_delay_quanta, quanta, __ATOMIC_RELAXED);
	sw_wish_made(sw, port);
}

bool
sw_tx_disabled(const struct node *node, uint16_t port)
{
	return __atomic_load_n(&sw_of_const(node)->ports[port].wish.tx_disabled, __ATOMIC_RELAXED);
}

uint16_t
sw_pfc_delay(const struct node *node, uint16_t port)
{
	return __atomic_load_n(&sw_of_const(node)->ports[port].wish.pfc_delay_quanta,
			       __ATOMIC_RELAXED);
}

static struct sw_port_wish
read_wish(const struct sw_port_wish *w)
{
	return (struct sw_port_wish){
		.link_down = __atomic_load_n(&w->link_down, __ATOMIC_RELAXED),
		.link_down_looks = __atomic_load_n(&w->link_down_looks, __ATOMIC_RELAXED),
		.tx_disabled = __atomic_load_n(&w->tx_disabled, __ATOMIC_RELAXED),
		.pfc_prios = __atomic_load_n(&w->pfc_prios, __ATOMIC_RELAXED),
		.storm_drop = __atomic_load_n(&w->storm_drop, __ATOMIC_RELAXED),
		.storm_forward = __atomic_load_n(&w->storm_forward, __ATOMIC_RELAXED),
		.pfc_delay_quanta = __atomic_load_n(&w->pfc_delay_quanta, __ATOMIC_RELAXED),
	};
}

static void
link_down(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	sw_set_down(sw, port, true);
	for (uint8_t queue = 0; queue < TM_CLASSES; queue++)
		sw_flush_queue(sw, port, queue, SW_DROP_LINK_DOWN, now_ns);
	sw_pfc_reset(sw, port, now_ns);
}

static void
close_queues(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	uint8_t storm = qos_map_paused_queues(&sw->qos, p->now.storm_drop);
	uint8_t fresh = storm & (uint8_t)~p->closed_queues;

	p->storm_pgs = p->now.storm_drop | p->now.storm_forward;
	p->closed_queues = p->now.link_down ? UINT8_MAX : storm;
	for (; fresh != 0 && !p->now.link_down; fresh &= (uint8_t)(fresh - 1))
		sw_pfcwd_flush(sw, port, (uint8_t)__builtin_ctz(fresh), now_ns);
}

void
sw_port_apply(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	bool was_down = p->now.link_down;
	uint8_t looks = p->now.link_down_looks;

	p->now = read_wish(&p->wish);
	if (!p->now.link_down || p->now.link_down_looks != looks)
		__atomic_store_n(&p->heard, false, __ATOMIC_RELAXED);
	if (p->heard)
		p->now.link_down = false;
	if (p->now.link_down && !was_down)
		link_down(sw, port, now_ns);
	else if (!p->now.link_down)
		sw_set_down(sw, port, false);
	close_queues(sw, port, now_ns);
	sw_pfc_apply(sw, p, now_ns);
	node_wake(&sw->node, port);
}

void
sw_hear(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	__atomic_store_n(&sw->ports[port].heard, true, __ATOMIC_RELAXED);
	sw_port_apply(sw, port, now_ns);
}

void
sw_do_wanted(struct sw *sw, uint64_t now_ns)
{
	uint32_t what = __atomic_exchange_n(&sw->wanted, 0, __ATOMIC_ACQUIRE);

	if (what & SW_WANT_RELOAD)
		sw_do_reload(sw, now_ns);
	if (what & SW_WANT_CLEAR)
		sw_do_clear_watermarks(sw);
	if (what & SW_WANT_SNAPSHOT)
		sw_do_snapshot(sw, now_ns);
	if (what & SW_WANT_SWEEP)
		fdb_sweep(sw->fdb, now_ns);
	for (uint16_t port = 0; what & SW_WANT_PORTS && port < sw->n_ports; port++) {
		if (sw_owns(sw, port))
			sw_port_apply(sw, port, now_ns);
	}
	/* After the ports: the first frame of a link comes with it. */
	if (what & SW_WANT_LLDP)
		sw_dcbx_send(sw);
}
