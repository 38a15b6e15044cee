/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/admit.h"

#include <string.h>

#include "switch/ingress/cross.h"
#include "switch/ingress/icmp_error.h"

/*
 * Frames with equal keys may form a run: they are of one class, to one port, and all of them are
 * ECT or CE, or none is. The key of a frame that is dropped or gets its own decision has KEY_ALONE.
 */
#define KEY_ALONE 0x8000u
#define KEY_NOT_ECT_SHIFT 14
static_assert(SW_MAX_PORTS * TM_CLASSES <= 1u << KEY_NOT_ECT_SHIFT, "ports and classes fit");
static_assert((FLOOD * TM_CLASSES & KEY_ALONE) != 0, "a flooded frame is alone");

struct burst {
	struct sw *sw;
	struct arrival *a;
	const enum sw_drop *reasons;
	uint16_t port;
	uint16_t n;
	uint8_t groups; /* mask: groups of the frames */
	/* mask: groups whose frames certainly fit, whatever other groups take during the burst */
	uint8_t sure;
	uint16_t key[SW_BURST + 1];
	/* by group, as sum_of(): all frames; the frames that are enqueued and not charged yet */
	uint64_t sum[TM_CLASSES], due[TM_CLASSES];
	struct mmu_frames all;            /* of the burst */
	struct mmu_room room[TM_CLASSES]; /* by group that is not sure: what certainly still fits */
};

/*
 * Charged bytes << 32 | frame bytes << 8 | 1, so that one addition counts a frame of a burst.
 * sum_frames() has the charged bytes and the number of frames.
 */
static inline uint64_t
sum_of(const struct arrival *a)
{
	static_assert(SW_BURST < 1u << 8, "frames of a burst");
	static_assert((uint64_t)SW_BURST * MAX_FRAME_BYTES < 1u << 24, "their bytes");
	return (uint64_t)a->charged_bytes << 32 | (uint64_t)a->frame_bytes << 8 | 1;
}

static inline struct mmu_frames
sum_frames(uint64_t sum)
{
	return (struct mmu_frames){.bytes = (uint32_t)(sum >> 32), .packets = (uint8_t)sum};
}

static inline uint16_t
key_of(const struct sw_class *c, const struct arrival *a)
{
	unsigned int not_ect = (a->flags & (PKT_ECT | PKT_CE)) == 0;

	if (unlikely(sw_above_mtu(c, a)))
		return KEY_ALONE;
	return (uint16_t)(a->out_port * TM_CLASSES | c->class.tc | not_ect << KEY_NOT_ECT_SHIFT);
}

/* A frame to one of the groups in a storm gets its own decision. */
static __rte_noinline void
set_alone(struct burst *b, uint8_t groups)
{
	for (unsigned int i = 0; i < b->n; i++) {
		if (b->reasons[i] == SW_PASS && groups >> b->a[i].class.pg & 1)
			b->key[i] = KEY_ALONE;
	}
}

/* Classify the frames, and sum them by group. */
static inline void
begin_burst(struct burst *b)
{
	const struct sw *sw = b->sw;
	const struct sw_classes *classes = sw_classes_of(sw, b->port);
	struct arrival *a = b->a;
	uint8_t groups = 0;

	memset(b->sum, 0, sizeof(b->sum));
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
	}
	b->key[b->n] = KEY_ALONE;
	b->groups = groups;
	if (unlikely(groups & sw->ports[b->port].storm_pgs))
		set_alone(b, sw->ports[b->port].storm_pgs);
}

static inline bool
is_within(struct mmu_frames frames, const struct mmu_room *room)
{
	return frames.bytes <= room->bytes && frames.packets <= room->packets;
}

/* Find the groups that are sure, and the room of the others. */
static inline void
find_sure(struct burst *b)
{
	struct mmu *mmu = b->sw->mmu;
	uint8_t sure = b->groups;
	uint64_t all = 0;

	for (unsigned int pg = 0; pg < TM_CLASSES; pg++)
		all += b->sum[pg];
	b->all = sum_frames(all);
	for (uint8_t groups = b->groups; groups != 0; groups &= (uint8_t)(groups - 1)) {
		uint8_t pg = (uint8_t)__builtin_ctz(groups);
		struct mmu_frames frames = sum_frames(b->sum[pg]);

		if (!mmu_ingress_in_bounds(mmu, b->port, pg, frames, b->all)) {
			b->room[pg] = mmu_ingress_room(mmu, b->port, pg, b->all);
			if (!is_within(frames, &b->room[pg]))
				sure &= (uint8_t) ~(1u << pg);
		}
	}
	b->sure = sure;
}

/* Charge the frames that are enqueued. */
static void
charge_due(struct burst *b)
{
	for (uint8_t groups = b->groups; groups != 0; groups &= (uint8_t)(groups - 1)) {
		uint8_t pg = (uint8_t)__builtin_ctz(groups);

		if (b->due[pg] != 0)
			mmu_ingress_charge(b->sw->mmu, b->port, pg, sum_frames(b->due[pg]));
		b->due[pg] = 0;
	}
}

/* End a frame that forwarding has dropped or consumed. */
static __rte_noinline void
end_refused(struct sw *sw, const struct arrival *a, enum sw_drop reason)
{
	if (reason == SW_DROP_TTL)
		sw_icmp_error(sw, a, reason, 0);
	sw_end(sw, a, reason);
}

/* Admit a frame with its own decisions, unless it is dropped. */
static __rte_noinline void
admit_alone(struct burst *b, unsigned int i)
{
	struct arrival *a = &b->a[i];

	if (b->reasons[i] != SW_PASS) {
		end_refused(b->sw, a, b->reasons[i]);
		return;
	}
	charge_due(b);
	sw_admit(b->sw, a);
	b->room[a->class.pg] = mmu_ingress_room(b->sw->mmu, b->port, a->class.pg, b->all);
}

