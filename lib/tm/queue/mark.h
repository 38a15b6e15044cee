/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marking schemes beside WRED, for one queue: bytes and times in, a decision out.
 *
 * mark_table.h lists the schemes. To add one, write a file with params, state, counters and a
 * struct mark_ops (mark_ops.h), and a line in that table: keys, sections, counters and reports
 * follow from them. WRED is not one of them: it is inline in the switch, and costs nothing more for
 * the others.
 */
#ifndef QUENCH_TM_QUEUE_MARK_H
#define QUENCH_TM_QUEUE_MARK_H

#include "tm/queue/mark_ops.h"

#define MARK(id, word) MARK_##id,
enum mark_scheme {
	MARK_WRED,
#include "tm/queue/mark_table.h"
	MARK_SCHEMES
};
#undef MARK

/** Words of enum mark_scheme, NULL-terminated. */
extern const char *const mark_words[];

/** By enum mark_scheme; NULL for MARK_WRED. */
extern const struct mark_ops *const mark_schemes[MARK_SCHEMES];

/* The keys of each scheme. */
#define MARK(id, word) FIELD_TABLE(word##_fields);
#include "tm/queue/mark_table.h"
#undef MARK

/* Parameters of every scheme but MARK_WRED. */
struct mark_params {
	union mark_keys of[MARK_SCHEMES - 1];
};

/* Place of a scheme's parameters in struct mark_params. */
#define MARK_SLOT(scheme) ((unsigned int)(scheme)-1)

/* One queue. ops is NULL for MARK_WRED, and all other members are then unused. */
struct mark_queue {
	const struct mark_ops *ops;
	uint64_t rate_bps;
	union mark_keys params;
	union mark_state state;
	union mark_counts counts;
};

/** Rules of all schemes. @return 0, or as params_refuse(). */
int mark_params_check(const struct mark_params *params, char *why, unsigned int why_size);

/**
 * Set scheme and parameters. State and counters stay.
 *
 * @param params    Passed mark_params_check().
 * @param rate_bps  Rate of the queue's port, in wire bytes.
 */
void mark_set(struct mark_queue *m, enum mark_scheme scheme, const struct mark_params *params,
	      uint64_t rate_bps);

/** Should the packet be marked? m has a scheme. */
static inline bool
mark_hit(struct mark_queue *m, const struct mark_packet *packet)
{
	return m->ops->hit(&m->params, &m->state, &m->counts, m->rate_bps, packet);
}

#endif
