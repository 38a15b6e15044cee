/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/crossed.h"

#include "switch/egress/release.h"
#include "switch/forward/neighbours.h"
#include "switch/ingress/admit_burst.h"
#include "switch/shard/crossing.h"
#include "tm/mmu_part.h"

/* Most bursts taken in one call, so that a steady stream of frames does not delay the ports. */
#define TAKE_BURSTS 4

/* Read the fields that sw_cross() has stored for the egress. */
static void
unpack(struct sw *sw, struct arrival *a, struct rte_mbuf *m, uint64_t now_ns)
{
	const struct pkt_meta *meta = pkt_meta(m);
	uint64_t copies = 1;

	a->m = m;
	a->now_ns = now_ns;
	a->charged_bytes = meta->charged_bytes;
	a->in_port = meta->in_port;
	a->out_port = meta->out_port;
	a->domain = meta->domain;
	a->tci_bits = meta->tci_bits;
	a->form_ports = meta->form_ports;
	a->flags = meta->flags;
	a->class.pg = meta->pg;
	a->class.queue = meta->queue;
	a->view.ip_version = meta->ip_version;
	a->view.tagged = meta->l3_off != ETH_HDR_BYTES;
	if (unlikely(a->out_port == FLOOD))
		copies = (uint64_t)__builtin_popcountll(meta->flood_ports & sw->shard.own_ports);
	counter_add(&sw->shard.crossed_in_bytes, copies * a->charged_bytes);
}

static void
take_fetched(struct sw *sw, uint64_t now_ns)
{
	struct sw_fetched *f = sw_crossing_fetched(&sw->shard);
	struct arrival arrivals[SW_BURST];

	if (f->n == 0)
		return;
	for (uint32_t i = 0; i < f->n; i++)
		unpack(sw, &arrivals[i], f->m[i], now_ns);
	sw_admit_crossed(sw, arrivals, f->n);
	f->n = 0;
}

void
sw_crossed_take(struct sw *sw, uint64_t now_ns)
{
	take_fetched(sw, now_ns);
	/* A full burst is waiting: take it without waiting for the prefetch. */
	for (unsigned int i = 1; i < TAKE_BURSTS && sw_crossing_burst_waits(&sw->shard); i++) {
		sw_crossing_fetch(&sw->shard);
		take_fetched(sw, now_ns);
	}
	if (sw->forward.router != NULL)
		sw_neigh_take_news(sw->forward.router, now_ns);
}

static void
collect_from(struct sw *sw, uint16_t from, uint16_t port, uint64_t now_ns)
{
	const struct sw_given *given = sw_given_by(sw->shard.shards, from, port);
	struct sw_given *taken = sw_taken_by(sw->shard.shards, from, port);

	for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
		uint64_t charge = sw_given_take(given, taken, pg);

		if (unlikely(charge != 0))
			sw_ingress_release(sw, port, pg, charge, now_ns);
	}
}

void
sw_crossed_collect(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	for (uint16_t from = 0; from < sw->shard.shards->n; from++) {
		if (from != sw->shard.index)
			collect_from(sw, from, port, now_ns);
	}
}

void
sw_crossed_settle(struct sw *front, uint64_t now_ns)
{
	bool waits = true;

	while (waits) {
		waits = false;
		for (uint16_t port = 0; port < front->n_ports; port++) {
			struct sw *sw = sw_owner(front, port);

			if (!sw_crossing_waits(&sw->shard, port))
				continue;
			waits = true;
			mmu_part_refresh(sw->mmu, sw->shard.index);
			sw_crossed_collect(sw, port, now_ns);
			sw_crossing_fetch(&sw->shard);
			sw_crossed_take(sw, now_ns);
			sw_crossing_flush(&sw->shard);
			sw_give_back_debts(&sw->shard);
			mmu_part_publish(sw->mmu, sw->shard.index);
		}
	}
}
