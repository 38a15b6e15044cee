/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/monitor/sw_dcbx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "switch/control/event_log.h"
#include "switch/control/owners.h"
#include "switch/control/control_state.h"
#include "switch/params/port_names.h"

/* Interval of the polls for received frames: the longest wait of a frame for the control side. */
#define POLL_NS (100 * NS_PER_MS)
#define PCT 100u

/*
 * Fill in the bandwidth shares, in per cent, by weight. Their sum must be 100: the first classes
 * get what rounding down has left.
 */
static void
fill_bandwidth(struct dcbx_ets *ets, const struct sched_params *sched)
{
	unsigned int sum = 0, given = 0;

	for (unsigned int q = 0; q < TM_CLASSES; q++) {
		bool strict = sched->strict_queues >> q & 1;

		ets->tc_tsa[q] = strict ? DCBX_TSA_STRICT : DCBX_TSA_ETS;
		sum += strict ? 0 : sched->dwrr_weight[q];
	}
	for (unsigned int q = 0; q < TM_CLASSES; q++) {
		if (ets->tc_tsa[q] == DCBX_TSA_ETS)
			ets->tc_pct[q] = (uint8_t)(sched->dwrr_weight[q] * PCT / sum);
		given += ets->tc_pct[q];
	}
	for (unsigned int q = 0; sum > 0 && given < PCT; q = (q + 1) % TM_CLASSES) {
		if (ets->tc_tsa[q] == DCBX_TSA_ETS) {
			ets->tc_pct[q]++;
			given++;
		}
	}
}

/*
 * The traffic class of a priority, which is a queue. A pause of a lossless priority stops its
 * queue. A lossy priority gets the queue of its PCP, but not a lossless one while DSCPs are
 * trusted: the peer would hold back lossy traffic with each pause.
 */
static uint8_t
prio_tc(const struct qos_map_params *qos, uint8_t prio)
{
	uint8_t queue = qos->tc_to_queue_map[qos->dot1p_to_tc_map[prio]];
	uint8_t lossy = (uint8_t)~qos_map_lossless_queues(qos);

	if (qos->pfc_enable >> prio & 1)
		return qos->pfc_priority_to_queue_map[prio];
	if (qos->trust == QOS_TRUST_DSCP && !(lossy >> queue & 1) && lossy != 0)
		return (uint8_t)__builtin_ctz(lossy);
	return queue;
}

static_assert(1 + TM_DSCPS <= DCBX_MAX_APPS, "one entry for each DSCP and one for RoCEv2");

static void
add_app(struct dcbx_tlvs *t, uint8_t prio, enum dcbx_selector selector, uint16_t protocol)
{
	t->apps[t->n_apps++] = (struct dcbx_app){prio, (uint8_t)selector, protocol};
}

/*
 * Advertise the priorities of RoCEv2 (UDP 4791) and, while DSCPs are trusted, of each lossless
 * DSCP.
 */
static void
fill_apps(struct dcbx_tlvs *t, const struct qos_map_params *qos)
{
	if (qos->pfc_enable == 0)
		return;
	add_app(t, (uint8_t)__builtin_ctz(qos->pfc_enable), DCBX_UDP, 4791);
	for (uint8_t dscp = 0; dscp < TM_DSCPS && qos->trust == QOS_TRUST_DSCP; dscp++) {
		uint8_t pg = qos->tc_to_priority_group_map[qos->dscp_to_tc_map[dscp]];

		if (qos->pfc_enable >> pg & 1)
			add_app(t, pg, DCBX_DSCP, dscp);
	}
}

static void
fill_dcbx(struct dcbx_tlvs *t, const struct sw_params *params, uint16_t port)
{
	int flow = params->ports[port].flow_control;
	const struct qos_map_params qos = sw_port_qos(params, port);
	const struct sched_params sched = sw_port_sched(params, port);

	t->present = 1u << DCBX_ETS_CONF | 1u << DCBX_ETS_RECO | 1u << DCBX_PFC | 1u << DCBX_APP;
	t->ets_conf.max_tcs = TM_CLASSES;
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
		t->ets_conf.prio_tc[prio] = prio_tc(&qos, prio);
	fill_bandwidth(&t->ets_conf, &sched);
	t->ets_reco = t->ets_conf;
	t->pfc = (struct dcbx_pfc){
		.willing = params->lldp.dcbx_willing,
		.capability = TM_CLASSES,
		.enable = flow == SW_FLOW_PFC || flow == SW_FLOW_AUTO ? qos.pfc_enable : 0,
	};
	fill_apps(t, &qos);
}

