// SPDX-License-Identifier: BSD-3-Clause
/* PORT_QOS_MAP, and the maps that it refers to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "import/sonic/parts.h"

struct map {
	const char *field; /* of PORT_QOS_MAP */
	const char *table;
	uint8_t keys, values; /* number of keys and of values in a file */
	size_t offset;        /* in struct qos_map_params; PFC_TO_PG: none */
};

#define PFC_TO_PG ((size_t)-1)
#define FILE_TCS 16 /* traffic classes of SONiC, of which quench has eight */
#define MEMBER(member) offsetof(struct qos_map_params, member)

static const struct map maps[] = {
	{"dscp_to_tc_map", "DSCP_TO_TC_MAP", TM_DSCPS, FILE_TCS, MEMBER(dscp_to_tc_map)},
	{"dot1p_to_tc_map", "DOT1P_TO_TC_MAP", 8, FILE_TCS, MEMBER(dot1p_to_tc_map)},
	{"tc_to_queue_map", "TC_TO_QUEUE_MAP", FILE_TCS, 8, MEMBER(tc_to_queue_map)},
	{"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", FILE_TCS, 8, MEMBER(tc_to_priority_group_map)},
	{"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", 8, 8, MEMBER(pfc_priority_to_queue_map)},
	{"pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", 8, 8, PFC_TO_PG},
};
#define N_MAPS (ARRAY_LEN(maps))
enum { DSCP_TO_TC, DOT1P_TO_TC, TC_TO_QUEUE, TC_TO_PG };

/* The active map of one kind. */
struct in_force {
	char name[SONIC_TEXT];
	bool is_set;
	uint8_t values[TM_DSCPS];
	uint64_t given; /* keys in the map */
};

static int
read_map(struct sonic *s, const struct map *map, const char *name, struct in_force *out)
{
	json_t *entry = sonic_entry(s, map->table, name);
	char key[8];

	for (unsigned int k = 0; k < map->keys; k++) {
		int64_t value = 0;
		int rc;

		snprintf(key, sizeof(key), "%u", k);
		rc = sonic_take_number(s, map->table, name, key, 0, map->values - 1u, &value);
		if (rc < 0)
			return rc;
		out->values[k] = (uint8_t)value;
		out->given |= (uint64_t)(rc > 0) << k;
	}
	if (json_object_size(entry) > 0)
		return sonic_refuse(s, map->table, name,
				    json_object_iter_key(json_object_iter(entry)), NULL,
				    map->keys == TM_DSCPS   ? "a DSCP from 0 to 63"
				    : map->keys == FILE_TCS ? "a traffic class from 0 to 15"
							    : "a number from 0 to 7");
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->is_set = true;
	return 0;
}

/* Read a field of a port: all ports must name the same map. */
static int
use_map(struct sonic *s, const struct map *map, const char *port, struct in_force *out)
{
	char name[SONIC_TEXT];
	int rc = sonic_take_reference(s, "PORT_QOS_MAP", port, map->field, map->table, name);

	if (rc <= 0)
		return rc;
	if (!out->is_set)
		return read_map(s, map, name, out);
	if (strcmp(out->name, name) != 0)
		sonic_lose(s, "PORT_QOS_MAP", port, map->field, name,
			   "another map is in use; all ports share one map");
	return 0;
}

static int
read_port_map(struct sonic *s, const char *key, uint64_t ports, struct in_force in_force[N_MAPS],
	      uint8_t *watched, bool *has_watched)
{
	uint8_t mask;
	int rc = 0;

	for (unsigned int m = 0; rc >= 0 && m < N_MAPS; m++)
		rc = use_map(s, &maps[m], key, &in_force[m]);
	if (rc >= 0)
		rc = sonic_take_set(s, "PORT_QOS_MAP", key, "pfc_enable", &mask);
	for (uint16_t i = 0; rc > 0 && i < s->out->sw.n_ports; i++) {
		if (ports >> i & 1) {
			s->pfc_enable[i] = mask;
			s->has_pfc_enable[i] = true;
		}
	}
	if (rc >= 0)
		rc = sonic_take_set(s, "PORT_QOS_MAP", key, "pfcwd_sw_enable", &mask);
	if (rc > 0 && *has_watched && mask != *watched)
		sonic_lose(s, "PORT_QOS_MAP", key, "pfcwd_sw_enable", NULL,
			   "other priorities are watched; watched priorities are the same on all "
			   "ports");
	if (rc > 0 && !*has_watched) {
		*watched = mask;
		*has_watched = true;
	}
	return rc < 0 ? rc : 0;
}

