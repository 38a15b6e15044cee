/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/egress/pfc.h"

#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "wire/bytes/be.h"
#include "wire/link/pfc_frame.h"

/*
 * Time until the next attempt after the mbuf pool was empty, so that an event loop does not spin.
 */
#define PFC_RETRY_NS (1 * NS_PER_US)
/* The priority that represents the whole link under link pause. */
#define LINK_PRIO 0

void
sw_pfc_set_port(struct sw *sw, uint16_t port, const struct sw_params *params)
{
	struct sw_port *p = &sw->ports[port];
	const struct sw_port_params *pp = &params->ports[port];

	/* Until DCBX has agreed on priorities, flow_control = auto is PFC without priorities. */
	p->flow_control = pp->flow_control == SW_FLOW_AUTO ? SW_FLOW_PFC : pp->flow_control;
	p->pausable_prios = pp->flow_control == SW_FLOW_PAUSE ? 1u << LINK_PRIO
							      : sw_port_obeyed_prios(params, port);
	pfc_tx_set_params(&p->pfc_tx, &params->pfc, pp->link_speed_bps);
}

void
sw_pfc_init_port(struct sw *sw, uint16_t port, const struct sw_params *params)
{
	struct sw_port *p = &sw->ports[port];
	const struct sw_port_params *pp = &params->ports[port];

	pfc_rx_init(&p->pfc_rx, 0, pp->link_speed_bps);
	pfc_tx_init(&p->pfc_tx, &params->pfc, pp->link_speed_bps);
	sw_pfc_set_port(sw, port, params);
	p->requested = (struct sw_port_state){
		.tx_disabled = pp->tx_disabled,
		.pfc_prios =
			pp->flow_control == SW_FLOW_AUTO ? 0 : sw_port_qos(params, port).pfc_enable,
		.pfc_delay_quanta = pp->pfc_delay_quanta,
	};
	p->now = p->requested;
	sw_pfc_apply(sw, port, 0);
}

void
sw_pfc_update_paused(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	uint8_t prios = pfc_rx_paused(&p->pfc_rx, now_ns);

	if (p->now.tx_disabled)
		p->paused_queues = UINT8_MAX;
	else if (p->flow_control == SW_FLOW_PAUSE)
		p->paused_queues = prios != 0 ? UINT8_MAX : 0;
	else
		p->paused_queues = qos_map_paused_queues(&sw_classes_of(sw, port)->qos, prios);
}

/* Set the priorities for which the peer should pause. */
static void
update_pause(struct sw_port *p)
{
	uint8_t hold = p->xoff_pgs & p->may_pause_pgs;

	if (p->flow_control == SW_FLOW_PAUSE)
		hold = hold != 0 ? 1u << LINK_PRIO : 0;
	pfc_tx_set_all(&p->pfc_tx, hold);
}

void
sw_pfc_apply(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	const struct sw_classes *classes = sw_classes_of(sw, port);
	struct sw_port *p = &sw->ports[port];
	uint8_t obeyed = p->pausable_prios;

	p->may_pause_pgs = classes->lossless_pgs;
	if (p->flow_control == SW_FLOW_PFC) {
		p->may_pause_pgs &= p->now.pfc_prios;
		/*
		 * pfc_asymmetric: obey the priorities that are not in pfc_enable without an
		 * agreement.
		 */
		obeyed &= p->now.pfc_prios | (uint8_t)~classes->qos.pfc_enable;
		/* A priority in a storm neither obeys nor generates (SONiC pfcactionhandler). */
		obeyed &= (uint8_t)~p->storm_pgs;
		p->may_pause_pgs &= (uint8_t)~p->storm_pgs;
	}
	if (p->flow_control == SW_FLOW_OFF || p->now.link_down)
		p->may_pause_pgs = 0;
	pfc_rx_set_enabled(&p->pfc_rx, obeyed, now_ns);
	pfc_rx_set_delay(&p->pfc_rx, p->now.pfc_delay_quanta);
	sw_pfc_update_paused(sw, port, now_ns);
	update_pause(p);
}

void
sw_pfc_reset(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	pfc_rx_reset(&sw->ports[port].pfc_rx, now_ns);
	pfc_tx_reset(&sw->ports[port].pfc_tx, now_ns);
}

void
sw_pfc_set_xoff(struct sw *sw, uint16_t port, uint8_t pg, bool xoff, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];

	(void)now_ns; /* a pause begins when its frame leaves */
	sw->n_xoff += xoff ? 1 : -1u;
	p->xoff_pgs = (uint8_t)((p->xoff_pgs & ~(1u << pg)) | (unsigned int)xoff << pg);
	update_pause(p);
	node_wake(&sw->node, port);
}

void
sw_update_lossless(struct sw *sw, uint16_t port, uint8_t pg, uint64_t now_ns)
{
	sw_update_xoff(sw, port, pg, now_ns);
}

/* Put a received pause in force. */
static void
obey(struct sw *sw, uint16_t port, const struct pfc_vector *v, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];

	pfc_rx_on_frame(&p->pfc_rx, v, now_ns);
	sw_pfc_update_paused(sw, port, now_ns);
	node_wake(&sw->node, port);
}

/* Other threads read it. */
static void
set_pause_source(struct sw_port *p, const uint8_t *frame)
{
	__atomic_store_n(&p->pause_source, be48_load(frame + 6), __ATOMIC_RELAXED);
}

