/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/links/fabric_ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "fabric/links/fabric_parts.h"

/* Begins what a rank sends another one between two windows; frames follow. */
struct window_head {
	uint64_t next_ns;
	uint32_t n_frames;
	uint32_t failed;
};

/* Begins a frame; what the carrier has packed follows. */
struct frame_head {
	uint64_t due_ns;
	uint32_t direction;
};

int
fabric_set_ranks(struct fabric *f, struct ranks *ranks, const struct fabric_carrier *carrier)
{
	struct abroad *a = calloc(1, sizeof(*a));

	f->abroad = a;
	if (a == NULL)
		return -ENOMEM;
	a->ranks = ranks;
	a->carrier = *carrier;
	a->out = calloc(ranks->n, sizeof(*a->out));
	a->in = calloc(ranks->n, sizeof(*a->in));
	a->rank_of = calloc(f->n_nodes, sizeof(*a->rank_of));
	if (a->out == NULL || a->in == NULL || a->rank_of == NULL)
		return -ENOMEM;
	return parts_of_ranks(f, a->rank_of);
}

void
abroad_free(struct fabric *f)
{
	struct abroad *a = f->abroad;

	if (a == NULL)
		return;
	for (uint32_t q = 0; a->out != NULL && a->in != NULL && q < a->ranks->n; q++) {
		rank_bytes_free(&a->out[q]);
		rank_bytes_free(&a->in[q]);
	}
	free(a->out);
	free(a->in);
	free(a->rank_of);
	free(a->cables);
	free(a);
}

bool
fabric_owns(const struct fabric *f, uint32_t node)
{
	return owns_node(f, node);
}

uint32_t
fabric_rank_of(const struct fabric *f, uint32_t node)
{
	return rank_of_node(f, node);
}

/* Frames from this part to rank q. @return their number. */
static uint32_t
pack_box(struct fabric *f, struct box *box, struct rank_bytes *to)
{
	const struct fabric_carrier *c = &f->abroad->carrier;
	uint32_t n = box->n;

	for (uint32_t i = 0; i < n; i++) {
		const struct crossing *x = &box->items[i];
		const struct frame_head head = {x->frame.due_ns, x->direction};

		rank_bytes_add(to, &head, sizeof(head));
		c->pack(c->arg, flight_mbuf(&x->frame), to);
	}
	box->n = 0;
	return n;
}

static void
pack(struct fabric *f, uint32_t q, struct window_head head)
{
	struct rank_bytes *to = &f->abroad->out[q];

	to->n = 0;
	rank_bytes_add(to, &head, sizeof(head));
	for (uint32_t i = 0; i < f->n_parts; i++)
		head.n_frames += pack_box(f, &f->parts[i].out[0][f->n_parts + q], to);
	head.failed |= to->no_memory;
	if (to->n >= sizeof(head))
		memcpy(to->at, &head, sizeof(head));
}

/* @return false: a frame is lost. */
static bool
unpack(struct fabric *f, uint32_t q, uint64_t *next_ns)
{
	const struct fabric_carrier *c = &f->abroad->carrier;
	struct rank_reader r = rank_reader_of(&f->abroad->in[q]);
	struct window_head head;

	rank_reader_copy(&r, &head, sizeof(head));
	*next_ns = min_u64(*next_ns, head.next_ns);
	for (uint32_t i = 0; !r.bad && i < head.n_frames; i++) {
		struct frame_head at;
		struct rte_mbuf *m;
		struct direction *d;
		struct flight frame;

		rank_reader_copy(&r, &at, sizeof(at));
		m = c->unpack(c->arg, &r);
		if (m == NULL)
			return false;
		d = &f->directions[at.direction];
		frame = flight_of(m, at.due_ns);
		part_put(f, &f->parts[f->nodes[d->to_node].part], d, &frame);
	}
	return !r.bad && !head.failed;
}

