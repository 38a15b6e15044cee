// SPDX-License-Identifier: BSD-3-Clause
/* PORT_QOS_MAP, and the maps that it refers to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "import/conversion/import_classes.h"
#include "import/conversion/import_memory.h"
#include "import/sonic/parts.h"

struct map {
	const char *field; /* of PORT_QOS_MAP */
	const char *table;
	uint8_t keys, values; /* number of keys and of values in a file */
	size_t offset;        /* in struct qos_map_params; PFC_TO_PG: none */
};

#define PFC_TO_PG ((size_t)-1)
#define FILE_TCS 16    /* traffic classes of SONiC, of which quench has eight */
#define FILE_QUEUES 16 /* queues of some platforms */
#define MEMBER(member) offsetof(struct qos_map_params, member)

static const struct map maps[] = {
	{"dscp_to_tc_map", "DSCP_TO_TC_MAP", TM_DSCPS, FILE_TCS, MEMBER(dscp_to_tc_map)},
	{"dot1p_to_tc_map", "DOT1P_TO_TC_MAP", 8, FILE_TCS, MEMBER(dot1p_to_tc_map)},
	{"tc_to_queue_map", "TC_TO_QUEUE_MAP", FILE_TCS, FILE_QUEUES, MEMBER(tc_to_queue_map)},
	{"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", FILE_TCS, 8, MEMBER(tc_to_priority_group_map)},
	{"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", 8, 8, MEMBER(pfc_priority_to_queue_map)},
	{"pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", 8, 8, PFC_TO_PG},
};
#define N_MAPS (ARRAY_LEN(maps))
enum { DSCP_TO_TC, DOT1P_TO_TC, TC_TO_QUEUE, TC_TO_PG };

/* A map of the file. */
struct file_map {
	unsigned int kind; /* number in maps[] */
	char name[SONIC_TEXT];
	uint8_t values[TM_DSCPS];
	uint64_t given; /* keys in the map */
};

#define NO_MAP (-1)

struct file_maps {
	struct file_map *list;
	unsigned int n;
	int of_port[SW_DEVICE_PORTS][N_MAPS]; /* numbers in the list, or NO_MAP */
	int first[N_MAPS];                    /* the first map that is named, or NO_MAP */
};

/* The values in force on a port. */
struct in_force {
	bool is_set[N_MAPS];
	uint8_t values[N_MAPS][TM_DSCPS];
	uint8_t pfc_enable;
	int trust;
	int of[N_MAPS]; /* numbers in the list of maps, or NO_MAP */
};