/* In quench all ports with PFC have the same priorities: use the union over all ports. */
static void
set_pfc(struct sonic *s)
{
	struct sw_params *sw = &s->out->sw;

	sw->qos.pfc_enable = 0;
	for (uint16_t i = 0; i < sw->n_ports; i++)
		sw->qos.pfc_enable |= s->pfc_enable[i];
	for (uint16_t i = 0; i < sw->n_ports; i++) {
		if (s->pfc_enable[i] == 0)
			sw->ports[i].flow_control = SW_FLOW_OFF;
		else if (s->pfc_enable[i] != sw->qos.pfc_enable)
			sonic_lose(s, "PORT_QOS_MAP", s->out->sw.ports[i].name, "pfc_enable", NULL,
				   "other ports have more priorities; all ports with PFC have "
				   "the same priorities");
		if (sw->ports[i].flow_control == SW_FLOW_OFF && sw->ports[i].pfc_asymmetric) {
			sonic_lose(s, "PORT", s->out->sw.ports[i].name, "pfc_asym", "on",
				   "the port has no PFC");
			sw->ports[i].pfc_asymmetric = false;
		}
	}
}

/*
 * A class that stands for class tc above 7: one of the same queue and group; or one that no packet
 * has, which gets them. -1: none.
 */
static int
stand_in(struct in_force in_force[N_MAPS], uint8_t tc, uint16_t used)
{
	uint8_t *queues = in_force[TC_TO_QUEUE].values, *pgs = in_force[TC_TO_PG].values;

	for (uint8_t i = 0; i < TM_CLASSES; i++)
		if (queues[i] == queues[tc] && pgs[i] == pgs[tc])
			return i;
	for (uint8_t i = TM_CLASSES; i-- > 0;) {
		if (used >> i & 1)
			continue;
		queues[i] = queues[tc];
		pgs[i] = pgs[tc];
		return i;
	}
	return -1;
}

/* A class above 7 has nothing but its queue and group, and most have those of a class up to 7. */
static void
fold_classes(struct sonic *s, struct in_force in_force[N_MAPS])
{
	uint16_t used = 0;
	int to[FILE_TCS];

	for (unsigned int m = DSCP_TO_TC; m <= DOT1P_TO_TC; m++)
		for (unsigned int k = 0; in_force[m].is_set && k < maps[m].keys; k++)
			used |= (uint16_t)(1u << in_force[m].values[k]);
	for (uint8_t tc = TM_CLASSES; tc < FILE_TCS; tc++) {
		if (!(used >> tc & 1))
			continue;
		to[tc] = stand_in(in_force, tc, used);
		if (to[tc] >= 0) {
			used |= (uint16_t)(1u << to[tc]);
			import_note(
				s->log,
				" TC_TO_QUEUE_MAP: class %u is class %d, which has its queue and "
				"priority group",
				tc, to[tc]);
			continue;
		}
		to[tc] = 0;
		import_lost(
			s->log,
			" DSCP_TO_TC_MAP: class %u is class 0: there are eight classes, and none "
			"of them has its queue %u and priority group %u",
			tc, in_force[TC_TO_QUEUE].values[tc], in_force[TC_TO_PG].values[tc]);
	}
	for (unsigned int m = DSCP_TO_TC; m <= DOT1P_TO_TC; m++)
		for (unsigned int k = 0; k < maps[m].keys; k++)
			if (in_force[m].values[k] >= TM_CLASSES)
				in_force[m].values[k] = (uint8_t)to[in_force[m].values[k]];
}

/* The number of keys that quench has too. */
static unsigned int
own_keys(const struct map *map)
{
	return map->keys == FILE_TCS ? TM_CLASSES : map->keys;
}

