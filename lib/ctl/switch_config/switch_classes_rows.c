/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/switch_classes_rows.h"

#include "ctl/switch_config/switch_class_kinds.h"

/*
 * Room for a section such as "switch T4 queue 0|3": the section of one of several switches, then a
 * section within it.
 */
#define SECTION_SIZE (2 * (CONFIG_MAX_NAME + 1))

void
switch_profiles_rows(const struct sw_params *params, struct config_rows *rows)
{
	for (unsigned int k = 0; k < SWITCH_PROFILE_KINDS; k++) {
		const struct switch_profile_kind *kind = &switch_profile_kinds[k];

		for (unsigned int i = 0; i < switch_profile_count(kind, params); i++) {
			char section[CONFIG_MAX_NAME + 1];

			snprintf(section, sizeof(section), "%s %s", kind->word,
				 switch_profile_name(kind, params, i));
			config_rows_add(rows, section, kind->fields, *kind->n,
					switch_profile_object(kind, params, i), false);
		}
	}
}

static void
port_rows(const char *owner, const struct sw_params *params, uint16_t port,
	  struct config_rows *rows)
{
	char section[SECTION_SIZE];

	for (unsigned int i = 0; i < SWITCH_CLASS_KINDS * TM_CLASSES; i++) {
		const struct switch_class_kind *kind = &switch_class_kinds[i % SWITCH_CLASS_KINDS];
		unsigned int index = i / SWITCH_CLASS_KINDS;

		snprintf(section, sizeof(section), "%s%s %u|%u", owner, kind->word, port, index);
		config_rows_add(rows, section, kind->fields, *kind->n,
				switch_class_object(kind, params, port, index), false);
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
switch_classes_add_rows(const struct sw_params *params, struct config_rows *rows)
{
	switch_profiles_rows(params, rows);
	class_rows("", params, rows);
}

void
switch_classes_add_rows_one(const char *section, const struct sw_params *params,
			    struct config_rows *rows)
{
	char owner[CONFIG_MAX_NAME + 2];

	snprintf(owner, sizeof(owner), "%s ", section);
	class_rows(owner, params, rows);
}
