/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/scenario/scenario_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "ctl/config/config_sections.h"
#include "ctl/nic_config/job_file.h"
#include "ctl/nic_config/nic_config.h"
#include "ctl/nic_config/workload_file.h"
#include "ctl/switch_config/switch_config.h"
#include "fabric/scenario/scenario_path.h"
#include "quench-lab/sections/capture_file.h"
#include "quench-lab/sections/port_file.h"
#include "quench-lab/sections/trace_file.h"

/* finish() of struct config_kind. Call capture_release() whatever the result. */
static int
read_frames(struct config *cfg, const char *section, void *item, void *arg,
	    struct config_error *err)
{
	struct event_params *e = item;
	bool has_frame = strcmp(e->frame, "none") != 0, has_file = strcmp(e->file, "none") != 0;
	char why[160], path[4096];
	int rc = 0;

	(void)arg;
	/* A scenario with both or neither is refused later. */
	if (e->action != EVENT_SEND || has_frame == has_file)
		return 0;
	if (has_frame) {
		rc = capture_from_hex(e->frame, &e->send, why, sizeof(why));
	} else {
		config_beside(cfg, e->file, path, sizeof(path));
		rc = capture_from_file(path, &e->send, why, sizeof(why));
	}
	return rc == 0 ? 0 : config_refuse(cfg, section, has_frame ? "frame" : "file", why, err);
}

static int
finish_flow(struct config *cfg, const char *section, void *item, void *arg,
	    struct config_error *err)
{
	struct flow_params *flow = item;
	struct config_rows rows = {0};
	struct workload work;
	char why[256];

	(void)arg;
	if (workload_read_cdf(cfg, section, &flow->work, NULL, err) < 0 ||
	    trace_file_read(cfg, section, flow, err) < 0)
		return -EINVAL;
	work = flow->work;
	/* scenario_resolve() computes load_bps, because it depends on the links. */
	if (flow->load_ppm > 0 && workload_is_open(&work) && work.load_bps == 0)
		work.load_bps = 1;
	if (workload_check(&work, why, sizeof(why)) == 0)
		return 0;
	config_rows_add(&rows, section, flow_fields, flow_fields_n, flow, false);
	config_rows_refuse(cfg, &rows, why, err);
	config_rows_free(&rows);
	return -EINVAL;
}

static int
finish_job(struct config *cfg, const char *section, void *item, void *arg, struct config_error *err)
{
	struct job_section *job = item;
	const struct job_section *before = scenario_job_before(arg, job);

	if (before != NULL && job_keys_has_file(&job->keys) &&
	    strcmp(before->goal, job->goal) == 0) {
		job->graph = job_graph_share(&before->graph);
		return 0;
	}
	return job_file_read(cfg, section, &job->keys, &job->graph, err);
}

static const char *
unused_of_job(const void *item, const struct field *field)
{
	const struct job_section *job = item;

	return job_keys_unused(&job->keys, field);
}

#define KIND(word, item, table, array)                                                             \
	CONFIG_KIND(word, "NAME", struct scenario, struct item, table, array, FLOW_NAME_CHARS)

/* A flow's name goes into a column of flows.csv, a recording's becomes a file name. */
const struct config_kind scenario_kinds[] = {
	[SCENARIO_LINKS] = {KIND("link", link_section, link_section_fields, links),
			    .not_in_name = ",\"/ "},
	[SCENARIO_HOSTS] = {KIND("host", host_section, host_section_fields, host_sections),
			    .not_in_name = ",\"/ "},
	[SCENARIO_STATIC_ROUTES] = {KIND("static_route", static_route, static_route_fields,
					 static_routes),
				    .not_in_name = ",\"/ "},
	/* Not those of jobs, which follow them in the array. */
	[SCENARIO_FLOWS] = {.word = "flow",
			    .name = "NAME",
			    .fields = flow_fields,
			    .n_fields = &flow_fields_n,
			    .item_bytes = sizeof(struct flow_params),
			    .name_at = offsetof(struct flow_params, name),
			    .items = offsetof(struct scenario, flows),
			    .count = offsetof(struct scenario, n_flow_sections),
			    .name_chars = FLOW_NAME_CHARS,
			    .not_in_name = ",\"",
			    .finish = finish_flow},
	[SCENARIO_JOBS] = {KIND("job", job_section, job_section_fields, jobs), .not_in_name = ",\"",
			   .finish = finish_job, .unused = unused_of_job},
	[SCENARIO_STREAMS] = {CONFIG_KIND("stream", "NAME", struct scenario, struct stream_params,
					  stream_fields, streams, STREAM_NAME_CHARS),
			      .not_in_name = ",\""},
	[SCENARIO_RECORDS] = {KIND("record", record_params, record_fields, records),
			      .not_in_name = "/. "},
	[SCENARIO_EVENTS] = {KIND("event", event_params, event_fields, events),
			     .finish = read_frames},
};

