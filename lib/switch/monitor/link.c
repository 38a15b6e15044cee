/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/monitor/link.h"

#include "switch/monitor/sw_dcbx.h"
#include "switch/control/event_log.h"
#include "switch/control/owners.h"
#include "switch/core/switch.h"

void
sw_set_link(struct node *node, uint16_t port, bool up, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);
	struct sw_port *p = &sw->ports[port];

	up = up && !p->requested.shutdown;
	if (p->requested.link_down == !up) {
		/* A frame received while the link was reported down counts as link up. This later
		 * poll reports down again, so it overrides the frame. */
		if (!up && __atomic_load_n(&p->heard, __ATOMIC_RELAXED)) {
			__atomic_store_n(&p->requested.link_down_confirms,
					 (uint8_t)(p->requested.link_down_confirms + 1),
					 __ATOMIC_RELAXED);
			sw_want_port(sw, port);
		}
		return;
	}
	sw_event_record(sw, &(struct sw_event){.at_ns = now_ns,
					       .kind = up ? SW_EVENT_LINK_UP : SW_EVENT_LINK_DOWN,
					       .port = port});
	if (!up)
		sw_dcbx_link_down(sw, port, now_ns);
	__atomic_store_n(&p->requested.link_down, !up, __ATOMIC_RELAXED);
	sw_want_port(sw, port);
}

void
sw_set_shutdown(struct node *node, uint16_t port, bool shutdown, uint64_t now_ns)
{
	struct sw_port *p = &sw_of(node)->ports[port];

	if (p->requested.shutdown == shutdown)
		return;
	__atomic_store_n(&p->requested.shutdown, shutdown, __ATOMIC_RELAXED);
	/* The next poll says so if there is no link. */
	sw_set_link(node, port, !shutdown, now_ns);
}

void
sw_set_tx_disabled(struct node *node, uint16_t port, bool disabled)
{
	struct sw *sw = sw_of(node);

	__atomic_store_n(&sw->ports[port].requested.tx_disabled, disabled, __ATOMIC_RELAXED);
	sw_want_port(sw, port);
}

void
sw_set_pfc_delay(struct node *node, uint16_t port, uint16_t quanta)
{
	struct sw *sw = sw_of(node);

	__atomic_store_n(&sw->ports[port].requested.pfc_delay_quanta, quanta, __ATOMIC_RELAXED);
	sw_want_port(sw, port);
}

bool
sw_tx_disabled(const struct node *node, uint16_t port)
{
	return __atomic_load_n(&sw_of_const(node)->ports[port].requested.tx_disabled,
			       __ATOMIC_RELAXED);
}

uint16_t
sw_pfc_delay(const struct node *node, uint16_t port)
{
	return __atomic_load_n(&sw_of_const(node)->ports[port].requested.pfc_delay_quanta,
			       __ATOMIC_RELAXED);
}
