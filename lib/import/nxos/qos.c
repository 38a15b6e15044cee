// SPDX-License-Identifier: BSD-3-Clause
/* class-maps and policy-maps of type qos: the group of a frame. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "import/conversion/import_classes.h"
#include "import/conversion/import_memory.h"
#include "import/nxos/parts.h"

#define DSCPS TM_DSCPS

/* Names of DSCPs (RFC 2474, 2597 and 3246). */
static const struct {
	const char *name;
	uint8_t dscp;
} dscp_names[] = {
	{"default", 0}, {"cs1", 8},   {"af11", 10}, {"af12", 12}, {"af13", 14}, {"cs2", 16},
	{"af21", 18},   {"af22", 20}, {"af23", 22}, {"cs3", 24},  {"af31", 26}, {"af32", 28},
	{"af33", 30},   {"cs4", 32},  {"af41", 34}, {"af42", 36}, {"af43", 38}, {"cs5", 40},
	{"ef", 46},     {"cs6", 48},  {"cs7", 56},
};

/* Values that a class-map matches. */
struct matches {
	uint64_t dscp;
	uint8_t cos;
	bool has_dscp, has_cos, has_other;
	int cos_line;
};

static int
one_value(struct nxos *x, int line, const char *word, uint64_t most, uint64_t *value)
{
	for (size_t i = 0; most == DSCPS - 1 && i < ARRAY_LEN(dscp_names); i++) {
		if (strcasecmp(word, dscp_names[i].name) == 0) {
			*value = dscp_names[i].dscp;
			return 0;
		}
	}
	return nx_number(&x->nx, line, word, 0, most, value);
}

/* Parse "24,26-30 ef" as a set. */
static int
value_set(struct nxos *x, int line, char *list, uint64_t most, uint64_t *set)
{
	char *state = NULL;
	int rc = 0;

	*set = 0;
	for (char *word = strtok_r(list, ", ", &state); rc == 0 && word != NULL;
	     word = strtok_r(NULL, ", ", &state)) {
		char *dash = strchr(word, '-');
		uint64_t first, last;

		if (dash != NULL)
			*dash = '\0';
		rc = one_value(x, line, word, most, &first);
		last = first;
		if (rc == 0 && dash != NULL)
			rc = one_value(x, line, dash + 1, most, &last);
		if (rc == 0 && first > last)
			return nx_refuse(&x->nx, line, "the lower number first");
		for (uint64_t v = first; rc == 0 && v <= last; v++)
			*set |= 1ull << v;
	}
	return rc == 0 && *set == 0 ? nx_refuse(&x->nx, line, "numbers") : rc;
}

/* Precedence is the upper three bits of a DSCP (RFC 2474 4.2.2). */
static uint64_t
dscps_of(uint64_t precedences)
{
	uint64_t set = 0;

	for (unsigned int p = 0; p < 8; p++)
		if (precedences >> p & 1)
			set |= 0xffull << 8 * p;
	return set;
}

static void
join(struct matches *m, bool all, uint64_t dscp, uint8_t cos)
{
	if (dscp != 0) {
		m->dscp = all && m->has_dscp ? m->dscp & dscp : m->dscp | dscp;
		m->has_dscp = true;
	}
	if (cos != 0) {
		m->cos = (uint8_t)(all && m->has_cos ? m->cos & cos : m->cos | cos);
		m->has_cos = true;
	}
}

static int
read_match(struct nxos *x, int line, bool all, struct matches *m)
{
	const struct nx_line *l = &x->nx.lines[line];
	uint64_t set = 0;
	struct nx_args a;
	int rc = 0;

	if (nx_is(l, "match dscp ...", &a) || nx_is(l, "match ip dscp ...", &a)) {
		rc = value_set(x, line, a.rest, DSCPS - 1, &set);
		join(m, all, set, 0);
	} else if (nx_is(l, "match precedence ...", &a) ||
		   nx_is(l, "match ip precedence ...", &a)) {
		rc = value_set(x, line, a.rest, 7, &set);
		join(m, all, dscps_of(set), 0);
	} else if (nx_is(l, "match cos ...", &a)) {
		rc = value_set(x, line, a.rest, 7, &set);
		join(m, all, 0, (uint8_t)set);
		m->cos_line = line;
	} else if (nx_is(l, "description ...", &a)) {
		nx_lose(&x->nx, line, "a class has no description in quench-switch");
		return 0;
	} else {
		m->has_other = true;
		nx_lose(&x->nx, line, "only DSCP or CoS can select a class");
		return 0;
	}
	nx_use(&x->nx, line);
	return rc;
}

