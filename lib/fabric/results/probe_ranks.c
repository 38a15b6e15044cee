/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks have measured of their nodes, for the results, which rank 0 has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sets/hist.h"
#include "fabric/results/pauses.h"
#include "fabric/results/probe_state.h"

/* Of a switch. */
struct far_switch {
	uint64_t pause_frames, last_pause_ns, ticks;
};

/* The lengths of a queue; weights follow, as {bucket, weight}. */
struct far_lengths {
	uint64_t count, sum, max;
	uint32_t n;
};

static void
pack_lengths(const struct lengths *l, struct rank_bytes *to)
{
	struct far_lengths far;
	size_t at = to->n;

	memset(&far, 0, sizeof(far));
	far.count = l->count;
	far.sum = l->sum;
	far.max = l->max;
	far.n = l->n_few;
	rank_bytes_add(to, &far, sizeof(far));
	for (uint32_t i = 0; i < l->n_few; i++)
		rank_bytes_add(to, &l->few[i], sizeof(l->few[i]));
	for (uint32_t i = 0; l->hist != NULL && i < HIST_BUCKETS; i++) {
		struct few_length few;

		if (l->hist->weight[i] == 0)
			continue;
		memset(&few, 0, sizeof(few));
		few.weight = l->hist->weight[i];
		few.bucket = i;
		rank_bytes_add(to, &few, sizeof(few));
		far.n++;
	}
	if (!to->no_memory)
		memcpy(to->at + at, &far, sizeof(far));
}

/* @return false: no memory. */
static bool
unpack_lengths(struct lengths *l, struct rank_reader *from)
{
	struct far_lengths far;

	lengths_free(l);
	rank_reader_copy(from, &far, sizeof(far));
	for (uint32_t i = 0; i < far.n && !from->bad; i++) {
		struct few_length few;

		rank_reader_copy(from, &few, sizeof(few));
		if (few.bucket >= HIST_BUCKETS || !lengths_add_bucket(l, few.bucket, few.weight))
			return false;
	}
	l->count = far.count;
	l->sum = far.sum;
	l->max = far.max;
	return true;
}

static void
pack_switch(const struct probe *p, uint32_t sw, bool end, struct rank_bytes *to)
{
	const struct probe_switch *s = &p->switches[sw];
	const struct far_switch far = {s->pause_frames, s->last_pause_ns, s->ticks};

	rank_bytes_add(to, &far, sizeof(far));
	for (uint32_t i = p->first_queue[sw]; i < p->first_queue[sw + 1]; i++) {
		rank_bytes_add(to, &p->queues[i].peak_bytes, sizeof(uint64_t));
		if (end)
			pack_lengths(&p->queues[i].lengths, to);
	}
}

static bool
unpack_switch(struct probe *p, uint32_t sw, bool end, struct rank_reader *from)
{
	struct probe_switch *s = &p->switches[sw];
	struct far_switch far;
	bool ok = true;

	rank_reader_copy(from, &far, sizeof(far));
	s->pause_frames = far.pause_frames;
	s->last_pause_ns = far.last_pause_ns;
	s->ticks = far.ticks;
	for (uint32_t i = p->first_queue[sw]; ok && i < p->first_queue[sw + 1]; i++) {
		rank_reader_copy(from, &p->queues[i].peak_bytes, sizeof(uint64_t));
		if (end)
			ok = unpack_lengths(&p->queues[i].lengths, from);
	}
	return ok && !from->bad;
}

bool
probe_gather_nodes(struct probe *p, bool all)
{
	int rc = net_gather(p->net, all);

	if (rc < 0)
		errno = -rc;
	return rc == 0;
}

static bool
gather(struct probe *p, bool end)
{
	struct ranks *ranks = net_ranks(p->net);
	uint32_t n = scenario_of(p)->topology->n_switches;
	bool ok;

	if (ranks == NULL)
		return true;
	if (!probe_gather_nodes(p, end))
		return false;
	ranks_begin(ranks);
	for (uint32_t i = 0; ranks->self != 0 && i < n; i++)
		if (net_owns(p->net, i))
			pack_switch(p, i, end, &ranks->out[0]);
	ok = ranks_to_first(ranks) == 0;
	for (uint32_t q = 1; ok && ranks->self == 0 && q < ranks->n; q++) {
		struct rank_reader from = rank_reader_of(&ranks->in[q]);

		for (uint32_t i = 0; ok && i < n; i++)
			if (net_rank_of(p->net, i) == q)
				ok = unpack_switch(p, i, end, &from);
	}
	if (!ok)
		errno = ENOMEM;
	return ok;
}

bool
probe_gather_sample(struct probe *p)
{
	return gather(p, false);
}

bool
probe_gather_end(struct probe *p)
{
	if (!gather(p, true))
		return false;
	if (pauses_gather(p->pauses) == 0)
		return true;
	errno = ENOMEM;
	return false;
}