uint64_t
abroad_exchange(struct fabric *f, uint64_t next_ns)
{
	struct abroad *a = f->abroad;
	struct window_head head = {.failed = a->failed};

	for (uint32_t i = 0; i < f->n_parts; i++) {
		next_ns = min_u64(next_ns, f->parts[i].leaving_ns);
		f->parts[i].leaving_ns = NEVER_NS;
		head.failed |= f->parts[i].no_memory;
	}
	head.next_ns = next_ns;
	for (uint32_t q = 0; q < a->ranks->n; q++)
		if (q != a->ranks->self)
			pack(f, q, head);
	if (ranks_exchange(a->ranks, a->out, a->in) < 0)
		a->failed = true;
	for (uint32_t q = 0; !a->failed && q < a->ranks->n; q++)
		if (q != a->ranks->self && !unpack(f, q, &next_ns))
			a->failed = true;
	a->failed |= head.failed;
	a->exchanges++;
	a->before_ns = add_sat(next_ns, a->lookahead_ns);
	return a->failed ? NEVER_NS : next_ns;
}

void
fabric_collect(struct fabric *f)
{
	if (!f->started)
		return;
	parts_collect(f);
	/* A failure is found by the next run. */
	if (f->abroad != NULL)
		(void)abroad_exchange(f, NEVER_NS);
}

/* ---- results ---- */

/* Counts of what this rank has seen of a direction. */
struct far_direction {
	uint32_t direction;
	struct cable_counts counts;
};

static struct cable_counts
counts_of(const struct cable *cable)
{
	struct cable_counts c = {.stats = cable->stats};

	memcpy(c.drops, cable->drops, sizeof(c.drops));
	return c;
}

static void
add_counts(struct cable_counts *sum, const struct cable_counts *c)
{
	for (unsigned int i = 0; i < CABLE_DROP_REASONS; i++)
		sum->drops[i] += c->drops[i];
	cable_stats_add(&sum->stats, &c->stats);
}

static void
pack_counts(const struct fabric *f, struct rank_bytes *to)
{
	uint64_t hops[2] = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_parts; i++) {
		hops[0] += f->parts[i].packet_hops;
		hops[1] += f->parts[i].hop_bytes;
	}
	rank_bytes_add(to, hops, sizeof(hops));
	for (uint32_t i = 0; i < f->n_ends; i++)
		if (is_own(f, &f->nodes[f->directions[i].to_node]))
			rank_bytes_add(to, &f->directions[i].digest, sizeof(uint64_t));
	for (uint32_t i = 0; i < f->n_ends; i++)
		n += f->directions[i].cable != NULL;
	rank_bytes_add(to, &n, sizeof(n));
	for (uint32_t i = 0; i < f->n_ends; i++)
		if (f->directions[i].cable != NULL) {
			struct far_direction far;

			memset(&far, 0, sizeof(far));
			far.direction = i;
			far.counts = counts_of(f->directions[i].cable);
			rank_bytes_add(to, &far, sizeof(far));
		}
}

static void
take_counts(struct fabric *f, uint32_t q, struct rank_reader *r)
{
	struct abroad *a = f->abroad;
	uint64_t hops[2];
	uint32_t n;

	rank_reader_copy(r, hops, sizeof(hops));
	a->packet_hops += hops[0];
	a->hop_bytes += hops[1];
	for (uint32_t i = 0; i < f->n_ends; i++)
		if (a->rank_of[f->directions[i].to_node] == q)
			rank_reader_copy(r, &f->directions[i].digest, sizeof(uint64_t));
	rank_reader_copy(r, &n, sizeof(n));
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		struct far_direction far;

		rank_reader_copy(r, &far, sizeof(far));
		if (far.direction < f->n_ends)
			add_counts(&a->cables[far.direction], &far.counts);
	}
}

int
fabric_gather(struct fabric *f)
{
	struct abroad *a = f->abroad;
	int rc;

	ranks_begin(a->ranks);
	if (a->ranks->self != 0)
		pack_counts(f, &a->ranks->out[0]);
	rc = ranks_to_first(a->ranks);
	if (rc < 0 || a->ranks->self != 0)
		return rc;
	free(a->cables);
	a->cables = calloc(f->n_ends + 1u, sizeof(*a->cables));
	a->packet_hops = a->hop_bytes = 0;
	if (a->cables == NULL)
		return -ENOMEM;
	for (uint32_t q = 1; q < a->ranks->n; q++) {
		struct rank_reader r = rank_reader_of(&a->ranks->in[q]);

		take_counts(f, q, &r);
		if (r.bad)
			return -EIO;
	}
	return 0;
}
