// SPDX-License-Identifier: BSD-3-Clause
#include "import/conversion/import_classes.h"

#include <string.h>

#include "base/numbers/array.h"

/* A key of [qos_map] or [scheduler] that a port may have too. */
struct key {
	size_t at, size;      /* in struct qos_map_params or sched_params */
	size_t own, own_flag; /* in struct sw_port_classes */
};

#define KEY(owner, member)                                                                         \
	{                                                                                          \
		offsetof(struct owner, member), sizeof(((struct owner *)0)->member),               \
			offsetof(struct sw_port_classes, member),                                  \
			offsetof(struct sw_port_classes, own_##member)                             \
	}

static const struct key qos_keys[] = {
	KEY(qos_map_params, dscp_to_tc_map),
	KEY(qos_map_params, dot1p_to_tc_map),
	KEY(qos_map_params, tc_to_queue_map),
	KEY(qos_map_params, tc_to_priority_group_map),
	KEY(qos_map_params, pfc_priority_to_queue_map),
	KEY(qos_map_params, pfc_enable),
};

static const struct key sched_keys[] = {
	KEY(sched_params, strict_queues),
	KEY(sched_params, dwrr_weight),
};

/* A member of the objects of ports, which are `step` bytes apart. */
struct column {
	const char *first;
	size_t step, size;
	uint16_t n;
};

static bool
same(const struct column *c, uint16_t a, uint16_t b)
{
	return memcmp(c->first + a * c->step, c->first + b * c->step, c->size) == 0;
}

/* The first port that has the value of most ports. */
static uint16_t
most_common(const struct column *c)
{
	unsigned int most = 0;
	uint16_t best = 0;

	for (uint16_t i = 0; i < c->n; i++) {
		unsigned int n = 0;

		for (uint16_t k = 0; k < c->n; k++)
			n += same(c, i, k);
		if (n > most) {
			most = n;
			best = i;
		}
	}
	return best;
}

static void
set_key(struct sw_params *sw, const struct key *key, void *shared, const void *objects, size_t step)
{
	const struct column c = {(const char *)objects + key->at, step, key->size, sw->n_ports};
	uint16_t best = most_common(&c);

	memcpy((char *)shared + key->at, c.first + best * step, key->size);
	for (uint16_t i = 0; i < sw->n_ports; i++) {
		char *own = (char *)&sw->ports[i].classes;
		bool differs = !same(&c, i, best);

		*(bool *)(own + key->own_flag) = differs;
		memset(own + key->own, 0, key->size);
		if (differs)
			memcpy(own + key->own, c.first + i * step, key->size);
	}
}

void
import_set_qos(struct sw_params *sw, const struct qos_map_params *qos)
{
	const struct column trusts = {(const char *)&qos->trust, sizeof(*qos), sizeof(qos->trust),
				      sw->n_ports};
	uint16_t best = most_common(&trusts);

	for (unsigned int k = 0; k < ARRAY_LEN(qos_keys); k++)
		set_key(sw, &qos_keys[k], &sw->qos, qos, sizeof(*qos));
	sw->qos.trust = qos[best].trust;
	for (uint16_t i = 0; i < sw->n_ports; i++)
		sw->ports[i].classes.trust = same(&trusts, i, best) ? 0 : 1 + qos[i].trust;
}

void
import_set_sched(struct sw_params *sw, const struct sched_params *sched)
{
	for (unsigned int k = 0; k < ARRAY_LEN(sched_keys); k++)
		set_key(sw, &sched_keys[k], &sw->sched, sched, sizeof(*sched));
}
