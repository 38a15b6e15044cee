/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/generated.h"

#include <string.h>
#include <rte_mbuf.h>

#include "switch/egress/enqueue.h"
#include "switch/forward/neighbours.h"
#include "switch/forward/route_burst.h"
#include "switch/ingress/admit.h"
#include "switch/ingress/drop.h"

enum sw_drop
sw_lldp_rx(struct sw *sw, const struct arrival *a)
{
	struct sw_lldp_box *box = &sw->lldp.boxes[a->in_port];
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);
	uint32_t read = __atomic_load_n(&box->read, __ATOMIC_ACQUIRE);
	struct sw_lldp_mail *mail = &box->mail[box->written % SW_LLDP_MAILS];

	/* LLDP to other addresses is for other agents: the bridge drops it as reserved_address. */
	if (!sw->lldp.on || memcmp(frame, lldp_address, 6) != 0)
		return SW_PASS;
	if (box->written - read == SW_LLDP_MAILS || a->m->data_len > sizeof(mail->frame))
		return SW_DROP_CONTROL_BUSY;
	mail->len = a->m->data_len;
	memcpy(mail->frame, frame, mail->len);
	__atomic_store_n(&box->written, box->written + 1, __ATOMIC_RELEASE);
	return SW_CONSUMED;
}

/*
 * Enqueue an LLDP frame of the control side. Pauses apply to it, as to all frames except MAC
 * control. It has no ingress charge, and WRED neither drops nor marks it.
 */
static void
send_lldp(struct sw *sw, uint16_t port, const struct sw_lldp_out *out, uint64_t now_ns)
{
	struct arrival a = {
		.m = rte_pktmbuf_alloc(sw->pools.own),
		.now_ns = now_ns,
		.frame_bytes = frame_bytes(out->len),
		.charged_bytes = mmu_charge_bytes(sw->mmu, frame_bytes(out->len)),
		.in_port = port,
		.out_port = port,
		.flags = PKT_GENERATED | PKT_WRED_DONE,
		.class = {.queue = sw_queue_of_tc(sw, port, TM_CLASSES - 1)},
	};
	enum sw_drop reason = SW_PASS;

	counter_add(&sw->ledger.generated, a.charged_bytes);
	if (a.m == NULL)
		reason = SW_DROP_NO_MBUF;
	else if (sw->ports[port].closed_queues >> a.class.queue & 1)
		reason = sw_closed_refuse(sw, port, a.class.queue);
	else if (mmu_egress_admit(sw->mmu, port, a.class.queue, a.charged_bytes) != MMU_ADMIT)
		reason = SW_DROP_QUEUE_LIMIT;
	if (reason != SW_PASS) {
		sw_count_egress_drop(sw, &a, reason);
		rte_pktmbuf_free(a.m);
		return;
	}
	memcpy(rte_pktmbuf_append(a.m, out->len), out->frame, out->len);
	sw_enqueue(sw, (struct sw_run){.a = &a, .n = 1, .bytes = a.charged_bytes});
}

void
sw_lldp_send(struct sw *sw, uint64_t now_ns)
{
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		struct sw_lldp_out *out = &sw->lldp.out[port];

		if (!sw_owns(&sw->shard, port) || !__atomic_load_n(&out->ready, __ATOMIC_ACQUIRE))
			continue;
		send_lldp(sw, port, out, now_ns);
		__atomic_store_n(&out->ready, 0, __ATOMIC_RELEASE);
	}
}

static void
ask_through(struct sw *sw, const struct neigh *e, uint16_t port, uint64_t now_ns)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(sw->pools.own);
	uint8_t *frame;
	size_t len;

	if (m == NULL || rte_pktmbuf_tailroom(m) < SW_SOLICIT_BYTES) {
		rte_pktmbuf_free(m);
		counter_inc(&sw->forward.router->stats.neigh_no_mbuf);
		return;
	}
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	len = sw_neigh_request(sw->forward.router, e, frame);
	rte_pktmbuf_append(m, (uint16_t)len);
	counter_inc(&sw->forward.router->stats.neigh_requests_sent);
	sw_send_own(sw, m, e->key.vlan_id, port, now_ns);
}

void
sw_neigh_ask(struct sw *sw, uint64_t now_ns)
{
	struct neigh_table *neighs = sw->forward.router->neighs;
	uint32_t index;

	while ((index = neigh_pop_ask(neighs)) != NEIGH_NONE) {
		const struct neigh *e = neigh_get(neighs, index);
		struct arrival all = {.domain = e->key.vlan_id, .not_to = PORT_NONE};
		struct port_set ports = sw_flood_ports(&sw->forward, &all);

		for (uint16_t port = port_set_next(&ports, 0); port != PORT_NONE;
		     port = port_set_next(&ports, (uint16_t)(port + 1)))
			ask_through(sw, e, port, now_ns);
	}
}

void
sw_own_send(struct sw *sw, uint64_t now_ns)
{
	struct sw_router *r = sw->forward.router;

	for (unsigned int i = 0; i < r->n_errors; i++)
		sw_send_own(sw, r->errors[i].m, r->errors[i].domain, r->errors[i].port, now_ns);
	r->n_errors = 0;
}

void
sw_next_hops_check(struct sw *sw, uint64_t now_ns)
{
	if (sw->forward.router == NULL)
		return;
	sw_route_check_next_hops(&sw->forward, now_ns);
	sw_neigh_ask(sw, now_ns);
}
