// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes a switch as tables of config_db.json.
 *
 * Settings without a counterpart in SONiC are found by reading the tables back (export_form.c).
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "import/export/export_sonic.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "import/export/export_form.h"
#include "import/export/tables.h"
#include "switch/params/port_names.h"
#include "import/conversion/import_log.h"
#include "import/conversion/import_memory.h"

#define MAP_NAME "AZURE"

/* A kind of map that ports name. */
static const struct port_map {
	const char *table, *field;
	size_t at;      /* in struct qos_map_params */
	unsigned int n; /* keys */
} port_maps[] = {
	{"DSCP_TO_TC_MAP", "dscp_to_tc_map", offsetof(struct qos_map_params, dscp_to_tc_map),
	 TM_DSCPS},
	{"DOT1P_TO_TC_MAP", "dot1p_to_tc_map", offsetof(struct qos_map_params, dot1p_to_tc_map),
	 TM_CLASSES},
	{"TC_TO_QUEUE_MAP", "tc_to_queue_map", offsetof(struct qos_map_params, tc_to_queue_map),
	 TM_CLASSES},
	{"TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map",
	 offsetof(struct qos_map_params, tc_to_priority_group_map), TM_CLASSES},
	{"MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map",
	 offsetof(struct qos_map_params, pfc_priority_to_queue_map), TM_CLASSES},
};

static const uint8_t *
values_of(const struct port_map *map, const struct qos_map_params *qos)
{
	return (const uint8_t *)qos + map->at;
}

/* Name the map of a port: AZURE, or after the first port that has this other one. */
static void
set_port_map(struct export_tables *t, const struct port_map *map, uint16_t port,
	     const struct qos_map_params *qos)
{
	const uint8_t *values = values_of(map, &qos[port]);
	char name[EXPORT_NAME + sizeof(MAP_NAME)] = MAP_NAME;
	uint16_t first = 0;

	while (memcmp(values_of(map, &qos[first]), values, map->n) != 0)
		first++;
	if (memcmp(values_of(map, &t->sw->qos), values, map->n) != 0)
		snprintf(name, sizeof(name), "%s_%s", MAP_NAME, t->sw->ports[first].name);
	for (unsigned int i = 0; i < map->n; i++) {
		char key[12];

		snprintf(key, sizeof(key), "%u", i);
		export_set(t, map->table, name, key, "%u", values[i]);
	}
	export_set(t, "PORT_QOS_MAP", t->sw->ports[port].name, map->field, "%s", name);
}

/* "3,4", or "" for no bits. */
static const char *
mask_text(uint8_t mask, char text[16])
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < 8; i++) {
		if (!(mask >> i & 1))
			continue;
		if (n > 0)
			text[n++] = ',';
		text[n++] = (char)('0' + i);
	}
	text[n] = '\0';
	return text;
}

static void
export_ports(struct export_tables *t)
{
	for (uint16_t i = 0; i < t->sw->n_ports; i++) {
		const struct sw_port_params *p = &t->sw->ports[i], *given = &t->given->ports[i];
		const char *name = p->name;

		if (sw_port_has_name(given) && strcmp(given->name, name) != 0)
			export_set(t, "PORT", name, "alias", "%s", given->name);
		export_set(t, "PORT", name, "speed", "%" PRIu64, p->link_speed_bps / MBPS);
		export_set(t, "PORT", name, "mtu", "%u",
			   t->sw->max_frame_bytes - SW_MTU_OVERHEAD_BYTES);
		export_set(t, "PORT", name, "admin_status", "up");
		if (p->pfc_asymmetric)
			export_set(t, "PORT", name, "pfc_asym", "on");
		export_set(t, "CABLE_LENGTH", MAP_NAME, name, "%um", p->cable_length_m);
	}
}

static void
export_maps(struct export_tables *t)
{
	struct qos_map_params qos[SW_DEVICE_PORTS];
	char mask[16];

	for (uint16_t i = 0; i < t->sw->n_ports; i++)
		qos[i] = sw_port_qos(t->sw, i);
	for (uint16_t i = 0; i < t->sw->n_ports; i++) {
		int flow = t->sw->ports[i].flow_control;
		bool pfc = flow == SW_FLOW_PFC || flow == SW_FLOW_AUTO;
		const char *name = t->sw->ports[i].name;

		/* SONiC trusts the DSCP of a port that has a map of it. */
		for (unsigned int m = qos[i].trust == QOS_TRUST_DSCP ? 0 : 1;
		     m < ARRAY_LEN(port_maps); m++)
			set_port_map(t, &port_maps[m], i, qos);
		export_set(t, "PORT_QOS_MAP", name, "pfc_enable", "%s",
			   mask_text(pfc ? qos[i].pfc_enable : 0, mask));
		export_set(t, "PORT_QOS_MAP", name, "pfcwd_sw_enable", "%s",
			   mask_text(t->sw->pfcwd.pfcwd_sw_enable, mask));
	}
}

