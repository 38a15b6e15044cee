/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/core/settings.h"

#include <errno.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "node/node_memory.h"
#include "wire/roce/int_hdr.h"

/*
 * Burst of storm control: its rate times this, but at least two of the largest frames, so that a
 * few ARP requests at once do not count as a storm.
 */
#define STORM_BURST_NS (10 * NS_PER_MS)

/* A new bucket is full; an existing one keeps its credit or debt. */
static void
set_bucket(struct token_bucket *tb, uint64_t rate_bps, uint64_t burst_bytes, uint64_t now_ns)
{
	burst_bytes = min_u64(burst_bytes, TOKEN_BUCKET_MAX_BURST_BYTES);
	if (tb->account.rate_bps == 0) {
		token_bucket_init(tb, rate_bps, burst_bytes, now_ns);
		return;
	}
	token_bucket_set_rate(tb, rate_bps, now_ns);
	token_bucket_set_burst(tb, burst_bytes);
}

/* At least one byte, because a smaller bucket would lose tokens by rounding. */
static uint64_t
shaper_burst_bytes(const struct sw_params *params, uint64_t rate_bps)
{
	return mul_div(rate_bps, params->shaper_burst_ns, NS_PER_SEC * 8) + 1;
}

static void
set_shaper(struct sw_port *p, const struct sw_params *params, const struct sw_port_params *pp,
	   uint64_t now_ns)
{
	uint64_t rate_bps = pp->shaper_rate_bps, link_bps = pp->link_speed_bps;

	set_bucket(&p->shaper, rate_bps, shaper_burst_bytes(params, rate_bps), now_ns);
	p->shaped = rate_bps < link_bps;
	set_bucket(&p->wire, link_bps, shaper_burst_bytes(params, link_bps), now_ns);
}

static void
set_queue_shapers(struct sw_port *p, const struct sw_queue_params queues[TM_CLASSES],
		  uint64_t now_ns)
{
	uint8_t had_min = p->min_queues;

	p->min_queues = p->max_queues = 0;
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		uint64_t burst_bytes = max_u64(queues[i].burst_bytes, 1);

		if (queues[i].min_rate_bps > 0)
			p->min_queues |= (uint8_t)(1u << i);
		if (queues[i].max_rate_bps > 0)
			p->max_queues |= (uint8_t)(1u << i);
		set_bucket(&p->queue_shaper[i].min, queues[i].min_rate_bps, burst_bytes, now_ns);
		set_bucket(&p->queue_shaper[i].max, queues[i].max_rate_bps, burst_bytes, now_ns);
	}
	p->below_min = (p->below_min | (uint8_t)~had_min) & p->min_queues;
	p->above_max &= p->max_queues;
}

static void
set_storms(struct sw_forward_port *s, const struct sw_port_params *params, uint32_t max_frame_bytes,
	   uint64_t now_ns)
{
	for (unsigned int i = 0; i < SW_STORMS; i++) {
		uint64_t burst = mul_div(params->storm_bps[i], STORM_BURST_NS, NS_PER_SEC * 8);

		set_bucket(&s->storm[i], params->storm_bps[i],
			   max_u64(burst, 2ull * max_frame_bytes), now_ns);
	}
}

static void
set_wred(struct sw_port *p, const struct sw_params *params, uint16_t port)
{
	p->wred_queues = p->ecn_queues = p->nonect_drop_queues = p->observed_queues = 0;
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		const struct wred_params *wred = sw_queue_wred(params, port, i);
		const struct wred was = p->queue[i].wred;
		struct sw_marking *m = sw_marking_of(&p->queue[i]);
		uint8_t bit = (uint8_t)(1u << i);

		if (wred == NULL) {
			/* The average restarts with the next curve. */
			p->queue[i].wred = (struct wred){0};
			continue;
		}
		/* Keep the queue's average. */
		wred_init(&p->queue[i].wred, wred);
		p->queue[i].wred.average_q16 = was.average_q16;
		p->queue[i].wred.idle_since_ns = was.idle_since_ns;
		if (m != NULL)
			mark_set(&m->scheme, (enum mark_scheme)params->queues[port][i].marking,
				 &params->marking, p->shaper.account.rate_bps);
		p->wred_queues |= bit;
		if (wred->ecn == WRED_ECN_ALL)
			p->ecn_queues |= bit;
		if (wred->wred_weight > 0 || m != NULL)
			p->observed_queues |= bit;
		if (!(params->mmu.lossless_queues[port] & bit) || wred->nonect_drop_in_lossless)
			p->nonect_drop_queues |= bit;
	}
	sw_port_set_decides(p);
}

void
sw_set_port(struct sw *sw, uint16_t port, const struct sw_params *params, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	const struct sw_port_params *pp = &params->ports[port];
	const struct sched_params sched = sw_port_sched(params, port);

	set_shaper(p, params, pp, now_ns);
	sched_set_params(&p->sched, &sched);
	set_queue_shapers(p, params->queues[port], now_ns);
	p->adds_int = params->int_telemetry;
	p->int_id = int_port_id(pp->mac, port);
	p->per_run = p->shaped || p->adds_int;
	set_storms(&sw->forward.ports[port], pp, params->max_frame_bytes, now_ns);
	set_wred(p, params, port);
}

int
sw_classes_create(struct sw *sw, uint16_t n_ports)
{
	sw->classes_of = node_zalloc(n_ports * sizeof(sw->classes_of[0]));
	sw->classes = node_zalloc(n_ports * sizeof(sw->classes[0]));
	return sw->classes_of == NULL || sw->classes == NULL ? -ENOMEM : 0;
}

void
sw_classes_destroy(struct sw *sw)
{
	node_free(sw->classes_of);
	node_free(sw->classes);
}

/* The first port whose keys for maps equal those of this one. */
static uint16_t
first_like(const struct sw_params *params, uint16_t port)
{
	const struct sw_port_classes *own = &params->ports[port].classes;
	uint16_t first = 0;

	while (memcmp(&params->ports[first].classes, own, sizeof(*own)) != 0)
		first++;
	return first;
}

static void
set_classes(struct sw *sw, const struct sw_params *params)
{
	sw->queue_by_egress = false;
	for (uint16_t port = 0; port < params->n_ports; port++) {
		uint16_t first = first_like(params, port);

		/* The first of a kind gets the struct of its own number. */
		if (first == port)
			sw_classes_set(&sw->classes[port], params, port);
		sw->classes_of[port] = &sw->classes[first];
		sw->queue_by_egress |= memcmp(sw->classes[first].qos.tc_to_queue_map,
					      sw->classes[0].qos.tc_to_queue_map, TM_CLASSES) != 0;
	}
}

void
sw_set_classes(struct sw *sw, const struct sw_params *params)
{
	set_classes(sw, params);
	sw->mark_at_enqueue = params->mark_at == SW_MARK_AT_ENQUEUE;
	sw->lldp.on = params->lldp.lldp;
}