enum sw_drop
sw_pfc_rx_frame(struct sw *sw, uint16_t port, const struct rte_mbuf *m, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct pfc_vector v = {0};
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct mac_control mc;

	if (!mac_control_is_for(frame, p->mac))
		return SW_DROP_MAC_CONTROL_ADDRESS;
	switch (mac_control_parse(frame, m->data_len, &mc)) {
	case MAC_CONTROL_PFC:
		counter_inc(&p->stats.rx_pause_frames);
		set_pause_source(p, frame);
		static_assert(sizeof(v.quanta) == sizeof(mc.quanta), "eight priorities");
		v.enable = mc.enable;
		memcpy(v.quanta, mc.quanta, sizeof(v.quanta));
		if (p->flow_control != SW_FLOW_PAUSE)
			obey(sw, port, &v, now_ns);
		return SW_CONSUMED;
	case MAC_CONTROL_PAUSE:
		counter_inc(&p->stats.rx_global_pause_frames);
		set_pause_source(p, frame);
		v.enable = 1u << LINK_PRIO;
		v.quanta[LINK_PRIO] = mc.quanta[0];
		if (p->flow_control == SW_FLOW_PAUSE)
			obey(sw, port, &v, now_ns);
		return SW_CONSUMED;
	case MAC_CONTROL_UNKNOWN:
		return SW_DROP_MAC_CONTROL_UNKNOWN;
	case MAC_CONTROL_MALFORMED:
		break;
	}
	return SW_DROP_MAC_CONTROL_MALFORMED;
}

static void
build(struct sw_port *p, struct rte_mbuf *m, const struct pfc_vector *v)
{
	uint8_t *frame = (uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES);

	if (p->flow_control == SW_FLOW_PAUSE) {
		pause_frame_build(frame, p->mac, v->quanta[LINK_PRIO]);
		counter_inc(&p->stats.tx_global_pause_frames);
	} else {
		pfc_frame_build(frame, p->mac, v->enable, v->quanta);
		counter_inc(&p->stats.tx_pause_frames);
	}
}

/*
 * Frames of other groups free room below a shared limit, and only the group's own frames look at
 * it. So look again before an XOFF is repeated.
 */
static void
look_before_refresh(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	const struct sw_port *p = &sw->ports[port];

	if (!pfc_tx_refresh_is_due(&p->pfc_tx, now_ns))
		return;
	for (uint8_t m = p->xoff_pgs; m != 0; m &= (uint8_t)(m - 1))
		sw_update_xoff(sw, port, (uint8_t)__builtin_ctz(m), now_ns);
}

struct rte_mbuf *
sw_pfc_take(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct pfc_vector v;
	struct rte_mbuf *m;
	uint32_t charged_bytes;
	bool due;

	if (likely(pfc_tx_next_ns(&p->pfc_tx) > now_ns) || p->pfc_retry_ns > now_ns)
		return NULL;
	/* Allocate first: pfc_tx_take() counts the frame as sent. */
	m = rte_pktmbuf_alloc(sw->pools.pause);
	if (m == NULL) {
		counter_inc(&p->stats.pause_no_mbuf);
		p->pfc_retry_ns = now_ns + PFC_RETRY_NS;
		return NULL;
	}
	look_before_refresh(sw, port, now_ns);
	due = pfc_tx_take(&p->pfc_tx, &v, now_ns);
	assert(due);
	(void)due;
	build(p, m, &v);
	charged_bytes = mmu_charge_bytes(sw->mmu, frame_bytes(PFC_FRAME_BYTES));
	counter_add(&sw->ledger.generated, charged_bytes);
	counter_add(&sw->ledger.sent, charged_bytes);
	return m;
}

/* Time at which a queue resumes: when the last of its paused priorities resumes. */
static uint64_t
queue_resume_ns(const struct sw *sw, uint16_t port, unsigned int queue)
{
	const struct sw_port *p = &sw->ports[port];
	const struct pfc_rx *rx = &p->pfc_rx;
	uint8_t prios = rx->paused;
	uint64_t last_ns = 0;

	if (p->flow_control != SW_FLOW_PAUSE)
		prios &= sw_classes_of(sw, port)->prios_of_queue[queue];
	for (; prios != 0; prios &= (uint8_t)(prios - 1))
		last_ns = max_u64(last_ns, rx->until_ns[__builtin_ctz(prios)]);
	return last_ns;
}

uint64_t
sw_pfc_resume_ns(const struct sw *sw, uint16_t port)
{
	const struct sw_port *p = &sw->ports[port];
	uint64_t first_ns = NEVER_NS;

	if (p->now.tx_disabled)
		return NEVER_NS;
	if (p->pfc_rx.late_n > 0)
		first_ns = p->pfc_rx.late[p->pfc_rx.late_first].due_ns;
	for (uint8_t m = p->backlogged & p->paused_queues; m != 0; m &= (uint8_t)(m - 1)) {
		unsigned int queue = (unsigned int)__builtin_ctz(m);
		uint64_t due_ns = queue_resume_ns(sw, port, queue);

		if (p->above_max >> queue & 1)
			due_ns = max_u64(due_ns, token_bucket_next_ns(&p->queue_shaper[queue].max));
		first_ns = min_u64(first_ns, due_ns);
	}
	return first_ns;
}
