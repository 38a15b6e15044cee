/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/admit_burst.h"

#include <string.h>
#include <rte_mbuf.h>

#include "switch/egress/enqueue.h"
#include "switch/egress/pfc.h"
#include "switch/ingress/admit.h"
#include "switch/ingress/cross.h"
#include "switch/ingress/drop.h"
#include "switch/ingress/flood.h"

/*
 * Frames with equal keys may form a run: they are of one class, to one port, and all of them are
 * ECT or CE, or none is. The key of a frame that is dropped or admitted alone has KEY_ALONE.
 */
#define KEY_ALONE 0x8000u
#define KEY_NOT_ECT_SHIFT 14
static_assert(SW_MAX_PORTS * TM_CLASSES <= 1u << KEY_NOT_ECT_SHIFT, "ports and classes fit");
static_assert((FLOOD * TM_CLASSES & KEY_ALONE) != 0, "a flooded frame is alone");

struct room {
	uint64_t bytes, packets;
};

/* Frames of a burst that follow each other. */
struct run {
	const struct arrival *a;
	unsigned int n;
	uint32_t bytes; /* charged */
};

struct burst {
	struct sw *sw;
	struct arrival *a;
	const enum sw_drop *reasons;
	uint16_t port;
	uint16_t n;
	uint16_t from;  /* the first frame that is not charged yet */
	uint8_t groups; /* mask: groups of the frames */
	uint8_t flags;  /* of any of the frames */
	/* mask: groups whose frames certainly fit, whatever other groups take during the burst */
	uint8_t sure;
	uint16_t key[SW_BURST + 1];
	/* by group, sum_of() its frames: of all, and of those that are charged */
	uint64_t sum[TM_CLASSES], charged[TM_CLASSES];
	uint64_t total;               /* of all groups */
	struct room room[TM_CLASSES]; /* by group that is not sure: what else certainly fits */
};

/* Charged bytes << 32 | frame bytes << 8 | 1, so that one addition counts a frame of a burst. */
static inline uint64_t
sum_of(const struct arrival *a)
{
	static_assert(SW_BURST < 1u << 8, "frames of a burst");
	static_assert((uint64_t)SW_BURST * MAX_FRAME_BYTES < 1u << 24, "their bytes");
	return (uint64_t)a->charged_bytes << 32 | (uint64_t)a->frame_bytes << 8 | 1;
}

static inline uint32_t
sum_charged_bytes(uint64_t sum)
{
	return (uint32_t)(sum >> 32);
}

static inline uint32_t
sum_frame_bytes(uint64_t sum)
{
	return (uint32_t)sum >> 8;
}

static inline uint32_t
sum_packets(uint64_t sum)
{
	return (uint8_t)sum;
}

static inline uint16_t
key_of(const struct sw_class *c, const struct arrival *a)
{
	unsigned int not_ect = (a->flags & (PKT_ECT | PKT_CE)) == 0;

	if (unlikely(sw_above_mtu(c, a)))
		return KEY_ALONE;
	return (uint16_t)(a->out_port * TM_CLASSES | c->class.tc | not_ect << KEY_NOT_ECT_SHIFT);
}

static inline struct room
room_of(const struct burst *b, uint8_t pg)
{
	const struct mmu *mmu = b->sw->mmu;

	return (struct room){
		.bytes = mmu_ingress_room(mmu, b->port, pg, sum_charged_bytes(b->total)),
		.packets = mmu_packet_room(mmu, b->port, pg, sum_packets(b->total)),
	};
}

/* Find the groups that are sure, and the room of the others. */
static inline uint8_t
find_sure(struct burst *b)
{
	uint8_t sure = 0;

	b->total = 0;
	for (unsigned int pg = 0; pg < TM_CLASSES; pg++)
		b->total += b->sum[pg];
	for (uint8_t groups = b->groups; groups != 0; groups &= (uint8_t)(groups - 1)) {
		uint8_t pg = (uint8_t)__builtin_ctz(groups);
		struct room room = room_of(b, pg);
		unsigned int bytes_fit = sum_charged_bytes(b->sum[pg]) <= room.bytes;
		unsigned int packets_fit = sum_packets(b->sum[pg]) <= room.packets;

		sure |= (uint8_t)((bytes_fit & packets_fit) << pg);
		b->room[pg] = room;
	}
	return sure;
}