/* The port has the name that operators use, and its number is its description. */
static void
fill_names(struct lldp_info *local, const struct sw_params *params, uint16_t port)
{
	static const uint8_t no_router[6];
	bool routes = memcmp(params->router.router_mac, no_router, 6) != 0;
	char number[16], *name = (char *)local->port.id;
	int n = snprintf(number, sizeof(number), "port%u", port);

	local->port.subtype = LLDP_PORT_IFNAME;
	local->port.len = (uint8_t)snprintf(
		name, LLDP_ID_BYTES, "%s",
		sw_port_has_name(&params->ports[port]) ? params->ports[port].name : number);
	lldp_set_text(&local->port_description, number, (size_t)n);
	lldp_set_text(&local->system_name, params->system_name, strlen(params->system_name));
	lldp_set_text(&local->system_description, params->system_description,
		      strlen(params->system_description));
	local->capabilities = LLDP_BRIDGE | LLDP_ROUTER;
	local->enabled = (uint16_t)(LLDP_BRIDGE | (routes ? LLDP_ROUTER : 0));
}

/* All bytes are set, so that two can be compared. */
static void
fill_local(struct lldp_info *local, const struct sw_params *params, uint16_t port)
{
	memset(local, 0, sizeof(*local));
	memcpy(local->src_mac, params->ports[port].mac, 6);
	local->chassis.subtype = LLDP_CHASSIS_MAC;
	local->chassis.len = 6;
	memcpy(local->chassis.id, params->ports[0].mac, 6);
	fill_names(local, params, port);
	fill_dcbx(&local->dcbx, params, port);
}

int
sw_dcbx_init(struct sw *sw, const struct sw_params *params)
{
	struct sw_lldp *l = &sw->control->lldp;

	l->params = params->lldp;
	/* Without frames of LLDP they remain untouched. */
	sw->lldp.boxes = pages_alloc_sparse(params->n_ports * sizeof(*sw->lldp.boxes));
	sw->lldp.out = pages_alloc_sparse(params->n_ports * sizeof(*sw->lldp.out));
	l->port = calloc(params->n_ports, sizeof(*l->port));
	if (sw->lldp.boxes == NULL || sw->lldp.out == NULL || l->port == NULL)
		return -ENOMEM;
	for (uint16_t port = 0; port < params->n_ports; port++) {
		struct lldp_info local;

		fill_local(&local, params, port);
		dcbx_port_init(&l->port[port], &local);
		if (params->ports[port].flow_control == SW_FLOW_AUTO)
			port_set_add(&l->auto_ports, port);
	}
	return 0;
}

void
sw_dcbx_free(struct sw *sw)
{
	pages_free_sparse(sw->lldp.boxes, sw->n_ports * sizeof(*sw->lldp.boxes));
	pages_free_sparse(sw->lldp.out, sw->n_ports * sizeof(*sw->lldp.out));
	free(sw->control->lldp.port);
}

static void
read_mail(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_lldp *l = &sw->control->lldp;
	struct sw_lldp_box *box = &sw->lldp.boxes[port];

	while (box->read != __atomic_load_n(&box->written, __ATOMIC_ACQUIRE)) {
		const struct sw_lldp_mail *mail = &box->mail[box->read % SW_LLDP_MAILS];

		/* Ignore frames received before the link went down. */
		if (!sw->ports[port].requested.link_down)
			dcbx_port_rx(&l->port[port], &l->params, mail->frame, mail->len, now_ns);
		__atomic_store_n(&box->read, box->read + 1, __ATOMIC_RELEASE);
	}
}

static void
report_change(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	static const enum sw_event_kind kinds[] = {
		[DCBX_NO_NEIGHBOUR] = SW_EVENT_DCBX_NO_NEIGHBOUR,
		[DCBX_NO_PFC_TLV] = SW_EVENT_DCBX_NO_PFC_TLV,
		[DCBX_SEVERAL] = SW_EVENT_DCBX_SEVERAL,
		[DCBX_AGREED] = SW_EVENT_DCBX_AGREED,
		[DCBX_MISMATCH] = SW_EVENT_DCBX_MISMATCH,
	};
	const struct dcbx_port *d = &sw->control->lldp.port[port];
	struct sw_port_state *requested = &sw->ports[port].requested;

	sw_event_record(sw, &(struct sw_event){.at_ns = now_ns,
					       .kind = kinds[d->pfc_state],
					       .port = port,
					       .ours = d->local.dcbx.pfc.enable,
					       .theirs = d->peer.dcbx.pfc.enable});
	if (!port_set_has(&sw->control->lldp.auto_ports, port))
		return;
	__atomic_store_n(&requested->pfc_prios, d->pfc_prios, __ATOMIC_RELAXED);
	sw_want_port(sw, port);
}

static void
leave_ports(struct sw *sw)
{
	for (uint16_t port = 0; port < sw->n_ports; port++)
		if (!sw->ports[port].requested.link_down)
			port_set_add(&sw->control->lldp.leaving, port);
}