/* Consecutive equal queues or groups of a port share an entry: "Ethernet0|3-4". */
static void
set_range(struct export_tables *t, const char *table, uint16_t port, unsigned int first,
	  unsigned int last, const char *field, const char *value)
{
	const char *name = t->sw->ports[port].name;
	char key[EXPORT_NAME + 24];

	if (first == last)
		snprintf(key, sizeof(key), "%s|%u", name, first);
	else
		snprintf(key, sizeof(key), "%s|%u-%u", name, first, last);
	export_set(t, table, key, field, "%s", value);
}

/* What SCHEDULER says of a queue. */
struct scheduling {
	bool strict;
	uint8_t weight;
	uint64_t min_rate_bps, max_rate_bps;
	uint32_t burst_bytes;
};

static struct scheduling
scheduling_of(const struct sw_params *sw, uint16_t port, unsigned int queue)
{
	const struct sched_params sched = sw_port_sched(sw, port);
	const struct sw_queue_params *q = &sw->queues[port][queue];

	return (struct scheduling){sched.strict_queues >> queue & 1, sched.dwrr_weight[queue],
				   q->min_rate_bps, q->max_rate_bps, q->burst_bytes};
}

static bool
same_scheduling(const struct scheduling *a, const struct scheduling *b)
{
	return a->strict == b->strict && a->weight == b->weight &&
	       a->min_rate_bps == b->min_rate_bps && a->max_rate_bps == b->max_rate_bps &&
	       a->burst_bytes == b->burst_bytes;
}

static void
set_scheduler(struct export_tables *t, const char *name, const struct scheduling *q)
{
	export_set(t, "SCHEDULER", name, "type", "%s", q->strict ? "STRICT" : "DWRR");
	export_set(t, "SCHEDULER", name, "weight", "%u", q->weight);
	if (q->min_rate_bps > 0)
		export_set(t, "SCHEDULER", name, "cir", "%" PRIu64, q->min_rate_bps / 8);
	if (q->max_rate_bps > 0)
		export_set(t, "SCHEDULER", name, "pir", "%" PRIu64, q->max_rate_bps / 8);
	if (q->burst_bytes != t->default_burst_bytes)
		export_set(t, "SCHEDULER", name, "pbs", "%u", q->burst_bytes);
}

static void
set_wred(struct export_tables *t, const char *key, const struct wred_params *p)
{
	/* As the importer writes SONiC's "ECN without WRED". */
	bool only_marks = p->green_min_threshold_bytes == WRED_MAX_BYTES &&
			  p->ecn_green_max_threshold_bytes > 0;
	bool drops = p->wred_green_enable && !only_marks;
	uint64_t min = only_marks ? p->ecn_green_min_threshold_bytes : p->green_min_threshold_bytes;
	uint64_t max = only_marks ? p->ecn_green_max_threshold_bytes : p->green_max_threshold_bytes;
	uint32_t ppm =
		only_marks ? p->ecn_green_mark_probability_ppm : p->green_drop_probability_ppm;

	export_set(t, "WRED_PROFILE", key, "wred_green_enable", "%s", drops ? "true" : "false");
	export_set(t, "WRED_PROFILE", key, "ecn", "%s",
		   p->ecn == WRED_ECN_ALL ? "ecn_all" : "ecn_none");
	export_set(t, "WRED_PROFILE", key, "green_min_threshold", "%" PRIu64, min);
	export_set(t, "WRED_PROFILE", key, "green_max_threshold", "%" PRIu64, max);
	export_set(t, "WRED_PROFILE", key, "green_drop_probability", "%u", ppm / 10000);
}