/* Classify the frames and sum them by group. */
static inline void
begin_burst(struct burst *b)
{
	const struct sw *sw = b->sw;
	const struct sw_classes *classes = sw_classes_of(sw, b->port);
	struct arrival *a = b->a;
	/* mask: groups whose frames are admitted alone; with mark_at_enqueue all, because the
	 * length of its queue matters to each frame */
	uint8_t alone = sw->mark_at_enqueue ? UINT8_MAX : sw->ports[b->port].storm_pgs;
	uint8_t groups = 0, flags = 0;

	b->from = 0;
	memset(b->sum, 0, sizeof(b->sum));
	memset(b->charged, 0, sizeof(b->charged));
	for (unsigned int i = 0; i < b->n; i++, a++) {
		const struct sw_class *c;

		if (unlikely(b->reasons[i] != SW_PASS)) {
			b->key[i] = KEY_ALONE;
			continue;
		}
		c = sw_classify(classes, a);
		sw_choose_queue(sw, a);
		b->sum[c->class.pg] += sum_of(a);
		groups |= (uint8_t)(1u << c->class.pg);
		b->key[i] = key_of(c, a);
		flags |= a->flags;
	}
	b->key[b->n] = KEY_ALONE;
	b->groups = groups;
	b->flags = flags;
	b->sure = find_sure(b);
	for (unsigned int i = 0; unlikely((groups & alone) != 0) && i < b->n; i++) {
		if (b->reasons[i] == SW_PASS && alone >> b->a[i].class.pg & 1)
			b->key[i] = KEY_ALONE;
	}
}

static inline void
charge_group(struct burst *b, uint8_t pg, uint64_t sum)
{
	mmu_ingress_charge(b->sw->mmu, b->port, pg, sum_charged_bytes(sum));
	mmu_packet_charge(b->sw->mmu, b->port, pg, sum_packets(sum));
}

/* Charge the frames before frame i, all of which have been admitted. */
static __rte_noinline void
charge_before(struct burst *b, unsigned int i)
{
	uint64_t sum[TM_CLASSES] = {0};

	for (unsigned int k = b->from; k < i; k++)
		sum[b->a[k].class.pg] += sum_of(&b->a[k]);
	for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
		if (sum[pg] != 0)
			charge_group(b, pg, sum[pg]);
		b->charged[pg] += sum[pg];
	}
}

/* Admit a frame alone, with its own decisions, unless it is dropped. */
static __rte_noinline void
admit_alone(struct burst *b, unsigned int i)
{
	struct arrival *a = &b->a[i];
	uint64_t sum = sum_of(a);
	uint8_t pg;

	charge_before(b, i);
	b->from = (uint16_t)(i + 1);
	if (b->reasons[i] != SW_PASS) {
		sw_end(b->sw, a, b->reasons[i]);
		return;
	}
	pg = sw_admit(b->sw, a);
	b->charged[pg] += sum;
	b->room[pg] = room_of(b, pg);
}

/*
 * Take a run from the room of its group, which is not sure. The room that is left stays certain.
 * @return false: nothing was taken.
 */
static inline bool
take_room(struct burst *b, struct run run)
{
	struct room *room = &b->room[run.a->class.pg];

	if (run.bytes > room->bytes || run.n > room->packets)
		return false;
	room->bytes -= run.bytes;
	room->packets -= run.n;
	return true;
}