/*
 * Class-maps of any type, sorted by name and line for fast look-up, because there may be thousands.
 */
struct class_map {
	const char *name;
	int line;
};

struct class_maps {
	struct class_map *maps;
	size_t n;
};

static int
by_name(const void *a, const void *b)
{
	const struct class_map *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : x->line - y->line;
}

static void
list_class_maps(struct nxos *x, struct class_maps *out)
{
	out->maps = import_alloc((size_t)x->nx.n + 1, sizeof(*out->maps));
	for (int i = nx_next_of(&x->nx, NX_TOP, -1); i >= 0; i = nx_next_of(&x->nx, NX_TOP, i)) {
		const struct nx_line *l = &x->nx.lines[i];

		if (nx_is(l, "class-map % ...", NULL))
			out->maps[out->n++] = (struct class_map){strrchr(l->text, ' ') + 1, i};
	}
	qsort(out->maps, out->n, sizeof(*out->maps), by_name);
}

/* Index of the first class-map whose name is not below `name`; maps->n: there is none. */
static size_t
first_named(const struct class_maps *maps, const char *name)
{
	size_t low = 0, high = maps->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(maps->maps[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* @return the line of the class-map, or -1. *all: match-all. */
static int
find_class_map(struct nxos *x, const struct class_maps *maps, const char *name, bool *all)
{
	static const char *const heads[] = {
		"class-map type qos match-any %", "class-map match-any %",
		"class-map type qos match-all %", "class-map match-all %",
		"class-map type qos %",           "class-map %",
	};
	struct nx_args a;

	for (size_t i = first_named(maps, name);
	     i < maps->n && strcmp(maps->maps[i].name, name) == 0; i++) {
		const struct nx_line *l = &x->nx.lines[maps->maps[i].line];

		for (unsigned int k = 0; k < ARRAY_LEN(heads); k++) {
			if (!nx_is(l, heads[k], &a) || strcmp(a.word[0], name) != 0)
				continue;
			*all = k >= 2; /* match-all is also the default of NX-OS */
			return maps->maps[i].line;
		}
	}
	return -1;
}

/* @return 0; 1: the class cannot be carried over; or -EINVAL. */
static int
read_class_map(struct nxos *x, const struct class_maps *maps, int line, const char *name,
	       struct matches *m)
{
	bool all = false;
	int map = find_class_map(x, maps, name, &all), rc = 0;

	*m = (struct matches){.cos_line = -1};
	if (map < 0)
		return nx_refuse(&x->nx, line, "a class-map of type qos with this name");
	/*
	 * nx_next_of(), which also returns used lines, because another policy may have used the
	 * class-map.
	 */
	for (int i = nx_next_of(&x->nx, map, -1); rc == 0 && i >= 0; i = nx_next_of(&x->nx, map, i))
		rc = read_match(x, i, all, m);
	if (rc != 0)
		return rc;
	if (all && (m->has_other || (m->has_dscp && m->has_cos))) {
		for (int i = nx_next_of(&x->nx, map, -1); i >= 0; i = nx_next_of(&x->nx, map, i))
			nx_lose(&x->nx, i, "match-all of different kinds has no counterpart");
		nx_lose(&x->nx, map, "match-all of different kinds has no counterpart");
		return 1;
	}
	nx_use(&x->nx, map);
	return 0;
}

/* Read the actions of a class. Leaves *group unchanged if none sets it. */
static int
read_actions(struct nxos *x, int class, uint8_t *group)
{
	struct nx_args a;
	uint64_t value;
	int rc = 0;

	for (int i = nx_next(&x->nx, class, -1); rc == 0 && i >= 0; i = nx_next(&x->nx, class, i)) {
		if (nx_is(&x->nx.lines[i], "set qos-group %", &a)) {
			rc = nx_number(&x->nx, i, a.word[0], 0, NX_GROUPS - 1, &value);
			*group = (uint8_t)value;
			nx_use(&x->nx, i);
		} else {
			x->nx.lines[i].why = "only set qos-group has a counterpart";
		}
	}
	return rc;
}

struct assignment {
	struct qos_map_params *qos;
	uint8_t default_group; /* group of class-default */
	uint64_t dscp_done;
	uint8_t cos_done;
	bool has_dscp, has_cos;
	int cos_line; /* a line that matches CoS; -1: none */
};

/* A frame belongs to the first class that matches, so assign only values not assigned yet. */
static void
assign(const struct matches *m, uint8_t group, struct assignment *done)
{
	struct qos_map_params *qos = done->qos;

	for (unsigned int d = 0; d < DSCPS; d++)
		if ((m->dscp & ~done->dscp_done) >> d & 1)
			qos->dscp_to_tc_map[d] = group;
	for (unsigned int c = 0; c < TM_CLASSES; c++)
		if ((m->cos & ~done->cos_done) >> c & 1)
			qos->dot1p_to_tc_map[c] = group;
	done->dscp_done |= m->dscp;
	done->cos_done |= m->cos;
	done->has_dscp |= m->has_dscp;
	done->has_cos |= m->has_cos;
	if (m->cos_line >= 0)
		done->cos_line = m->cos_line;
}

static int
read_class(struct nxos *x, const struct class_maps *maps, int line, const char *name,
	   struct assignment *done)
{
	struct matches m = {.cos_line = -1};
	uint8_t group = 0;
	int rc;

	if (strcasecmp(name, "class-default") == 0) {
		m.dscp = UINT64_MAX;
		m.cos = UINT8_MAX;
		rc = read_actions(x, line, &group);
		done->default_group = group;
	} else {
		rc = read_class_map(x, maps, line, name, &m);
		if (rc == 1) {
			nx_lose_block(&x->nx, line,
				      "the class-map of this class is not carried "
				      "over");
			return 0;
		}
		if (rc == 0)
			rc = read_actions(x, line, &group);
	}
	nx_use(&x->nx, line);
	assign(&m, group, done);
	return rc;
}

static int
read_policy(struct nxos *x, const struct class_maps *maps, int policy, struct qos_map_params *qos)
{
	struct assignment done = {.qos = qos, .cos_line = -1};
	struct nx_args a;
	int rc = 0;

	memset(qos->dscp_to_tc_map, 0, sizeof(qos->dscp_to_tc_map));
	memset(qos->dot1p_to_tc_map, 0, sizeof(qos->dot1p_to_tc_map));
	if (policy == NX_NO_POLICY)
		return 0;
	for (int i = nx_next(&x->nx, policy, -1); rc == 0 && i >= 0; i = nx_next(&x->nx, policy, i))
		if (nx_is(&x->nx.lines[i], "class type qos %", &a) ||
		    nx_is(&x->nx.lines[i], "class %", &a))
			rc = read_class(x, maps, i, a.word[0], &done);
	qos->trust = !done.has_dscp && done.has_cos ? QOS_TRUST_PCP : QOS_TRUST_DSCP;
	if (done.has_dscp && done.has_cos)
		nx_lose(&x->nx, done.cos_line,
			"in part: where DSCP is trusted, CoS counts for tagged frames without IP");
	if (qos->trust == QOS_TRUST_PCP && done.default_group != 0)
		import_note(x->log,
			    "%u: class-default is group %u; with trust = pcp an untagged frame is "
			    "class 0",
			    x->nx.lines[policy].number, done.default_group);
	return rc;
}

int
nxos_qos(struct nxos *x)
{
	struct sw_params *sw = &x->out->sw;
	struct qos_map_params qos[SW_DEVICE_PORTS];
	struct class_maps maps = {0};
	int rc = 0;

	list_class_maps(x, &maps);
	for (uint16_t i = 0; rc == 0 && i < sw->n_ports; i++) {
		uint16_t first = nxos_first_with(x, i, NX_QOS);

		qos[i] = first < i ? qos[first] : sw->qos;
		if (first == i)
			rc = read_policy(x, &maps, nxos_policy(x, i, NX_QOS), &qos[i]);
	}
	free(maps.maps);
	if (rc == 0)
		import_set_qos(sw, qos);
	return rc;
}