static int
read_switch(struct config *cfg, const char *section, const struct sw_params *common,
	    struct switch_section *out, struct config_error *err)
{
	const char *name = strchr(section, ' ') + 1;
	char expected[96];

	if (strlen(name) > TOPOLOGY_NAME_CHARS || strpbrk(name, ",\"/") != NULL) {
		snprintf(expected, sizeof(expected),
			 "a name of 1 to %d characters, no comma, quote or slash among them",
			 TOPOLOGY_NAME_CHARS);
		return config_refuse(cfg, section, NULL, expected, err);
	}
	/* A number, or h and a number, names a host. */
	if (strspn(name + (*name == 'h'), "0123456789") == strlen(name + (*name == 'h')) ||
	    strcmp(name, "all") == 0)
		return config_refuse(cfg, section, NULL, "a name that no host has", err);
	if (config_read_new(cfg, section, switch_section_fields, switch_section_fields_n, out,
			    err) < 0)
		return -EINVAL;
	strcpy(out->name, name);
	sw_params_copy(common, &out->sw);
	return switch_config_read_one(cfg, section, &out->sw, err);
}

/* [switch T4 queue 3] is read with [switch T4], which must exist. @return 1: it is such a section,
 * -1: [switch T4] is missing, 0: another section. */
static int
is_of_switch(const struct config *cfg, const char *section, struct config_error *err)
{
	const char *name = strchr(section, ' ');
	const char *rest = name == NULL ? NULL : strchr(name + 1, ' ');
	char owner[CONFIG_MAX_NAME + 1];

	if (rest == NULL)
		return 0;
	snprintf(owner, sizeof(owner), "%.*s", (int)(rest - section), section);
	if (config_has(cfg, owner))
		return 1;
	config_refuse(cfg, section, NULL, "a section [switch NAME] of that switch, too", err);
	return -1;
}

/* [switch NAME]. [switch] without a name applies to all. */
static int
read_switches(struct config *cfg, struct scenario *s, struct config_error *err)
{
	uint32_t n = 0;

	for (const char *at = NULL; (at = config_next(cfg, "switch", at)) != NULL;)
		n++;
	if (scenario_reserve_switches(s, n + 1) < 0)
		return config_refuse(cfg, "switch", NULL, "fewer sections: out of memory", err);
	for (const char *at = NULL; (at = config_next(cfg, "switch", at)) != NULL;) {
		int of = is_of_switch(cfg, at, err);

		if (of < 0)
			return -EINVAL;
		if (of == 0 && strcmp(at, "switch") != 0 &&
		    read_switch(cfg, at, &s->sw, &s->switches[s->n_switches++], err) < 0)
			return -EINVAL;
	}
	return 0;
}

/* Trace every QP of the flow of that name. @return false: no such flow. */
static bool
trace_flow(struct scenario *s, const char *name)
{
	bool found = false;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		struct flow_params *flow = &s->flows[i];

		if (strcmp(flow->name, name) != 0)
			continue;
		flow->trace_qps = (uint16_t)min_u64(flow->qp_count, NIC_MAX_TRACES);
		found = true;
	}
	return found;
}

/* In-band telemetry at all switches, and a slot for each of a path, where the file says nothing. */
static void
give_telemetry(const struct config *cfg, struct scenario *s)
{
	bool given = config_gives(cfg, "switch", "int_telemetry");
	unsigned int hops;

	if (!given)
		s->sw.int_telemetry = true;
	for (uint32_t i = 0; i < s->n_switches; i++) {
		char section[TOPOLOGY_NAME_CHARS + 8];

		snprintf(section, sizeof(section), "switch %s", s->switches[i].name);
		if (!given && !config_gives(cfg, section, "int_telemetry"))
			s->switches[i].sw.int_telemetry = true;
	}
	if (!config_gives(cfg, "nic", "int_slots") && (hops = path_longest(s)) > 0)
		s->nic.int_slots = (uint8_t)min_u64(hops, CC_MAX_HOPS);
}

static int
read_sections(struct config *cfg, const struct scenario_override *override, struct scenario *s,
	      struct config_error *err)
{
	struct scenario_fault fault;

