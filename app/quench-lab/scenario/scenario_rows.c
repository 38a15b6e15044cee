/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/scenario/scenario_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/nic_config/nic_config.h"
#include "ctl/switch_config/switch_config.h"
#include "quench-lab/sections/port_file.h"
#include "quench-lab/scenario/scenario_file.h"

static const struct switch_section *
section_of(const struct scenario *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_switches; i++)
		if (strcmp(s->switches[i].name, name) == 0)
			return &s->switches[i];
	return NULL;
}

/* The section of a switch without keys of its own. @return owned by the caller, or NULL. */
static struct switch_section *
empty_section(const struct scenario *s, uint32_t sw)
{
	struct switch_section *section = calloc(1, sizeof(*section));

	if (section == NULL)
		return NULL;
	sw_params_copy(&s->sw, &section->sw);
	scenario_switch_fill(s, sw, &section->sw);
	return section;
}

/* Add switches that have a section in either scenario. made: room for one per switch. */
static void
add_switches(struct config_rows *rows, const struct scenario *s, const struct scenario *other,
	     struct switch_section **made)
{
	const struct topology *t = s->topology;

	for (uint32_t i = 0; i < t->n_switches; i++) {
		const char *name = t->switches[i].name;
		const struct switch_section *own = section_of(s, name);
		char section[TOPOLOGY_NAME_CHARS + 8];

		if (own == NULL && section_of(other, name) == NULL)
			continue;
		if (own == NULL)
			own = made[i] = empty_section(s, i);
		rows->no_memory |= own == NULL;
		if (own == NULL)
			return;
		snprintf(section, sizeof(section), "switch %s", name);
		config_rows_add(rows, section, switch_section_fields, switch_section_fields_n, own,
				false);
		switch_config_rows_one(section, &own->sw, rows);
		port_file_rows(section, &own->sw, rows);
	}
}

static void
add_hosts(struct config_rows *rows, const struct scenario *s)
{
	nic_config_rows_common(&s->nic, rows);
	config_kinds_rows(&scenario_kinds[SCENARIO_FLOWS], 1, s, rows);
	config_kinds_rows(&scenario_kinds[SCENARIO_JOBS], 1, s, rows);
}

static void
add_all(struct config_rows *rows, const struct scenario *s, const struct scenario *other,
	struct switch_section **made)
{
	config_rows_add(rows, "fabric", fabric_fields, fabric_fields_n, &s->fabric, false);
	switch_config_rows(&s->sw, rows);
	add_switches(rows, s, other, made);
	nic_config_rows_common(&s->nic, rows);
	config_kinds_rows(scenario_kinds, SCENARIO_KINDS, s, rows);
}

/* Rules of the switch that involve several keys. */
static int
refuse_switches(const char *path, const struct scenario *now, const struct scenario *next,
		struct config_error *err)
{
	for (uint32_t i = 0; i < now->topology->n_switches; i++) {
		const char *fault = sw_reload_fault(scenario_switch_params(now, i),
						    scenario_switch_params(next, i));

		if (fault == NULL)
			continue;
		snprintf(err->text, sizeof(err->text), "%s: switch %s: %s", path,
			 now->topology->switches[i].name, fault);
		return -EINVAL;
	}
	return 0;
}

/* A NIC's address follows from an interface of its switch, and cannot change during a run. */
static int
refuse_hosts(const char *path, const struct scenario *now, const struct scenario *next,
	     struct config_error *err)
{
	for (uint32_t h = 1; h <= now->topology->n_hosts; h++) {
		struct field_ip a = scenario_host_ip(now, h), b = scenario_host_ip(next, h);

		if (memcmp(&a, &b, sizeof(a)) == 0)
			continue;
		snprintf(err->text, sizeof(err->text),
			 "%s: [interface]: cannot change while the program runs: it defines the "
			 "address of h%u",
			 path, h);
		return -EINVAL;
	}
	return 0;
}

int
scenario_refuse_fixed(const struct config *cfg, const struct scenario *now,
		      const struct scenario *next, struct config_error *err)
{
	const char *path = config_path(cfg);
	struct config_rows from = {0}, to = {0};
	uint32_t n = now->topology->n_switches;
	/* At most one section per switch is made: for the scenario that lacks it. */
	struct switch_section **made = calloc(n, sizeof(struct switch_section *));
	int rc = refuse_hosts(path, now, next, err);

	from.no_memory = made == NULL;
	if (made != NULL) {
		add_all(&from, now, next, made);
		add_all(&to, next, now, made);
	}
	if (rc == 0)
		rc = config_rows_refuse_fixed(cfg, &from, &to, err);
	config_rows_free(&from);
	config_rows_free(&to);
	for (uint32_t i = 0; made != NULL && i < n; i++)
		free(made[i]);
	free(made);
	return rc == 0 ? refuse_switches(path, now, next, err) : rc;
}

/*
 * Do two lists of rows differ? Frees both. Without memory the answer is true, which causes an
 * unnecessary reload.
 */
static bool
differ(struct config_rows *from, struct config_rows *to)
{
	bool yes = config_rows_differ(from, to);

	config_rows_free(from);
	config_rows_free(to);
	return yes;
}

bool
scenario_switch_differs(const struct scenario *now, const struct scenario *next, uint32_t sw)
{
	struct config_rows from = {0}, to = {0};

	switch_config_rows(scenario_switch_params(now, sw), &from);
	switch_config_rows(scenario_switch_params(next, sw), &to);
	return differ(&from, &to);
}

bool
scenario_hosts_differ(const struct scenario *now, const struct scenario *next)
{
	struct config_rows from = {0}, to = {0};

	add_hosts(&from, now);
	add_hosts(&to, next);
	return differ(&from, &to);
}
