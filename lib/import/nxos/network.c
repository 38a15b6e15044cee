// SPDX-License-Identifier: BSD-3-Clause
/* policy-map of type network-qos: MTU and lossless classes; and the resulting maps. */
#include <inttypes.h>
#include <string.h>

#include "import/nxos/parts.h"

/* Largest MTU: with its overhead a frame has at most 16000 bytes. */
#define MAX_MTU (16000u - SW_MTU_OVERHEAD_BYTES)

/* Names predefined by NX-OS. */
static const char *const queue_names[] = {"c-out-8q-q", "c-out-q", "c-in-8q-q", "c-in-q", NULL};
static const char *const network_names[] = {"c-8q-nq", "c-nq", NULL};

static int
own_group(const char *name, const char *const *prefixes)
{
	for (; *prefixes != NULL; prefixes++) {
		size_t n = strlen(*prefixes);

		if (strncasecmp(name, *prefixes, n) != 0)
			continue;
		if (strcasecmp(name + n, "-default") == 0)
			return 0;
		if (name[n] >= '0' && name[n] < '0' + NX_GROUPS && name[n + 1] == '\0')
			return name[n] - '0';
	}
	return -1;
}

/*
 * Group of a class-map that the user has defined, with "match qos-group 3". Another policy may have
 * used its lines.
 */
static int
mapped_group(struct nxos *x, const char *type, const char *name)
{
	struct nx_args a;
	uint64_t group;

	for (int map = nx_next_of(&x->nx, NX_TOP, -1); map >= 0;
	     map = nx_next_of(&x->nx, NX_TOP, map)) {
		if ((!nx_is(&x->nx.lines[map], "class-map type % match-any %", &a) &&
		     !nx_is(&x->nx.lines[map], "class-map type % match-all %", &a) &&
		     !nx_is(&x->nx.lines[map], "class-map type % %", &a)) ||
		    strcasecmp(a.word[0], type) != 0 || strcmp(a.word[1], name) != 0)
			continue;
		for (int i = nx_next_of(&x->nx, map, -1); i >= 0; i = nx_next_of(&x->nx, map, i)) {
			if (!nx_is(&x->nx.lines[i], "match qos-group %", &a) ||
			    nx_number(&x->nx, i, a.word[0], 0, NX_GROUPS - 1, &group) != 0)
				continue;
			nx_use(&x->nx, i);
			nx_use(&x->nx, map);
			return (int)group;
		}
	}
	return -1;
}

static int
group_of(struct nxos *x, const char *type, const char *name)
{
	bool queuing = strcmp(type, "queuing") == 0;
	int group = own_group(name, queuing ? queue_names : network_names);

	if (group < 0 && strcasecmp(name, "class-default") == 0)
		group = 0;
	return group >= 0 ? group : mapped_group(x, type, name);
}

int
nxos_next_class(struct nxos *x, const char *type, int policy, int i, int *group)
{
	struct nx_args a;

	for (i = nx_next(&x->nx, policy, i); i >= 0; i = nx_next(&x->nx, policy, i)) {
		if ((nx_is(&x->nx.lines[i], "class type % %", &a) &&
		     strcasecmp(a.word[0], type) == 0) ||
		    (nx_is(&x->nx.lines[i], "class %", &a) && a.n == 1)) {
			*group = group_of(x, type, a.word[a.n - 1]);
			if (*group >= 0) {
				nx_use(&x->nx, i);
				return i;
			}
			nx_lose_block(&x->nx, i, "class without a known qos-group");
		}
	}
	return -1;
}

static int
read_no_drop(struct nxos *x, int line, const char *text, uint8_t group)
{
	uint64_t cos;
	int rc = nx_number(&x->nx, line, text, 0, 7, &cos);

	for (unsigned int g = 0; rc == 0 && g < NX_GROUPS; g++)
		if (x->no_drop >> g & 1 && g != group && x->pfc_cos[g] == cos)
			return nx_refuse(&x->nx, line,
					 "a pfc-cos that no other class "
					 "has");
	if (rc == 0) {
		x->no_drop |= (uint8_t)(1u << group);
		x->pfc_cos[group] = (uint8_t)cos;
		nx_use(&x->nx, line);
	}
	return rc;
}

/* "pause buffer-size B pause-threshold P resume-threshold R pfc-cos C", bytes of one port. */
static int
read_pause_buffer(struct nxos *x, int line, const struct nx_args *a, uint8_t group)
{
	struct buffer_profile profile;
	struct nx_pause pause;
	const char *name;
	char suffix[16];
	int rc = nxos_read_pause(x, line, a, &pause);

	if (rc == 0)
		rc = read_no_drop(x, line, a->word[3], group);
	if (rc != 0)
		return rc;
	profile = nxos_pause_profile(&pause);
	snprintf(suffix, sizeof(suffix), "pause_%u", x->pfc_cos[group]);
	name = nxos_add_profile(x, NX_NO_POLICY, suffix, &profile);
	for (unsigned int port = 0; port < SW_DEVICE_PORTS; port++)
		snprintf(x->out->sw.pgs[port][x->pfc_cos[group]].buffer_profile,
			 SW_PROFILE_NAME + 1, "%s", name);
	return 0;
}