static void
set_maps(struct sonic *s, struct in_force in_force[N_MAPS])
{
	struct qos_map_params *qos = &s->out->sw.qos;
	const struct in_force *pg = &in_force[N_MAPS - 1];

	/* Set the maps that no port names: all values to class 0, or the identity. */
	memset(qos->dscp_to_tc_map, 0, sizeof(qos->dscp_to_tc_map));
	memset(qos->dot1p_to_tc_map, 0, sizeof(qos->dot1p_to_tc_map));
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		qos->tc_to_queue_map[i] = i;
		qos->tc_to_priority_group_map[i] = qos->pfc_enable >> i & 1 ? i : 0;
		qos->pfc_priority_to_queue_map[i] = i;
	}
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		if (!in_force[TC_TO_QUEUE].is_set)
			in_force[TC_TO_QUEUE].values[i] = qos->tc_to_queue_map[i];
		if (!in_force[TC_TO_PG].is_set)
			in_force[TC_TO_PG].values[i] = qos->tc_to_priority_group_map[i];
	}
	fold_classes(s, in_force);
	for (unsigned int m = 0; m < N_MAPS - 1; m++) {
		unsigned int n = own_keys(&maps[m]);

		if (in_force[m].is_set || m == TC_TO_QUEUE || m == TC_TO_PG)
			memcpy((char *)qos + maps[m].offset, in_force[m].values, n);
		if (in_force[m].is_set && ~in_force[m].given & UINT64_MAX >> (64 - n))
			import_note(s->log, " %s|%.80s: missing keys map to 0", maps[m].table,
				    in_force[m].name);
		if (!in_force[m].is_set && m >= 2)
			import_note(s->log, " PORT_QOS_MAP: no %s: each number maps to itself",
				    maps[m].field);
	}
	qos->trust = !in_force[0].is_set && in_force[1].is_set ? QOS_TRUST_PCP : QOS_TRUST_DSCP;
	for (uint8_t i = 0; pg->is_set && i < TM_CLASSES; i++) {
		char text[8];

		snprintf(text, sizeof(text), "%u", pg->values[i]);
		if (qos->pfc_enable >> i & 1 && pg->values[i] != i)
			import_lost(s->log,
				    " %s|%.80s|%u = %s: a priority belongs to the group of the "
				    "same number",
				    maps[N_MAPS - 1].table, pg->name, i, text);
	}
}

/*
 * Some platforms pause by class rather than by group: none of their classes has the group of a
 * priority. Then the class of its number gets that group.
 */
static void
give_groups(struct sonic *s)
{
	struct qos_map_params *qos = &s->out->sw.qos;

	for (uint8_t p = 0; p < TM_CLASSES; p++) {
		uint8_t pg = qos->tc_to_priority_group_map[p];

		if (!(qos->pfc_enable >> p & 1) ||
		    memchr(qos->tc_to_priority_group_map, p, TM_CLASSES) != NULL)
			continue;
		qos->tc_to_priority_group_map[p] = p;
		import_note(s->log,
			    " TC_TO_PRIORITY_GROUP_MAP: class %u has group %u in place of %u: a "
			    "priority of pfc_enable belongs to the group of the same number",
			    p, p, pg);
	}
}

int
sonic_maps(struct sonic *s)
{
	json_t *table = json_object_get(s->root, "PORT_QOS_MAP"), *entry;
	struct in_force in_force[N_MAPS];
	uint8_t watched = 0;
	bool has_watched = false;
	const char *key;
	void *next;
	int rc = 0;

	memset(in_force, 0, sizeof(in_force));
	json_object_foreach_safe (table, next, key, entry) {
		struct sonic_place place = {.ports = UINT64_MAX};

		(void)entry;
		if (rc >= 0)
			rc = strcmp(key, "global") == 0
				     ? 1
				     : sonic_place(s, "PORT_QOS_MAP", key, &place);
		if (rc > 0)
			rc = read_port_map(s, key, place.ports, in_force, &watched, &has_watched);
	}
	if (rc < 0)
		return rc;
	set_pfc(s);
	set_maps(s, in_force);
	give_groups(s);
	if (has_watched)
		s->out->sw.pfcwd.pfcwd_sw_enable = watched;
	return 0;
}
