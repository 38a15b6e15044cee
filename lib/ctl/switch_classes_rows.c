/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_classes_rows.h"

static void
profile_rows(const struct sw_params *params, struct config_rows *rows)
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
port_rows(const struct sw_params *params, uint16_t port, struct config_rows *rows)
{
	char section[CONFIG_MAX_NAME + 1];

	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		snprintf(section, sizeof(section), "pg %u|%u", port, i);
		config_rows_add(rows, section, sw_pg_fields, sw_pg_fields_n, &params->pgs[port][i],
				false);
		snprintf(section, sizeof(section), "queue %u|%u", port, i);
		config_rows_add(rows, section, sw_queue_fields, sw_queue_fields_n,
				&params->queues[port][i], false);
	}
}

void
switch_classes_compare_rows(const struct sw_params *params, struct config_rows *rows)
{
	char section[CONFIG_MAX_NAME + 1];

	profile_rows(params, rows);
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		snprintf(section, sizeof(section), "tc %u", i);
		config_rows_add(rows, section, sw_tc_fields, sw_tc_fields_n, &params->tcs[i],
				false);
	}
	for (uint16_t port = 0; port < params->n_ports; port++)
		port_rows(params, port, rows);
}