/*
 * Take a run from the room of its group, which is not sure. What is left of the room certainly
 * still fits.
 * @return false: nothing was taken.
 */
static inline bool
take_room(struct burst *b, struct sw_run run)
{
	struct mmu_room *room = &b->room[run.a->class.pg];

	if (!is_within((struct mmu_frames){.bytes = run.bytes, .packets = run.n}, room))
		return false;
	room->bytes -= run.bytes;
	room->packets -= run.n;
	return true;
}

/* The frames of a run, to a port that filters VLANs, before the first that changes its form. */
static __rte_noinline struct sw_run
same_form(const struct sw *sw, struct sw_run run)
{
	struct sw_run same = {.a = run.a};

	for (const struct arrival *a = run.a; same.n < run.n; a++) {
		if (sw_changes_form(sw->forward.vlans, a, a->out_port))
			break;
		same.bytes += a->charged_bytes;
		same.n++;
	}
	return same;
}

static __rte_noinline void
cross_run(struct sw *sw, struct sw_run run)
{
	for (unsigned int i = 0; i < run.n; i++)
		sw_cross(sw, &run.a[i]);
}

/*
 * Admit the run that begins with frame i.
 * @return the number of its frames; 0: the frame needs its own decision, and nothing was done.
 */
static __rte_always_inline unsigned int
admit_run(struct burst *b, unsigned int i)
{
	struct sw *sw = b->sw;
	struct arrival *a = &b->a[i];
	const uint16_t *key = &b->key[i];
	struct sw_run run = {.a = a, .n = 1, .bytes = a->charged_bytes};
	uint8_t pg = a->class.pg;

	if (unlikely(*key & KEY_ALONE))
		return 0;
	for (; key[run.n] == *key; run.n++)
		run.bytes += a[run.n].charged_bytes;
	if (unlikely(!(b->sure >> pg & 1)) && !take_room(b, run))
		return 0;
	if (unlikely(!sw_owns(&sw->shard, a->out_port))) {
		cross_run(sw, run);
	} else {
		if (unlikely(sw->forward.vlans->access_domain[a->out_port] != SW_TRANSPARENT))
			run = same_form(sw, run);
		if (run.n == 0 || !sw_egress_fits(sw, run))
			return 0;
		sw_take_run(sw, run);
	}
	b->due[pg] += (uint64_t)run.bytes << 32 | run.n;
	return run.n;
}

static inline void
admit_runs(struct burst *b)
{
	memset(b->due, 0, sizeof(b->due));
	find_sure(b);
	for (unsigned int i = 0, admitted; i < b->n; i += admitted) {
		admitted = admit_run(b, i);
		if (unlikely(admitted == 0)) {
			admit_alone(b, i);
			admitted = 1;
		}
	}
	charge_due(b);
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

		counter_add(&stats[pg].rx_packets, sum_frames(b->sum[pg]).packets);
		counter_add(&stats[pg].rx_bytes, (uint32_t)b->sum[pg] >> 8);
	}
	for (uint8_t groups = b->groups & sw_classes_of(b->sw, b->port)->lossless_pgs; groups != 0;
	     groups &= (uint8_t)(groups - 1))
		sw_update_lossless(b->sw, b->port, (uint8_t)__builtin_ctz(groups), now_ns);
}

/* Is a frame that is alone in its burst a run, to a port of this shard and in that port's form? */
static inline bool
is_run(const struct sw *sw, const struct sw_class *c, const struct arrival *a)
{
	return a->out_port != FLOOD && sw_owns(&sw->shard, a->out_port) && !sw_above_mtu(c, a) &&
	       !(sw->ports[a->in_port].storm_pgs >> a->class.pg & 1) &&
	       !sw_changes_form(sw->forward.vlans, a, a->out_port);
}

/* sw_admit_burst() of a single frame: with one group, there is nothing to sum. */
static inline void
admit_lone(struct sw *sw, struct arrival *a, enum sw_drop reason)
{
	uint16_t port = a->in_port;
	uint64_t now_ns = a->now_ns;
	uint32_t frame_bytes = a->frame_bytes;
	struct mmu_frames frames = {.bytes = a->charged_bytes, .packets = 1};
	struct sw_run run = {.a = a, .n = 1, .bytes = a->charged_bytes};
	struct sw_pg_stats *stats;
	const struct sw_class *c;
	uint8_t pg;

	if (unlikely(reason != SW_PASS)) {
		end_refused(sw, a, reason);
		return;
	}
	c = sw_classify(sw_classes_of(sw, port), a);
	sw_choose_queue(sw, a);
	pg = a->class.pg;
	if (likely(is_run(sw, c, a)) && mmu_ingress_fits(sw->mmu, port, pg, frames, frames) &&
	    sw_egress_fits(sw, run)) {
		mmu_ingress_charge(sw->mmu, port, pg, frames);
		sw_take_run(sw, run);
	} else {
		sw_admit(sw, a);
	}
	stats = &sw->ports[port].stats.pg[pg];
	counter_inc(&stats->rx_packets);
	counter_add(&stats->rx_bytes, frame_bytes);
	sw_update_xoff(sw, port, pg, now_ns);
}

void
sw_admit_burst(struct sw *sw, struct arrival *a, unsigned int n, const enum sw_drop reasons[])
{
	uint64_t now_ns = a->now_ns;
	struct burst b;

	if (n == 1) {
		admit_lone(sw, a, reasons[0]);
		return;
	}
	b.sw = sw;
	b.a = a;
	b.reasons = reasons;
	b.port = a->in_port;
	b.n = (uint16_t)n;
	begin_burst(&b);
	admit_runs(&b);
	end_burst(&b, now_ns);
}
