/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/queue_look.h"

#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "switch/core/switch.h"

const char *const sw_hold_words[SW_HOLDS + 1] = {"empty",  "link",     "disabled", "storm",
						 "pause",  "max_rate", "strict",   "weights",
						 "shaper", "wire",     NULL};

static void
count(struct sw_look_frames *frames, const struct sw_entry *e)
{
	frames->bytes += sw_entry_charged_bytes(e);
	frames->packets++;
	frames->not_ect_packets += (sw_entry_flags(e) & (PKT_ECT | PKT_CE)) == 0;
}

static void
copy_header(struct sw_look *look, const struct sw_entry *e)
{
	struct sw_look_header *h = &look->headers[look->n_headers++];
	const struct rte_mbuf *m = sw_entry_mbuf(e);

	h->charged_bytes = sw_entry_charged_bytes(e);
	h->len = (uint8_t)min_u64(m->data_len, SW_LOOK_HEADER_BYTES);
	memcpy(h->data, rte_pktmbuf_mtod(m, const uint8_t *), h->len);
}

static void
read_frames(const struct sw_queue *q, struct sw_look *look)
{
	const struct sw_entry *e = NULL;
	uint32_t step;

	while (look->read.packets < SW_LOOK_ENTRIES && (e = sw_fifo_next(&q->fifo, e)) != NULL) {
		count(&look->read, e);
		count(&look->group[sw_entry_group(e)], e);
	}
	step = (look->read.packets + SW_LOOK_FRAMES - 1) / SW_LOOK_FRAMES;
	e = NULL;
	for (uint32_t i = 0; i < look->read.packets; i++) {
		e = sw_fifo_next(&q->fifo, e);
		if (i % step == 0)
			copy_header(look, e);
	}
}

/* The pauses that hold the queue, and since when. */
static void
read_pauses(const struct sw *sw, const struct sw_port *p, struct sw_look *look)
{
	const struct pfc_rx *rx = &p->pfc_rx;

	look->since_ns = look->now_ns;
	for (uint8_t m = rx->paused; m != 0; m &= (uint8_t)(m - 1)) {
		uint8_t prio = (uint8_t)__builtin_ctz(m), bit = (uint8_t)(1u << prio);

		if (p->flow_control != SW_FLOW_PAUSE &&
		    !(qos_map_paused_queues(&sw_classes_of(sw, look->port)->qos, bit) >>
			      look->queue &
		      1))
			continue;
		look->paused_prios |= bit;
		look->since_ns = min_u64(look->since_ns, rx->since_ns[prio]);
	}
}

static enum sw_hold
hold_of(const struct sw_port *p, struct sw_look *look)
{
	uint8_t bit = (uint8_t)(1u << look->queue), strict = p->sched.strict_queues;
	uint8_t others = p->backlogged & (uint8_t) ~(p->paused_queues | p->above_max | bit);

	if (!(p->backlogged & bit))
		return SW_HOLD_EMPTY;
	if (p->now.link_down)
		return SW_HOLD_LINK;
	if (p->now.tx_disabled)
		return SW_HOLD_DISABLED;
	if (p->closed_queues & bit)
		return SW_HOLD_STORM;
	if (p->paused_queues & bit)
		return SW_HOLD_PAUSE;
	if (p->above_max & bit)
		return SW_HOLD_MAX_RATE;
	/* Of strict queues, those with a higher number go first. */
	look->behind = others & strict;
	if (strict & bit)
		look->behind &= (uint8_t) ~(bit | (bit - 1));
	if (look->behind != 0)
		return SW_HOLD_STRICT;
	look->behind = strict & bit ? 0 : others & (uint8_t)~strict;
	if (look->behind != 0)
		return SW_HOLD_WEIGHTS;
	return p->shaped ? SW_HOLD_SHAPER : SW_HOLD_WIRE;
}

void
sw_look_at(const struct sw *sw, struct sw_look *look, uint64_t now_ns)
{
	const struct sw_port *p = &sw->ports[look->port];
	const struct sw_queue *q = &p->queue[look->queue];

	look->now_ns = now_ns;
	look->queue_bytes = q->bytes;
	read_frames(q, look);
	read_pauses(sw, p, look);
	look->hold = hold_of(p, look);
}
