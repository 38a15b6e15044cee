/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flooding: each copy of a frame is a reference to it, and is admitted at its egress.
 *
 * Invariant (tested): the ingress charge is released once, with the last copy.
 */
#include "switch/ingress/ingress.h"

#include <rte_mbuf.h>

#include "switch/egress/enqueue.h"
#include "switch/egress/sw_lost.h"
#include "switch/egress/sw_release.h"
#include "switch/frame/copy_on_write.h"
#include "switch/ingress/cross.h"
#include "switch/ingress/drop.h"

/*
 * Copies of a flooded frame leave in two forms, tagged and untagged. The frame arrived in one of
 * them; the other one is made once, when the first port needs it.
 */
struct forms {
	struct rte_mbuf *other;
};

/* The frame in the form that a copy needs; NULL: no mbuf. */
static struct rte_mbuf *
form_of(struct sw *sw, const struct arrival *a, struct forms *forms, bool other)
{
	struct rte_mbuf *copy;

	if (!other)
		return a->m;
	if (forms->other != NULL)
		return forms->other;
	copy = sw_copy_frame(&sw->pools, a->m);
	if (copy == NULL)
		return NULL;
	forms->other = sw_retag(&sw->pools, copy, a->view.tagged, sw_other_tci(a));
	if (forms->other == NULL)
		rte_pktmbuf_free(copy);
	return forms->other;
}

/* Send one copy to one port. The frame itself stays, and holds the ingress charge. */
static enum sw_drop
copy_to_port(struct sw *sw, const struct arrival *a, struct forms *forms, struct arrival *copy,
	     bool other)
{
	bool lossless = sw_classes_of(sw, a->in_port)->lossless_pgs >> a->class.pg & 1;
	enum sw_drop reason = sw_admit_egress(sw, copy);
	struct rte_mbuf *form;

	if (reason != SW_PASS)
		return reason;
	form = form_of(sw, a, forms, other);
	copy->m = NULL;
	if (form != NULL)
		copy->m = rte_pktmbuf_clone(form, lossless ? sw->pools.lossless_clones
							   : sw->pools.clones);
	if (copy->m == NULL) {
		mmu_egress_release(sw->mmu, copy->out_port, copy->class.queue, a->charged_bytes);
		return SW_DROP_NO_MBUF;
	}
	pkt_meta(copy->m)->origin = a->m;
	pkt_meta(copy->m)->marked_by = NULL;
	copy->view.tagged = a->view.tagged != other;
	copy->flags |= PKT_CLONE;
	sw_enqueue(sw, (struct sw_run){.a = copy, .n = 1, .bytes = a->charged_bytes});
	return SW_PASS;
}

/* @return the number of copies that were enqueued. */
static unsigned int
copy_to_ports(struct sw *sw, const struct arrival *a, const struct port_set *ports,
	      const struct port_set *form_ports)
{
	struct forms forms = {0};
	unsigned int copies = 0;

	for (uint16_t port = port_set_next(ports, 0); port != PORT_NONE;
	     port = port_set_next(ports, (uint16_t)(port + 1))) {
		struct arrival copy = *a;
		enum sw_drop reason;

		copy.out_port = port;
		copy.class.queue = sw_queue_of_tc(sw, port, a->class.tc);
		reason = copy_to_port(sw, a, &forms, &copy, port_set_has(form_ports, port));
		if (reason == SW_PASS)
			copies++;
		else {
			sw_count_egress_drop(sw, &copy, reason);
			sw_name_lost(sw, port, a->in_port, a->m, reason, a->now_ns);
		}
	}
	/* The copies have references to the data of the other form. */
	rte_pktmbuf_free(forms.other);
	return copies;
}

/*
 * All copies are made. The last copy to leave frees the frame; if there are no copies, free it now.
 */
static void
release_frame(struct sw *sw, const struct arrival *a, unsigned int copies)
{
	if (sw_hold_copies(sw, a->m, (int32_t)copies - 1) > 0)
		return;
	sw_refund(sw, a->in_port, a->class.pg, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

/* The ports that need the other form of the frame. */
static struct port_set
form_ports_of(const struct sw *sw, const struct arrival *a, const struct port_set *ports)
{
	struct port_set form_ports = {0};

	for (uint16_t port = port_set_next(ports, 0); port != PORT_NONE;
	     port = port_set_next(ports, (uint16_t)(port + 1))) {
		if (sw_changes_form(sw->forward.vlans, a, port))
			port_set_add(&form_ports, port);
	}
	return form_ports;
}

void
sw_flood(struct sw *sw, struct arrival *a)
{
	struct port_set ports = sw_flood_ports(&sw->forward, a);
	struct port_set form_ports = form_ports_of(sw, a, &ports);

	pkt_meta(a->m)->copies = 1;
	/* The charge of the frame itself covers the first copy. */
	counter_add(&sw->ledger.copies, (uint64_t)(port_set_count(&ports) - 1) * a->charged_bytes);
	/* With several shards, the first word has all ports. */
	if (unlikely((ports.word[0] & ~sw->shard.own_ports) != 0))
		sw_cross_flood(sw, a, ports.word[0], form_ports.word[0]);
	ports.word[0] &= sw->shard.own_ports;
	release_frame(sw, a, copy_to_ports(sw, a, &ports, &form_ports));
}

void
sw_flood_crossed(struct sw *sw, struct arrival *a)
{
	struct port_set ports = {{pkt_meta(a->m)->flood_ports & sw->shard.own_ports}};
	struct port_set form_ports = {{a->form_ports}};

	release_frame(sw, a, copy_to_ports(sw, a, &ports, &form_ports));
	/* Drop the reference of sw_cross_flood(). */
	rte_pktmbuf_free(a->m);
}