/* @return the map's number in the list, or -EINVAL after a refusal. */
static int
read_map(struct sonic *s, struct file_maps *all, unsigned int kind, const char *name)
{
	const struct map *map = &maps[kind];
	struct file_map *out;
	json_t *entry = sonic_entry(s, map->table, name);
	char key[8];

	all->list = import_grow(all->list, all->n + 1, sizeof(*all->list));
	out = &all->list[all->n];
	*out = (struct file_map){.kind = kind};
	for (unsigned int k = 0; k < map->keys; k++) {
		int64_t value = 0;
		int rc;

		snprintf(key, sizeof(key), "%u", k);
		rc = sonic_take_number(s, map->table, name, key, 0, map->values - 1u, &value);
		if (rc < 0)
			return rc;
		if (kind == TC_TO_QUEUE && value >= TM_CLASSES) {
			import_note(s->log, " %s|%.80s|%s = %u: queue %u, the highest one",
				    map->table, name, key, (unsigned int)value, TM_CLASSES - 1);
			value = TM_CLASSES - 1;
		}
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
	return (int)all->n++;
}

/* Read a field of some ports. */
static int
use_map(struct sonic *s, struct file_maps *all, unsigned int kind, const char *key, uint64_t ports)
{
	char name[SONIC_TEXT];
	int number = NO_MAP;
	int rc = sonic_take_reference(s, "PORT_QOS_MAP", key, maps[kind].field, maps[kind].table,
				      name);

	if (rc <= 0)
		return rc;
	for (unsigned int i = 0; i < all->n; i++)
		if (all->list[i].kind == kind && strcmp(all->list[i].name, name) == 0)
			number = (int)i;
	if (number == NO_MAP)
		number = read_map(s, all, kind, name);
	if (number < 0)
		return number;
	if (all->first[kind] == NO_MAP)
		all->first[kind] = number;
	for (uint16_t i = 0; i < s->out->sw.n_ports; i++)
		if (ports >> i & 1)
			all->of_port[i][kind] = number;
	return 0;
}

static int
read_port_map(struct sonic *s, const char *key, uint64_t ports, struct file_maps *all,
	      uint8_t *watched, bool *has_watched)
{
	uint8_t mask;
	int rc = 0;

	for (unsigned int m = 0; rc >= 0 && m < N_MAPS; m++)
		rc = use_map(s, all, m, key, ports);
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

/* Ports without PFC have the priorities of the others, which have no effect there. */
static void
set_pfc(struct sonic *s)
{
	struct sw_params *sw = &s->out->sw;
	uint8_t most = 0;
	unsigned int n_most = 0;

	for (uint16_t i = 0; i < sw->n_ports; i++) {
		unsigned int n = 0;

		for (uint16_t k = 0; k < sw->n_ports; k++)
			n += s->pfc_enable[k] == s->pfc_enable[i];
		if (s->pfc_enable[i] != 0 && n > n_most) {
			most = s->pfc_enable[i];
			n_most = n;
		}
	}
	for (uint16_t i = 0; i < sw->n_ports; i++) {
		if (s->pfc_enable[i] != 0)
			continue;
		s->pfc_enable[i] = most;
		sw->ports[i].flow_control = SW_FLOW_OFF;
		if (sw->ports[i].pfc_asymmetric)
			sonic_lose(s, "PORT", sw->ports[i].name, "pfc_asym", "on",
				   "the port has no PFC");
		sw->ports[i].pfc_asymmetric = false;
	}
}

/* The number of keys that quench has too. */
static unsigned int
own_keys(const struct map *map)
{
	return map->keys == FILE_TCS ? TM_CLASSES : map->keys;
}

/* A port that names no map of a kind has the first one; without any: class 0, or the identity. */
static struct in_force
values_of(const struct sonic *s, const struct file_maps *all, uint16_t port)
{
	struct in_force f = {.pfc_enable = s->pfc_enable[port]};
	const int *of = all->of_port[port];

	for (unsigned int m = 0; m < N_MAPS; m++) {
		f.of[m] = of[m] != NO_MAP ? of[m] : all->first[m];
		f.is_set[m] = f.of[m] != NO_MAP;
		if (f.is_set[m])
			memcpy(f.values[m], all->list[f.of[m]].values, sizeof(f.values[m]));
		for (uint8_t i = 0; !f.is_set[m] && m >= TC_TO_QUEUE && i < TM_CLASSES; i++)
			f.values[m][i] = m != TC_TO_PG || f.pfc_enable >> i & 1 ? i : 0;
	}
	f.trust = f.of[DSCP_TO_TC] == NO_MAP && f.of[DOT1P_TO_TC] != NO_MAP ? QOS_TRUST_PCP
									    : QOS_TRUST_DSCP;
	if (of[DSCP_TO_TC] == NO_MAP && of[DOT1P_TO_TC] != NO_MAP)
		f.trust = QOS_TRUST_PCP;
	return f;
}

/*
 * A class that stands for class tc above 7 on all ports: one of the same queue and group; or one
 * that no packet has, which gets them. -1: none.
 */
static int
stand_in(struct in_force *ports, unsigned int n, uint8_t tc, uint16_t used)
{
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		unsigned int k = 0;

		while (k < n &&
		       ports[k].values[TC_TO_QUEUE][i] == ports[k].values[TC_TO_QUEUE][tc] &&
		       ports[k].values[TC_TO_PG][i] == ports[k].values[TC_TO_PG][tc])
			k++;
		if (k == n)
			return i;
	}
	for (uint8_t i = TM_CLASSES; i-- > 0;) {
		if (used >> i & 1)
			continue;
		for (unsigned int k = 0; k < n; k++) {
			ports[k].values[TC_TO_QUEUE][i] = ports[k].values[TC_TO_QUEUE][tc];
			ports[k].values[TC_TO_PG][i] = ports[k].values[TC_TO_PG][tc];
		}
		return i;
	}
	return -1;
}

/* Classes of the packets that some port receives. */
static uint16_t
used_classes(const struct in_force *ports, unsigned int n)
{
	uint16_t used = 0;

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int m = DSCP_TO_TC; m <= DOT1P_TO_TC; m++)
			for (unsigned int k = 0; ports[i].is_set[m] && k < maps[m].keys; k++)
				used |= (uint16_t)(1u << ports[i].values[m][k]);
	return used;
}

/* A class above 7 has nothing but its queue and group, and most have those of a class up to 7. */
static void
fold_classes(struct sonic *s, struct in_force *ports, unsigned int n)
{
	uint16_t used = used_classes(ports, n);
	int to[FILE_TCS];

	for (uint8_t tc = TM_CLASSES; tc < FILE_TCS; tc++) {
		if (!(used >> tc & 1))
			continue;
		to[tc] = stand_in(ports, n, tc, used);
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
			tc, ports[0].values[TC_TO_QUEUE][tc], ports[0].values[TC_TO_PG][tc]);
	}
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int m = DSCP_TO_TC; m <= DOT1P_TO_TC; m++)
			for (unsigned int k = 0; k < maps[m].keys; k++)
				if (ports[i].values[m][k] >= TM_CLASSES)
					ports[i].values[m][k] = (uint8_t)to[ports[i].values[m][k]];
}