static int
read_line(struct nxos *x, int i, uint8_t group)
{
	static const char pause_buffer[] =
		"pause buffer-size % pause-threshold % resume-threshold % pfc-cos %";
	struct nx_line *l = &x->nx.lines[i];
	struct nx_args a;
	uint64_t mtu;
	int rc;

	if (nx_is(l, "mtu %", &a)) {
		rc = nx_number(&x->nx, i, a.word[0], 64, MAX_MTU, &mtu);
		x->out->sw.tcs[group].mtu_bytes = (uint32_t)mtu;
		nx_use(&x->nx, i);
		return rc;
	}
	if ((nx_is(l, "pause pfc-cos %", &a) || nx_is(l, pause_buffer, &a)) &&
	    x->no_drop >> group & 1)
		return nx_refuse(&x->nx, i, "one pause line per class");
	if (nx_is(l, "pause pfc-cos %", &a))
		return read_no_drop(x, i, a.word[0], group);
	if (nx_is(l, pause_buffer, &a))
		return read_pause_buffer(x, i, &a, group);
	if (nx_is(l, "pause pfc-cos % receive", &a))
		l->why = "a priority obeys and sends pauses, or neither";
	if (nx_is(l, "pause no-drop", &a))
		l->why = "pause without pfc-cos";
	if (nx_is(l, "congestion-control tail-drop", &a))
		nx_use(&x->nx, i); /* a queue without WRED does so anyway */
	return 0;
}

int
nxos_network(struct nxos *x)
{
	uint32_t longest = 0;
	int group, rc = 0;

	for (int c = -1;
	     rc == 0 && x->network_policy >= 0 &&
	     (c = nxos_next_class(x, "network-qos", x->network_policy, c, &group)) >= 0;)
		for (int i = nx_next(&x->nx, c, -1); rc == 0 && i >= 0; i = nx_next(&x->nx, c, i))
			rc = read_line(x, i, (uint8_t)group);
	if (rc != 0)
		return rc;
	for (unsigned int g = 0; g < NX_GROUPS; g++)
		if (x->out->sw.tcs[g].mtu_bytes > longest)
			longest = x->out->sw.tcs[g].mtu_bytes;
	if (longest + SW_MTU_OVERHEAD_BYTES > x->out->sw.max_frame_bytes)
		x->out->sw.max_frame_bytes = longest + SW_MTU_OVERHEAD_BYTES;
	if (longest > 0)
		import_note(x->log,
			    " classes without an mtu: frames up to max_frame_bytes = %" PRIu32,
			    x->out->sw.max_frame_bytes);
	return 0;
}

static uint8_t
lowest_free(uint8_t taken)
{
	uint8_t pg = 0;

	while (pg < TM_CLASSES - 1 && taken >> pg & 1)
		pg++;
	return pg;
}

/*
 * A lossless qos-group uses the priority group of its PFC priority, and a pause of that priority
 * stops its queue. Each strict queue has its own priority group, so that bulk data cannot exhaust
 * its limit; the others share one.
 */
void
nxos_maps(struct nxos *x)
{
	struct qos_map_params *qos = &x->out->sw.qos;
	uint8_t lossless = 0, taken;

	for (unsigned int g = 0; g < NX_GROUPS; g++)
		if (x->no_drop >> g & 1)
			lossless |= (uint8_t)(1u << x->pfc_cos[g]);
	taken = lossless;
	for (uint8_t g = 0; g < NX_GROUPS; g++) {
		bool strict = x->out->sw.sched.strict_queues >> g & 1;
		uint8_t pg = lowest_free(lossless);

		if (x->no_drop >> g & 1)
			pg = x->pfc_cos[g];
		else if (strict && !(taken >> g & 1))
			pg = g;
		qos->tc_to_priority_group_map[g] = pg;
		taken |= (uint8_t)(1u << pg);
		qos->tc_to_queue_map[g] = g;
	}
	for (uint8_t p = 0; p < TM_CLASSES; p++)
		qos->pfc_priority_to_queue_map[p] = p;
	for (uint8_t g = 0; g < NX_GROUPS; g++)
		if (x->no_drop >> g & 1)
			qos->pfc_priority_to_queue_map[x->pfc_cos[g]] = g;
	qos->pfc_enable = lossless;
}
