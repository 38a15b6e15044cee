/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctl/switch_config/switch_class_kinds.h"
#include "ctl/switch_config/switch_classes.h"
#include "ctl/switch_config/switch_classes_rows.h"

static bool
is_untouched(const struct switch_class_kind *kind, const void *object)
{
	char untouched[sizeof(struct sw_queue_params)] = {0}, zero[sizeof(untouched)] = {0};

	field_defaults(kind->fields, *kind->n, untouched);
	/* The objects of ports that the program itself created are all zero. */
	return memcmp(object, untouched, kind->size) == 0 || memcmp(object, zero, kind->size) == 0;
}

/* Print port 0 as the section of all ports, and a section for each port that differs from it. */
static void
print_kind(FILE *out, const struct switch_class_kind *kind, const struct sw_params *params)
{
	char section[SWITCH_SECTION_SIZE];

	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		const void *first = switch_class_object(kind, params, 0, i);

		if (!is_untouched(kind, first)) {
			snprintf(section, sizeof(section), "%s %u", kind->word, i);
			config_print(out, section, kind->fields, *kind->n, first);
		}
		for (unsigned int port = 1; port < params->n_ports; port++) {
			const void *object = switch_class_object(kind, params, port, i);

			if (memcmp(object, first, kind->size) == 0)
				continue;
			snprintf(section, sizeof(section), "%s %u|%u", kind->word, port, i);
			config_print(out, section, kind->fields, *kind->n, object);
		}
	}
}

void
switch_classes_print(FILE *out, const struct sw_params *params)
{
	struct config_rows rows = {.out = out};
	char section[SWITCH_SECTION_SIZE];

	switch_profiles_rows(params, &rows);
	config_rows_end(&rows);
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		if (params->tcs[i].mtu_bytes == 0)
			continue;
		snprintf(section, sizeof(section), "tc %u", i);
		config_print(out, section, sw_tc_fields, sw_tc_fields_n, &params->tcs[i]);
	}
	for (unsigned int i = 0; i < SWITCH_CLASS_KINDS; i++)
		print_kind(out, &switch_class_kinds[i], params);
}

void
switch_classes_print_over(FILE *out, const char *of, const struct sw_params *params,
			  const struct sw_params *common)
{
	char section[2 * SWITCH_SECTION_SIZE];

	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		if (params->tcs[i].mtu_bytes == common->tcs[i].mtu_bytes)
			continue;
		snprintf(section, sizeof(section), "%s tc %u", of, i);
		config_print(out, section, sw_tc_fields, sw_tc_fields_n, &params->tcs[i]);
	}
	for (unsigned int k = 0; k < SWITCH_CLASS_KINDS; k++) {
		const struct switch_class_kind *kind = &switch_class_kinds[k];

		for (unsigned int i = 0; i < params->n_ports * TM_CLASSES; i++) {
			unsigned int port = i / TM_CLASSES, index = i % TM_CLASSES;
			const void *object = switch_class_object(kind, params, port, index);

			if (memcmp(object, switch_class_object(kind, common, port, index),
				   kind->size) == 0)
				continue;
			snprintf(section, sizeof(section), "%s %s %u|%u", of, kind->word, port,
				 index);
			config_print(out, section, kind->fields, *kind->n, object);
		}
	}
}

void
switch_classes_print_reference(FILE *out)
{
	config_print_reference(out, "wred NAME", wred_fields, wred_fields_n);
	config_print_reference(out, "buffer_profile NAME", buffer_profile_named_fields,
			       buffer_profile_named_fields_n);
	config_print_reference(out, "tc N", sw_tc_fields, sw_tc_fields_n);
	config_print_reference(out, "pg N, pg P|N", sw_pg_fields, sw_pg_fields_n);
	config_print_reference(out, "queue N, queue P|N", sw_queue_fields, sw_queue_fields_n);
}