/* Equal queues share an entry of SCHEDULER. */
static void
export_queues(struct export_tables *t)
{
	const struct sw_params *sw = t->sw;
	struct scheduling seen[SW_DEVICE_PORTS * TM_CLASSES];
	unsigned int n = 0;
	char name[24];

	for (uint16_t port = 0; port < sw->n_ports; port++) {
		for (unsigned int q = 0; q < TM_CLASSES; q++) {
			const struct sw_queue_params *queue = &sw->queues[port][q];
			struct scheduling is = scheduling_of(sw, port, q);
			unsigned int k = 0;

			while (k < n && !same_scheduling(&is, &seen[k]))
				k++;
			snprintf(name, sizeof(name), "scheduler.%u", k);
			if (k == n) {
				seen[n++] = is;
				set_scheduler(t, name, &is);
			}
			set_range(t, "QUEUE", port, q, q, "scheduler", name);
			if (strcmp(queue->wred_profile, SW_PROFILE_DEFAULT) != 0)
				set_range(t, "QUEUE", port, q, q, "wred_profile",
					  queue->wred_profile);
		}
	}
	for (unsigned int i = 0; i < sw->n_wred_profiles; i++)
		set_wred(t, sw->wred_profiles[i].name, &sw->wred_profiles[i].params);
}

static void
set_profile(struct export_tables *t, const char *name, const char *pool,
	    const struct buffer_profile *p)
{
	static const char table[] = "BUFFER_PROFILE";

	export_set(t, table, name, "pool", "%s", pool);
	export_set(t, table, name, "size", "%" PRIu64, p->size_bytes);
	if (p->dynamic)
		export_set(t, table, name, "dynamic_th", "%d", p->dynamic_th);
	else
		export_set(t, table, name, "static_th", "%" PRIu64, p->static_th_bytes);
	if (p->xon_bytes > 0)
		export_set(t, table, name, "xon", "%" PRIu64, p->xon_bytes);
	if (p->xon_offset_bytes > 0)
		export_set(t, table, name, "xon_offset", "%" PRIu64, p->xon_offset_bytes);
	if (p->xoff_bytes > 0)
		export_set(t, table, name, "xoff", "%" PRIu64, p->xoff_bytes);
}

static void
set_pool(struct export_tables *t, const char *name, const char *type, const char *mode,
	 uint64_t bytes)
{
	export_set(t, "BUFFER_POOL", name, "type", "%s", type);
	export_set(t, "BUFFER_POOL", name, "mode", "%s", mode);
	export_set(t, "BUFFER_POOL", name, "size", "%" PRIu64, bytes);
}

/* SONiC's names of the lossy pools. */
struct classes {
	const char *ingress_lossy_pool, *egress_lossy_pool;
};

static struct classes
export_pools(struct export_tables *t)
{
	const struct mmu_params *mmu = &t->sw->mmu;
	struct classes c = {"ingress_lossless_pool", "egress_lossless_pool"};

	set_pool(t, "ingress_lossless_pool", "ingress", "dynamic",
		 mmu->buffer_bytes - mmu->shared_headroom_pool_bytes - mmu->lossy_pool_bytes);
	if (mmu->shared_headroom_pool_bytes > 0)
		export_set(t, "BUFFER_POOL", "ingress_lossless_pool", "xoff", "%" PRIu64,
			   mmu->shared_headroom_pool_bytes);
	if (mmu->lossy_pool_bytes > 0) {
		c.ingress_lossy_pool = "ingress_lossy_pool";
		set_pool(t, c.ingress_lossy_pool, "ingress", "dynamic", mmu->lossy_pool_bytes);
	}
	set_pool(t, "egress_lossless_pool", "egress", "static", mmu->buffer_bytes);
	if (mmu->egress_lossy_pool_bytes > 0) {
		c.egress_lossy_pool = "egress_lossy_pool";
		set_pool(t, c.egress_lossy_pool, "egress", "dynamic", mmu->egress_lossy_pool_bytes);
	}
	return c;
}

/* SONiC's name of the profile of a group or a queue. */
static const char *
profile_of(const struct sw_params *sw, bool is_pg, uint16_t port, unsigned int i)
{
	const char *own =
		is_pg ? sw->pgs[port][i].buffer_profile : sw->queues[port][i].buffer_profile;
	uint8_t lossless = is_pg ? sw->mmu.lossless_pgs[port] : sw->mmu.lossless_queues[port];

	if (strcmp(own, SW_PROFILE_DEFAULT) != 0)
		return own;
	if (is_pg)
		return lossless >> i & 1 ? "ingress_lossless_profile" : "ingress_lossy_profile";
	return lossless >> i & 1 ? "egress_lossless_profile" : "egress_lossy_profile";
}

