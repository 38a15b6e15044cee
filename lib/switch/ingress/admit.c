/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/admit.h"

#include <rte_mbuf.h>

#include "switch/egress/sw_lost.h"
#include "switch/egress/sw_release.h"
#include "switch/ingress/cross.h"
#include "switch/ingress/icmp_error.h"
#include "switch/ingress/ingress.h"

/* Add or remove the tag. @return false: no mbuf; a->m is unchanged. */
static bool
change_form(struct sw *sw, struct arrival *a)
{
	struct rte_mbuf *own = sw_retag(&sw->pools, a->m, a->view.tagged, sw_other_tci(a));

	if (own == NULL)
		return false;
	a->m = own;
	a->view.tagged = !a->view.tagged;
	return true;
}

static __rte_always_inline void
to_port(struct sw *sw, struct arrival *a, bool other_form)
{
	enum sw_drop reason = sw_admit_egress(sw, a);

	if (reason == SW_PASS && unlikely(other_form) && !change_form(sw, a)) {
		mmu_egress_release(sw->mmu, a->out_port, a->class.queue, a->charged_bytes);
		reason = SW_DROP_NO_MBUF;
	}
	if (reason == SW_PASS) {
		sw_enqueue(sw, (struct sw_run){.a = a, .n = 1, .bytes = a->charged_bytes});
		return;
	}
	sw_count_egress_drop(sw, a, reason);
	sw_name_lost(sw, a->out_port, a->flags & PKT_GENERATED ? NODE_NO_PORT : a->in_port, a->m,
		     reason, a->now_ns);
	if (!(a->flags & PKT_GENERATED)) {
		sw_name_drop(sw, a->in_port, a->m, reason);
		sw_refund(sw, a->in_port, a->class.pg, a->charged_bytes);
	}
	rte_pktmbuf_free(a->m);
}

void
sw_to_port(struct sw *sw, struct arrival *a, bool other_form)
{
	to_port(sw, a, other_form);
}

/* Is the frame shorter than its class allows, its group open, and is there room in the group? */
static enum sw_drop
admit_ingress(struct sw *sw, const struct arrival *a)
{
	enum sw_drop reason = SW_PASS;

	if (unlikely(sw_above_mtu(sw_class_of(sw_classes_of(sw, a->in_port), a), a)))
		return SW_DROP_MTU;
	if (unlikely(sw->ports[a->in_port].storm_pgs >> a->class.pg & 1))
		reason = sw_closed_ingress(sw, a->in_port, a->class.pg);
	if (unlikely(reason != SW_PASS))
		return reason;
	return sw_drop_of(mmu_ingress_admit(sw->mmu, a->in_port, a->class.pg, a->charged_bytes));
}

/*
 * Pass a frame for one port to its egress. Its ingress has admitted it, or the switch generated it.
 */
static __rte_always_inline void
send_to_port(struct sw *sw, struct arrival *a)
{
	if (likely(sw_owns(&sw->shard, a->out_port)))
		to_port(sw, a, sw_changes_form(sw->forward.vlans, a, a->out_port));
	else
		sw_cross(sw, a);
}

void
sw_send_own(struct sw *sw, struct rte_mbuf *m, uint16_t domain, uint16_t port, uint64_t now_ns)
{
	struct arrival a = {.m = m,
			    .now_ns = now_ns,
			    .frame_bytes = frame_bytes(m->pkt_len),
			    .in_port = port,
			    .out_port = port,
			    .domain = domain,
			    .pcp = -1};

	a.charged_bytes = mmu_charge_bytes(sw->mmu, a.frame_bytes);
	counter_add(&sw->ledger.generated, a.charged_bytes);
	sw_classify(sw_classes_of(sw, port), &a);
	a.flags |= PKT_GENERATED;
	send_to_port(sw, &a);
}

void
sw_admit(struct sw *sw, struct arrival *a)
{
	enum sw_drop reason = admit_ingress(sw, a);

	if (unlikely(reason != SW_PASS)) {
		if (reason == SW_DROP_MTU)
			sw_icmp_error(
				sw, a, reason,
				sw_ip_mtu_bytes(sw_class_of(sw_classes_of(sw, a->in_port), a)));
		sw_name_drop(sw, a->in_port, a->m, reason);
		sw_count_drop(sw, a->in_port, reason, a->charged_bytes);
		counter_inc(&sw->ports[a->in_port].stats.pg[a->class.pg].drop_packets);
		rte_pktmbuf_free(a->m);
	} else if (likely(a->out_port != FLOOD)) {
		send_to_port(sw, a);
	} else {
		sw_flood(sw, a);
	}
}