/* Admit a run to a queue; its caller then pushes the entries. @return false: nothing was done. */
static inline bool
admit_to_queue(struct sw *sw, uint16_t port, uint8_t queue, uint32_t bytes, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct sw_queue *q = &p->queue[queue];

	if (unlikely(!mmu_egress_admit_fitting(sw->mmu, port, queue, bytes)))
		return false;
	sw_age_average(p, q, now_ns);
	counter_add(&q->bytes, bytes);
	if ((p->backlogged & ~(p->paused_queues | p->above_max)) == 0)
		node_wake(&sw->node, port);
	p->backlogged |= (uint8_t)(1u << queue);
	return true;
}

/* Of a run to a port that filters VLANs, the frames before one that changes its form. */
static __rte_noinline struct run
same_form(const struct sw *sw, struct run run)
{
	struct run same = {.a = run.a};

	for (const struct arrival *a = run.a; same.n < run.n; a++) {
		if (sw_changes_form(sw->forward.vlans, a, a->out_port))
			break;
		same.bytes += a->charged_bytes;
		same.n++;
	}
	return same;
}

/* Most frames have no CE: called only if one of the burst has. */
static __rte_noinline void
count_ce(struct sw_queue_stats *stats, const struct arrival *a, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (a[i].flags & PKT_CE)
			counter_inc(&stats->ce_in_packets);
}

/* @return false: nothing was done. */
static __rte_always_inline bool
enqueue_run(struct sw *sw, struct run run)
{
	const struct arrival *a = run.a;
	uint16_t port = a->out_port;
	uint8_t queue = a->class.queue;
	struct sw_queue *q = &sw->ports[port].queue[queue];
	unsigned int i = 0;

	if (!admit_to_queue(sw, port, queue, run.bytes, a->now_ns))
		return false;
	do {
		sw_fifo_push(&q->fifo, &sw->shard.chunks,
			     sw_entry_of(a, a->m, port, a->view.tagged, a->flags));
		a++;
	} while (++i < run.n);
	return true;
}

/*
 * Admit the run that begins with frame i.
 * @return the number of its frames; 0: the frame needs its own decision, and nothing was done.
 */
static __rte_always_inline unsigned int
admit_run(struct burst *b, unsigned int i)
{
	struct sw *sw = b->sw;
	const struct arrival *a = &b->a[i];
	const uint16_t *key = &b->key[i];
	struct run run = {.a = a, .n = 1, .bytes = a->charged_bytes};

	if (unlikely(*key & KEY_ALONE))
		return 0;
	for (; key[run.n] == *key; run.n++)
		run.bytes += a[run.n].charged_bytes;
	if (unlikely(!(b->sure >> a->class.pg & 1)) && !take_room(b, run))
		return 0;
	if (unlikely(!sw_owns(&sw->shard, a->out_port))) {
		for (unsigned int k = 0; k < run.n; k++)
			sw_cross(sw, &a[k]);
		return run.n;
	}
	if (unlikely(sw->ports[a->out_port].decides[*key >> KEY_NOT_ECT_SHIFT] >> a->class.queue &
		     1))
		return 0;
	if (unlikely(sw->forward.vlans->access_domain[a->out_port] != SW_TRANSPARENT)) {
		run = same_form(sw, run);
		if (run.n == 0)
			return 0;
	}
	if (!enqueue_run(sw, run))
		return 0;
	if (unlikely(b->flags & PKT_CE))
		count_ce(&sw->ports[a->out_port].stats.queue[a->class.queue], a, run.n);
	return run.n;
}

/*
 * Update XOFF once per group, because the group's use only grows during the burst. Do so even if
 * all its frames were refused, because the use of other groups also moves a dynamic threshold.
 */