void
sw_dcbx_set_params(struct sw *sw, const struct sw_params *params, uint64_t now_ns)
{
	struct sw_lldp *l = &sw->control->lldp;
	bool was_on = l->params.lldp;

	l->params = params->lldp;
	l->auto_ports = (struct port_set){0};
	if (was_on && !l->params.lldp)
		leave_ports(sw);
	else if (l->params.lldp)
		l->leaving = (struct port_set){0};
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		bool is_auto = params->ports[port].flow_control == SW_FLOW_AUTO;
		struct dcbx_port *d = &l->port[port];
		struct lldp_info says;

		if (is_auto)
			port_set_add(&l->auto_ports, port);
		/* LLDP was turned on or off: the neighbour is unknown. */
		if (was_on != l->params.lldp)
			dcbx_port_reset(d, now_ns);
		dcbx_port_sooner(d, &l->params, now_ns);
		fill_local(&says, params, port);
		if (memcmp(&says, &d->local, sizeof(says)) != 0)
			dcbx_port_say(d, &says, now_ns);
		l->reported_prios[port] = d->pfc_prios;
		__atomic_store_n(&sw->ports[port].requested.pfc_prios,
				 is_auto ? d->pfc_prios : sw_port_qos(params, port).pfc_enable,
				 __ATOMIC_RELAXED);
	}
}

/* Has the owner of the port taken the last frame? */
static bool
is_out(const struct sw *sw, uint16_t port)
{
	return !__atomic_load_n(&sw->lldp.out[port].ready, __ATOMIC_ACQUIRE);
}

static void
hand_over(struct sw *sw, uint16_t port, size_t len)
{
	struct sw_lldp_out *out = &sw->lldp.out[port];

	out->len = (uint16_t)len;
	__atomic_store_n(&out->ready, 1, __ATOMIC_RELEASE);
	sw_post_request(&sw_owner(sw, port)->request, SW_REQUEST_LLDP);
	sw_wake(sw, port);
}

static void
offer_frame(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_lldp *l = &sw->control->lldp;

	if (!sw->ports[port].requested.link_down && is_out(sw, port))
		hand_over(
			sw, port,
			dcbx_port_tx(&l->port[port], &l->params, sw->lldp.out[port].frame, now_ns));
}

/* 802.1AB-2016 figure 9-3, TX_SHUTDOWN_FRAME. @return when to call again. */
static uint64_t
offer_shutdowns(struct sw *sw, uint64_t now_ns)
{
	struct port_set *leaving = &sw->control->lldp.leaving;

	for (uint16_t port = port_set_next(leaving, 0); port != PORT_NONE;
	     port = port_set_next(leaving, (uint16_t)(port + 1))) {
		if (!is_out(sw, port))
			continue;
		port_set_remove(leaving, port);
		hand_over(sw, port,
			  dcbx_port_shutdown(&sw->control->lldp.port[port],
					     sw->lldp.out[port].frame));
	}
	return port_set_next(leaving, 0) == PORT_NONE ? NEVER_NS : now_ns + NS_PER_MS;
}

/* Is the frame still with the port's owner, or in its queue? */
static bool
is_on_its_way(const struct sw *sw, uint16_t port)
{
	uint8_t queue = sw_queue_of_tc(sw, port, TM_CLASSES - 1);

	return !is_out(sw, port) ||
	       __atomic_load_n(&sw->ports[port].queue[queue].bytes, __ATOMIC_RELAXED) > 0;
}

bool
sw_dcbx_leave(struct node *node, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);
	struct sw_lldp *l = &sw->control->lldp;
	bool waits = false;

	if (l->params.lldp) {
		l->params.lldp = false;
		l->left = true;
		leave_ports(sw);
	}
	if (!l->left)
		return false;
	(void)offer_shutdowns(sw, now_ns);
	for (uint16_t port = 0; port < sw->n_ports && !waits; port++)
		waits = !sw->ports[port].requested.link_down &&
			(port_set_has(&l->leaving, port) || is_on_its_way(sw, port));
	return waits;
}

uint64_t
sw_dcbx_control(struct sw *sw, uint64_t now_ns)
{
	struct sw_lldp *l = &sw->control->lldp;

	if (!l->params.lldp)
		return offer_shutdowns(sw, now_ns);
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		struct dcbx_port *d = &l->port[port];
		bool due;

		read_mail(sw, port, now_ns);
		due = dcbx_port_poll(d, now_ns);
		if (d->pfc_state != l->reported[port] || d->pfc_prios != l->reported_prios[port]) {
			l->reported[port] = d->pfc_state;
			l->reported_prios[port] = d->pfc_prios;
			report_change(sw, port, now_ns);
		}
		if (due)
			offer_frame(sw, port, now_ns);
	}
	return (now_ns / POLL_NS + 1) * POLL_NS;
}

void
sw_dcbx_link_down(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	/*
	 * Discard the frames received so far, so that none of them is read after the link is up
	 * again.
	 */
	read_mail(sw, port, now_ns);
	dcbx_port_reset(&sw->control->lldp.port[port], now_ns);
}

const struct dcbx_port *
sw_dcbx(const struct node *node, uint16_t port)
{
	return &sw_of_const(node)->control->lldp.port[port];
}
