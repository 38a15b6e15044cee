/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/classes_rows.h"

/* Room for the section of a switch among several, and a name after it. */
#define SECTION_SIZE (2 * (CONFIG_MAX_NAME + 1))

void
switch_profiles_rows(const struct sw_params *params, struct config_rows *rows)
{
	char section[CONFIG_MAX_NAME + 1];

	for (unsigned int i = 0; i < params->n_wred_profiles; i++) {
		snprintf(section, sizeof(section), "wred %s", params->wred_profiles[i].name);
		config_rows_add(rows, section, wred_fields, wred_fields_n,
				&params->wred_profiles[i].params, false);
	}
	for (unsigned int i = 0; i < params->mmu.n_profiles; i++) {
		snprintf(section, sizeof(section), "buffer_profile %s",
			 params->mmu.profile_names[i]);
		config_rows_add(rows, section, buffer_profile_named_fields,
				buffer_profile_named_fields_n, &params->mmu.profiles[i], false);
	}
}

static void
port_rows(const char *owner, const struct sw_params *params, uint16_t port,
	  struct config_rows *rows)
{
	char section[SECTION_SIZE];

	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		snprintf(section, sizeof(section), "%spg %u|%u", owner, port, i);
		config_rows_add(rows, section, sw_pg_fields, sw_pg_fields_n, &params->pgs[port][i],
				false);
		snprintf(section, sizeof(section), "%squeue %u|%u", owner, port, i);
		config_rows_add(rows, section, sw_queue_fields, sw_queue_fields_n,
				&params->queues[port][i], false);
	}
}

static void
class_rows(const char *owner, const struct sw_params *params, struct config_rows *rows)
{
	char section[SECTION_SIZE];

	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		snprintf(section, sizeof(section), "%stc %u", owner, i);
		config_rows_add(rows, section, sw_tc_fields, sw_tc_fields_n, &params->tcs[i],
				false);
	}
	for (uint16_t port = 0; port < params->n_ports; port++)
		port_rows(owner, params, port, rows);
}

void
switch_classes_compare_rows(const struct sw_params *params, struct config_rows *rows)
{
	switch_profiles_rows(params, rows);
	class_rows("", params, rows);
}

void
switch_classes_compare_rows_one(const char *section, const struct sw_params *params,
				struct config_rows *rows)
{
	char owner[CONFIG_MAX_NAME + 2];

	snprintf(owner, sizeof(owner), "%s ", section);
	class_rows(owner, params, rows);
}