static inline void
end_burst(struct burst *b, uint64_t now_ns)
{
	struct sw_pg_stats *stats = b->sw->ports[b->port].stats.pg;

	for (uint8_t groups = b->groups; groups != 0; groups &= (uint8_t)(groups - 1)) {
		uint8_t pg = (uint8_t)__builtin_ctz(groups);
		uint64_t sum = b->sum[pg];

		if (sum != b->charged[pg])
			charge_group(b, pg, sum - b->charged[pg]);
		counter_add(&stats[pg].rx_packets, sum_packets(sum));
		counter_add(&stats[pg].rx_bytes, sum_frame_bytes(sum));
	}
	for (uint8_t groups = b->groups & sw_classes_of(b->sw, b->port)->lossless_pgs; groups != 0;
	     groups &= (uint8_t)(groups - 1))
		sw_update_lossless(b->sw, b->port, (uint8_t)__builtin_ctz(groups), now_ns);
}

void
sw_admit_burst(struct sw *sw, struct arrival *a, unsigned int n, const enum sw_drop reasons[])
{
	uint64_t now_ns = a->now_ns;
	struct burst b;

	b.sw = sw;
	b.a = a;
	b.reasons = reasons;
	b.port = a->in_port;
	b.n = (uint16_t)n;
	begin_burst(&b);
	for (unsigned int i = 0, admitted; i < n; i += admitted) {
		admitted = admit_run(&b, i);
		if (unlikely(admitted == 0)) {
			admit_alone(&b, i);
			admitted = 1;
		}
	}
	end_burst(&b, now_ns);
}

/* Decide on a single crossed frame. */
static void
admit_crossed_one(struct sw *sw, struct sw_entry e, uint64_t now_ns)
{
	struct rte_mbuf *m = sw_entry_mbuf(&e);
	struct arrival a = {
		.m = m,
		.now_ns = now_ns,
		.charged_bytes = sw_entry_charged_bytes(&e),
		.frame_bytes = sw_entry_frame_bytes(&e),
		.in_port = sw_entry_group(&e) / TM_CLASSES,
		.out_port = sw_entry_queue(&e) / TM_CLASSES,
		.flags = sw_entry_flags(&e) & (uint8_t)~PKT_LABELLED,
		.class = {.pg = sw_entry_group(&e) % TM_CLASSES,
			  .queue = sw_entry_queue(&e) % TM_CLASSES},
		.view = {.ip_version = sw_entry_ip_version(&e),
			 .tagged = sw_entry_l3_off(&e) != ETH_HDR_BYTES},
	};

	if (sw_entry_flags(&e) & PKT_LABELLED) {
		const struct pkt_meta *meta = pkt_meta(m);

		a.out_port = meta->out_port;
		a.domain = meta->domain;
		a.tci_bits = meta->tci_bits;
		a.form_ports = meta->form_ports;
	}
	a.class.tc = a.class.queue; /* of a flooded frame */
	if (a.out_port == FLOOD)
		sw_flood_crossed(sw, &a);
	else
		sw_to_port(sw, &a, a.form_ports != 0);
}

/* Charged bytes that an entry adds to this shard: a flooded frame counts once for each port. */
static uint64_t
crossed_bytes(const struct sw *sw, struct sw_entry e)
{
	const struct pkt_meta *meta = pkt_meta(sw_entry_mbuf(&e));

	if (likely(!(sw_entry_flags(&e) & PKT_LABELLED)) || meta->out_port != FLOOD)
		return sw_entry_charged_bytes(&e);
	return (uint64_t)__builtin_popcountll(meta->flood_ports & sw->shard.own_ports) *
	       sw_entry_charged_bytes(&e);
}

static inline unsigned int
find_crossed_queue(struct sw_crossed *b, uint16_t place)
{
	unsigned int i = b->queue_at[place];

	if (i < b->n_queues && b->queue[i].place == place)
		return i;
	i = b->n_queues++;
	b->queue_at[place] = (uint8_t)i;
	b->queue[i] = (struct sw_crossed_queue){.place = place, .all_ect = true};
	return i;
}

/*
 * Sort entries by queue, up to the first that does not name its queue: that of a flooded frame, or
 * of one whose form changes.
 * @return the number of entries.
 */