	if (config_read_new(cfg, "fabric", fabric_fields, fabric_fields_n, &s->fabric, err) < 0 ||
	    switch_config_read_common(cfg, &s->sw, err) < 0 || read_switches(cfg, s, err) < 0 ||
	    port_file_read(cfg, s, err) < 0 || nic_config_read_common(cfg, &s->nic, err) < 0 ||
	    config_kinds_read(cfg, scenario_kinds, SCENARIO_KINDS, s, s, err) < 0 ||
	    config_finish(cfg, err) < 0)
		return -EINVAL;
	s->n_flows = s->n_flow_sections;
	for (unsigned int i = 0; i < override->n_traces; i++) {
		char section[128];

		snprintf(section, sizeof(section), "flow %s", override->traces[i]);
		if (!trace_flow(s, override->traces[i]))
			return config_refuse(cfg, section, NULL,
					     "a flow of the file, since --trace names it", err);
	}
	if (override->has_seed)
		s->fabric.seed = override->seed;
	if (override->duration_ns != 0) {
		/*
		 * --duration scales measure_from_ns of the file by the same factor, but not a value
		 * given with --set.
		 */
		if (!config_gives_set(cfg, "fabric", "measure_from_ns"))
			s->fabric.measure_from_ns =
				mul_div(s->fabric.measure_from_ns, override->duration_ns,
					s->fabric.duration_ns);
		s->fabric.duration_ns = override->duration_ns;
	}
	if (scenario_resolve(s, &fault) < 0)
		return config_refuse(cfg, fault.section, fault.key, fault.expected, err);
	nic_config_follow_flows(cfg, &s->nic);
	if (cc_needs_of(nic_cc_mask(&s->nic)).hears_hops)
		give_telemetry(cfg, s);
	if (port_file_check(cfg, s, err) < 0 || switch_config_check(cfg, &s->sw, err) < 0)
		return -EINVAL;
	for (uint32_t i = 0; i < s->n_switches; i++) {
		char section[TOPOLOGY_NAME_CHARS + 8];

		snprintf(section, sizeof(section), "switch %s", s->switches[i].name);
		if (switch_config_check_one(cfg, section, &s->switches[i].sw, err) < 0)
			return -EINVAL;
	}
	return nic_config_check_common(cfg, &s->nic, err);
}

int
scenario_file_read(struct config *cfg, const struct scenario_override *override, struct scenario *s,
		   struct config_error *err)
{
	if (read_sections(cfg, override, s, err) < 0) {
		scenario_free(s);
		return -EINVAL;
	}
	return 0;
}

/* A change of an event owns its scenario. */
static void
release(struct scenario_change *change)
{
	if (change->next != NULL)
		scenario_free(change->next);
	free(change->next);
	free(change->switches);
	*change = (struct scenario_change){0};
}

void
scenario_free(struct scenario *s)
{
	for (uint32_t i = 0; i < s->n_flow_sections; i++)
		workload_release(&s->flows[i].work);
	for (uint32_t i = 0; i < s->n_events; i++) {
		capture_release(&s->events[i].send);
		release(&s->events[i].begin);
		release(&s->events[i].end);
	}
	scenario_release(s);
}

/* Print the kinds from first to end - 1. */
static void
print_kinds(FILE *out, const struct scenario *s, unsigned int first, unsigned int end)
{
	struct config_rows rows = {.out = out};

	config_kinds_rows(&scenario_kinds[first], end - first, s, &rows);
	config_rows_end(&rows);
}

void
scenario_print(FILE *out, const struct scenario *s)
{
	config_print(out, "fabric", fabric_fields, fabric_fields_n, &s->fabric);
	switch_config_print_common(out, &s->sw);
	for (uint32_t i = 0; i < s->n_switches; i++) {
		char section[TOPOLOGY_NAME_CHARS + 8];

		snprintf(section, sizeof(section), "switch %s", s->switches[i].name);
		switch_config_print_one(out, section, switch_section_fields,
					switch_section_fields_n, &s->switches[i],
					&s->switches[i].sw, &s->sw);
	}
	port_file_print(out, s);
	print_kinds(out, s, 0, SCENARIO_FLOWS);
	nic_config_print_common(out, &s->nic);
	print_kinds(out, s, SCENARIO_FLOWS, SCENARIO_KINDS);
}

void
scenario_print_reference(FILE *out)
{
	config_print_reference(out, "fabric", fabric_fields, fabric_fields_n);
	switch_config_print_reference_common(out);
	config_print_reference(out, "switch NAME", switch_section_fields, switch_section_fields_n);
	port_file_print_reference(out);
	config_kinds_print_reference(out, scenario_kinds, SCENARIO_FLOWS);
	nic_config_print_reference_common(out);
	config_kinds_print_reference(out, &scenario_kinds[SCENARIO_FLOWS],
				     SCENARIO_KINDS - SCENARIO_FLOWS);
}