static void
export_uses(struct export_tables *t, const char *table, bool is_pg)
{
	for (uint16_t port = 0; port < t->sw->n_ports; port++) {
		for (unsigned int first = 0, i = 1; i <= TM_CLASSES; i++) {
			const char *profile = profile_of(t->sw, is_pg, port, first);

			if (i < TM_CLASSES &&
			    strcmp(profile, profile_of(t->sw, is_pg, port, i)) == 0)
				continue;
			set_range(t, table, port, first, i - 1, "profile", profile);
			first = i;
		}
	}
}

/* The pool of a named profile: that of the first group or queue that uses it. */
static const char *
pool_of(const struct sw_params *sw, const char *name, const struct classes *c)
{
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		for (unsigned int i = 0; i < TM_CLASSES; i++) {
			if (strcmp(sw->pgs[port][i].buffer_profile, name) == 0)
				return sw->mmu.lossless_pgs[port] >> i & 1 ? "ingress_lossless_pool"
									   : c->ingress_lossy_pool;
			if (strcmp(sw->queues[port][i].buffer_profile, name) == 0)
				return sw->mmu.lossless_queues[port] >> i & 1
					       ? "egress_lossless_pool"
					       : c->egress_lossy_pool;
		}
	}
	return "ingress_lossless_pool";
}

static void
export_buffers(struct export_tables *t)
{
	const struct mmu_params *mmu = &t->sw->mmu;
	struct classes c = export_pools(t);

	set_profile(t, "ingress_lossless_profile", "ingress_lossless_pool", &mmu->lossless);
	set_profile(t, "ingress_lossy_profile", c.ingress_lossy_pool, &mmu->lossy);
	set_profile(t, "egress_lossless_profile", "egress_lossless_pool", &mmu->egress_lossless);
	set_profile(t, "egress_lossy_profile", c.egress_lossy_pool, &mmu->egress_lossy);
	for (unsigned int i = 0; i < mmu->n_profiles; i++)
		set_profile(t, mmu->profile_names[i], pool_of(t->sw, mmu->profile_names[i], &c),
			    &mmu->profiles[i]);
	export_uses(t, "BUFFER_PG", true);
	export_uses(t, "BUFFER_QUEUE", false);
}

static void
export_watchdog(struct export_tables *t)
{
	static const char *const actions[] = {"drop", "forward", "alert"};
	const struct pfcwd_params *wd = &t->sw->pfcwd;

	if (wd->pfcwd != PFCWD_SONIC)
		return;
	export_set(t, "PFC_WD", "GLOBAL", "POLL_INTERVAL", "%" PRIu64,
		   wd->poll_interval_ns / NS_PER_MS);
	if (wd->big_red_switch)
		export_set(t, "PFC_WD", "GLOBAL", "BIG_RED_SWITCH", "enable");
	for (uint16_t i = 0; i < t->sw->n_ports; i++) {
		const struct pfcwd_params own = sw_port_pfcwd(t->sw, i);
		const char *name = t->sw->ports[i].name;

		if (!t->sw->ports[i].pfcwd)
			continue;
		export_set(t, "PFC_WD", name, "action", "%s", actions[own.action]);
		export_set(t, "PFC_WD", name, "detection_time", "%" PRIu64,
			   own.detection_time_ns / NS_PER_MS);
		if (own.restoration_time_ns != NEVER_NS)
			export_set(t, "PFC_WD", name, "restoration_time", "%" PRIu64,
				   own.restoration_time_ns / NS_PER_MS);
	}
}

int
export_sonic(const struct import_switch *sw, FILE *out, struct import_log *log)
{
	struct import_switch *form = import_alloc(1, sizeof(*form));
	struct import_switch *defaults = import_alloc(1, sizeof(*defaults));
	struct export_tables t = {0};
	char *json;
	int rc;

	import_switch_begin(defaults);
	import_json_memory();
	t.root = json_object();
	*form = *sw;
	export_form(&form->sw, &defaults->sw, log);
	t.sw = &form->sw;
	t.given = &sw->sw;
	t.default_burst_bytes = defaults->sw.queues[0][0].burst_bytes;
	export_ports(&t);
	export_maps(&t);
	export_queues(&t);
	export_buffers(&t);
	export_watchdog(&t);
	export_network(&t);
	json = json_dumps(t.root, JSON_INDENT(4));
	rc = export_find_lost(json, form, log);
	import_note(log, " lanes of ports depend on the platform and are left out");
	if (rc == 0)
		fprintf(out, "%s\n", json);
	free(json);
	json_decref(t.root);
	free(form);
	free(defaults);
	return rc;
}