static void
note_maps(struct sonic *s, const struct file_maps *all)
{
	for (unsigned int m = 0; m < N_MAPS - 1; m++) {
		for (unsigned int i = 0; i < all->n; i++)
			if (all->list[i].kind == m &&
			    ~all->list[i].given & UINT64_MAX >> (64 - own_keys(&maps[m])))
				import_note(s->log, " %s|%.80s: missing keys map to 0",
					    maps[m].table, all->list[i].name);
		if (all->first[m] == NO_MAP && m >= TC_TO_QUEUE)
			import_note(s->log, " PORT_QOS_MAP: no %s: each number maps to itself",
				    maps[m].field);
	}
}

/* A priority belongs to the group of the same number. */
static void
lose_groups(struct sonic *s, const struct file_maps *all, const struct in_force *ports)
{
	for (unsigned int m = 0; m < all->n; m++) {
		const struct file_map *pg = &all->list[m];
		uint8_t prios = 0;

		if (maps[pg->kind].offset != PFC_TO_PG)
			continue;
		for (uint16_t i = 0; i < s->out->sw.n_ports; i++)
			if (ports[i].of[pg->kind] == (int)m)
				prios |= ports[i].pfc_enable;
		for (uint8_t i = 0; i < TM_CLASSES; i++)
			if (prios >> i & 1 && pg->values[i] != i)
				import_lost(s->log,
					    " %s|%.80s|%u = %u: a priority belongs to the group of "
					    "the same number",
					    maps[pg->kind].table, pg->name, i, pg->values[i]);
	}
}

/*
 * Some platforms pause by class rather than by group: none of their classes has the group of a
 * priority. Then the class of its number gets that group.
 */
static void
give_groups(struct sonic *s, struct in_force *ports)
{
	uint8_t noted = 0;

	for (uint16_t i = 0; i < s->out->sw.n_ports; i++) {
		uint8_t *pgs = ports[i].values[TC_TO_PG];

		for (uint8_t p = 0; p < TM_CLASSES; p++) {
			uint8_t pg = pgs[p];

			if (!(ports[i].pfc_enable >> p & 1) || memchr(pgs, p, TM_CLASSES) != NULL)
				continue;
			pgs[p] = p;
			if (!(noted >> p & 1))
				import_note(s->log,
					    " TC_TO_PRIORITY_GROUP_MAP: class %u has group %u in "
					    "place of %u: a priority of pfc_enable belongs to the "
					    "group of the same number",
					    p, p, pg);
			noted |= (uint8_t)(1u << p);
		}
	}
}

static void
set_maps(struct sonic *s, const struct file_maps *all)
{
	struct sw_params *sw = &s->out->sw;
	struct in_force *ports = import_alloc(SW_DEVICE_PORTS, sizeof(*ports));
	struct qos_map_params qos[SW_DEVICE_PORTS];

	for (uint16_t i = 0; i < sw->n_ports; i++)
		ports[i] = values_of(s, all, i);
	fold_classes(s, ports, sw->n_ports);
	note_maps(s, all);
	lose_groups(s, all, ports);
	give_groups(s, ports);
	for (uint16_t i = 0; i < sw->n_ports; i++) {
		qos[i] = (struct qos_map_params){.trust = ports[i].trust,
						 .pfc_enable = ports[i].pfc_enable};
		for (unsigned int m = 0; m < N_MAPS - 1; m++)
			memcpy((char *)&qos[i] + maps[m].offset, ports[i].values[m],
			       own_keys(&maps[m]));
	}
	free(ports);
	import_set_qos(sw, qos);
}

int
sonic_maps(struct sonic *s)
{
	json_t *table = json_object_get(s->root, "PORT_QOS_MAP"), *entry;
	struct file_maps all = {0};
	uint8_t watched = 0;
	bool has_watched = false;
	const char *key;
	void *next;
	int rc = 0;

	memset(all.of_port, 0xff, sizeof(all.of_port));
	memset(all.first, 0xff, sizeof(all.first));
	/* What the entry of a port says replaces what this one says. */
	if (json_object_get(table, "global") != NULL)
		rc = read_port_map(s, "global", UINT64_MAX, &all, &watched, &has_watched);
	json_object_foreach_safe (table, next, key, entry) {
		struct sonic_place place;

		(void)entry;
		if (rc < 0)
			break;
		rc = strcmp(key, "global") == 0 ? 0 : sonic_place(s, "PORT_QOS_MAP", key, &place);
		if (rc > 0)
			rc = read_port_map(s, key, place.ports, &all, &watched, &has_watched);
	}
	if (rc >= 0) {
		set_pfc(s);
		set_maps(s, &all);
	}
	if (rc >= 0 && has_watched)
		s->out->sw.pfcwd.pfcwd_sw_enable = watched;
	free(all.list);
	return rc < 0 ? rc : 0;
}
