/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One QP under any congestion control of the table, on a port of 40 Gb/s. Parameters are set as a
 * file sets them, and counters are read by their names: the structs of an algorithm are its own.
 */
#ifndef QUENCH_TEST_UNIT_CC_CC_BED_H
#define QUENCH_TEST_UNIT_CC_CC_BED_H

#include <string.h>

#include "unit/cases.h"
#include "base/field/field_table.h"
#include "cc/cc.h"

#define LINE_BPS (40 * GBPS)
#define PACKET_BYTES 1000u /* on the wire, to make the numbers round */

struct cc_bed {
	enum cc_algorithm algorithm;
	struct cc_params params;
	struct cc_stats stats;
	struct cc_node node;
	struct cc cc;
	uint64_t more[64];
};

/* All algorithms with their defaults, and DCQCN's maximum rate. */
static inline void
bed_init(struct cc_bed *b, enum cc_algorithm algorithm)
{
	memset(b, 0, sizeof(*b));
	b->algorithm = algorithm;
	for (int i = CC_NONE + 1; i < CC_ALGORITHMS; i++)
		assert_int_equal(field_defaults(cc_algorithms[i]->fields,
						*cc_algorithms[i]->n_fields,
						&b->params.of[CC_SLOT(i)]),
				 0);
	b->params.of[CC_SLOT(CC_DCQCN)].rp.rp_max_rate_bps = LINE_BPS;
}

/* Set a key of the algorithm. */
static inline void
bed_set(struct cc_bed *b, const char *key, const char *text)
{
	const struct cc_ops *ops = cc_algorithms[b->algorithm];
	const struct field_alias *alias;
	const struct field *field = field_find(ops->fields, *ops->n_fields, key, &alias);

	assert_non_null(field);
	assert_int_equal(
		field_parse(field, alias, text, &b->params.of[CC_SLOT(b->algorithm)], NULL, 0), 0);
}

static inline void
bed_start(struct cc_bed *b, uint64_t start_rate_bps)
{
	const struct cc_setup setup = {.algorithm = b->algorithm,
				       .max_rate_bps = LINE_BPS,
				       .params = &b->params,
				       .stats = &b->stats};

	cc_init(&b->node, &setup);
	assert_true(b->node.ops->more_bytes <= sizeof(b->more));
	assert_int_equal(cc_on_start(&b->cc, &b->node,
				     &(struct cc_begin){.rate_bps = start_rate_bps,
							.packet_bytes = PACKET_BYTES,
							.more = b->more},
				     0),
			 CC_DID_START);
}

/* A counter of the algorithm. */
static inline uint64_t
bed_count(const struct cc_bed *b, const char *name)
{
	const struct cc_ops *ops = cc_algorithms[b->algorithm];
	const char *stats = (const char *)&b->stats.of[CC_SLOT(b->algorithm)];

	for (unsigned int i = 0; i < *ops->n_counters; i++)
		if (strcmp(ops->counters[i].name, name) == 0)
			return *(const uint64_t *)(const void *)(stats + ops->counters[i].offset);
	fail_msg("no counter %s", name);
	return 0;
}

static inline struct cc_view
bed_view(const struct cc_bed *b, uint64_t now_ns)
{
	struct cc_view view;

	cc_read(&b->cc, &b->node, &view, now_ns);
	return view;
}

static inline int
bed_check(const struct cc_bed *b, char *why, unsigned int why_size)
{
	return cc_params_check(b->algorithm, &b->params, LINE_BPS, why, why_size);
}

#endif