static inline uint32_t
sort_crossed(struct sw_crossed *b, const struct sw_ring *r, uint32_t first, uint32_t most)
{
	unsigned int last = 0;
	uint32_t n;

	b->n_queues = 0;
	for (n = 0; n < most; n++) {
		const struct sw_entry *e = sw_ring_at(r, first + n);
		uint16_t place = sw_entry_queue(e);

		if (unlikely(sw_entry_flags(e) & PKT_LABELLED))
			break;
		if (n == 0 || b->queue[last].place != place)
			last = find_crossed_queue(b, place);
		b->queue[last].bytes += sw_entry_charged_bytes(e);
		b->queue[last].all_ect &= (sw_entry_flags(e) & (PKT_ECT | PKT_CE)) != 0;
		b->queue[last].any_ce |= (sw_entry_flags(e) & PKT_CE) != 0;
		b->queue_of[n] = (uint8_t)last;
	}
	return n;
}

/* Admit all entries to one queue together. @return false: each needs its own decision. */
static inline bool
admit_crossed_queue(struct sw *sw, const struct sw_crossed_queue *c, uint64_t now_ns)
{
	uint16_t port = c->place / TM_CLASSES;
	uint8_t queue = c->place % TM_CLASSES;

	if (unlikely(sw->mark_at_enqueue || sw->ports[port].decides[!c->all_ect] >> queue & 1))
		return false;
	return admit_to_queue(sw, port, queue, c->bytes, now_ns);
}

/* Count the entries of a sorted burst that enter with their queue's others. */
static void
count_crossed_ce(struct sw *sw, const struct sw_crossed *b, const struct sw_ring *r, uint32_t first,
		 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_crossed_queue *c = &b->queue[b->queue_of[i]];
		struct sw_port *p = &sw->ports[c->place / TM_CLASSES];

		if (c->admitted && sw_entry_flags(sw_ring_at(r, first + i)) & PKT_CE)
			counter_inc(&p->stats.queue[c->place % TM_CLASSES].ce_in_packets);
	}
}

/* Entries of different queues may overtake each other, those of one queue do not. */
static uint32_t
admit_crossed(struct sw *sw, const struct sw_ring *r, uint32_t first, uint32_t most,
	      uint64_t now_ns)
{
	struct sw_crossed *b = &sw->crossed;
	uint32_t n = sort_crossed(b, r, first, most);
	uint64_t bytes = 0;
	bool any_ce = false;

	for (unsigned int i = 0; i < b->n_queues; i++) {
		b->queue[i].admitted = admit_crossed_queue(sw, &b->queue[i], now_ns);
		bytes += b->queue[i].bytes;
		any_ce |= b->queue[i].any_ce;
	}
	if (unlikely(any_ce))
		count_crossed_ce(sw, b, r, first, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_entry *e = sw_ring_at(r, first + i);
		const struct sw_crossed_queue *c = &b->queue[b->queue_of[i]];
		struct sw_queue *q = &sw->ports[c->place / TM_CLASSES].queue[c->place % TM_CLASSES];

		if (likely(c->admitted))
			sw_fifo_push(&q->fifo, &sw->shard.chunks, *e);
		else
			admit_crossed_one(sw, *e, now_ns);
	}
	counter_add(&sw->shard.crossed_in_bytes, bytes);
	return n;
}

void
sw_admit_crossed(struct sw *sw, const struct sw_ring *r, uint32_t n, uint64_t now_ns)
{
	uint32_t done = 0;

	while (done < n) {
		struct sw_entry e;
		uint64_t bytes;

		done += admit_crossed(sw, r, done, RTE_MIN(n - done, SW_CROSSED_BURST), now_ns);
		if (done == n)
			break;
		e = *sw_ring_at(r, done);
		if (!(sw_entry_flags(&e) & PKT_LABELLED))
			continue;
		bytes = crossed_bytes(sw, e);
		admit_crossed_one(sw, e, now_ns);
		counter_add(&sw->shard.crossed_in_bytes, bytes);
		done++;
	}
}
