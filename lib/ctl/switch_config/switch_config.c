/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/switch_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "ctl/config/rows.h"
#include "ctl/config/sections.h"
#include "ctl/switch_config/classes_rows.h"
#include "ctl/switch_config/tables.h"
#include "ctl/switch_config/classes.h"

#define SECTION(name, table, member)                                                               \
	{                                                                                          \
		name, table, &table##_n, offsetof(struct sw_params, member)                        \
	}

static const struct config_section sections[] = {
	{"switch", sw_fields, &sw_fields_n, 0},
	SECTION("switch", mmu_fields, mmu),
	SECTION("qos_map", qos_map_fields, qos),
	SECTION("wred", wred_fields, wred),
	SECTION("buffer_profile lossless", buffer_profile_fields, mmu.lossless),
	SECTION("buffer_profile lossy", buffer_profile_lossy_fields, mmu.lossy),
	SECTION("buffer_profile egress_lossless", buffer_profile_egress_lossless_fields,
		mmu.egress_lossless),
	SECTION("buffer_profile egress_lossy", buffer_profile_egress_lossy_fields,
		mmu.egress_lossy),
	SECTION("scheduler", sched_fields, sched),
	SECTION("pfc", pfc_fields, pfc),
	SECTION("router", sw_router_fields, router),
	SECTION("pfcwd", pfcwd_fields, pfcwd),
	SECTION("lldp", lldp_fields, lldp),
};
#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

const struct field switch_pool_fields[] = {
	{FIELD_OF(struct switch_pool, backing_frame_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .min = 64, .max = 16384, .def = "512",
	 .help = "one mbuf is made for this much of what groups share; a group of shorter frames "
		 "on average is held to its part of the mbufs: it pauses, or drops as "
		 "packet_memory"},
};
const unsigned int switch_pool_fields_n = RTE_DIM(switch_pool_fields);

/* Sections whose keys a switch among several may have in its own: no key is in two of them. */
static const char *const own_sections[] = {"switch", "wred", "scheduler", "pfc", "router", "pfcwd"};

#define PORT_NAME_SIZE 24

int
switch_config_read_common(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc;

	sw_params_default(out, 0);
	rc = config_sections_read(cfg, sections, N_SECTIONS, out, err);
	if (rc == 0)
		rc = switch_classes_read(cfg, out, err);
	if (rc == 0)
		rc = switch_tables_read(cfg, &out->tables, err);
	if (rc != 0)
		sw_tables_free(&out->tables);
	return rc;
}

/* The number in "port N", or -1: plain digits, no leading zero, in range. */
static int
port_number(const char *section)
{
	const char *digits = section + strlen("port ");
	size_t n = strspn(digits, "0123456789");
	int number = atoi(digits);

	if (n == 0 || n > 2 || digits[n] != '\0' || (n == 2 && *digits == '0') ||
	    number >= SW_MAX_PORTS)
		return -1;
	return number;
}

/* Count the [port N]; refuse a number out of range and a gap. @return the count or -EINVAL. */
static int
count_ports(const struct config *cfg, struct config_error *err)
{
	char expected[96], name[PORT_NAME_SIZE];
	int n = 0;

	for (const char *s = NULL; (s = config_next(cfg, "port", s));) {
		if (strcmp(s, "port") == 0)
			continue;
		if (port_number(s) < 0) {
			snprintf(expected, sizeof(expected), "a port number from 0 to %d",
				 SW_MAX_PORTS - 1);
			return config_refuse(cfg, s, NULL, expected, err);
		}
		n++;
	}
	if (n == 0)
		return config_refuse(cfg, "port 0", NULL,
				     "a section for each port: [port 0] and on", err);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "port %d", i);
		if (!config_has(cfg, name))
			return config_refuse(cfg, name, NULL,
					     "this section: ports are numbered from 0, no gap",
					     err);
	}
	return n;
}

/* A key without default must be given for all ports or for this one. */
static int
require_port_keys(const struct config *cfg, const char *name, struct config_error *err)
{
	for (unsigned int i = 0; i < sw_port_fields_n; i++) {
		const struct field *f = &sw_port_fields[i];
		char expected[FIELD_TEXT_SIZE];

		if (f->def || config_gives(cfg, "port", f->name) ||
		    config_gives(cfg, name, f->name))
			continue;
		field_expected(f, NULL, expected, sizeof(expected));
		return config_refuse(cfg, name, f->name, expected, err);
	}
	return 0;
}

static int
read_ports(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	struct sw_port_params shared = {0};
	int n = count_ports(cfg, err);
	int rc = n < 0 ? n : field_defaults(sw_port_fields, sw_port_fields_n, &shared);

	if (rc == 0)
		rc = config_read(cfg, "port", sw_port_fields, sw_port_fields_n, &shared, err);
	for (int i = 0; rc == 0 && i < n; i++) {
		char name[PORT_NAME_SIZE];

		snprintf(name, sizeof(name), "port %d", i);
		out->ports[i] = shared;
		rc = config_read(cfg, name, sw_port_fields, sw_port_fields_n, &out->ports[i], err);
		if (rc == 0)
			rc = require_port_keys(cfg, name, err);
	}
	out->n_ports = rc == 0 ? (uint16_t)n : 0;
	return rc;
}

/* The common sections and those of n_ports ports, as one list. */
struct all_sections {
	struct config_section rows[N_SECTIONS + SW_MAX_PORTS + SWITCH_CLASSES_ROWS];
	char names[SW_MAX_PORTS][PORT_NAME_SIZE];
	unsigned int n;
};

static void
list_all(struct all_sections *all, uint16_t n_ports)
{
	memcpy(all->rows, sections, sizeof(sections));
	for (uint16_t i = 0; i < n_ports; i++) {
		snprintf(all->names[i], PORT_NAME_SIZE, "port %u", i);
		all->rows[N_SECTIONS + i] = (struct config_section){
			all->names[i], sw_port_fields, &sw_port_fields_n,
			offsetof(struct sw_params, ports) + i * sizeof(struct sw_port_params)};
	}
	all->n = N_SECTIONS + n_ports;
}

int
switch_config_check(const struct config *cfg, const struct sw_params *params,
		    struct config_error *err)
{
	static const uint8_t zero[6], stand_in[6] = {2};
	/* With a stand-in for the addresses that the program will take from its devices. */
	struct sw_params filled = *params;
	struct switch_classes_rows classes;
	struct all_sections all;
	char why[512];

	for (uint16_t i = 0; i < filled.n_ports; i++)
		if (memcmp(filled.ports[i].mac, zero, sizeof(zero)) == 0)
			memcpy(filled.ports[i].mac, stand_in, sizeof(stand_in));
	if (sw_params_check(&filled, why, sizeof(why)) == 0)
		return switch_classes_check_ports(cfg, NULL, params->n_ports, err);
	if (switch_tables_refuse(cfg, why, err))
		return -EINVAL;
	list_all(&all, params->n_ports);
	switch_classes_list(cfg, NULL, params, &classes);
	memcpy(&all.rows[all.n], classes.rows, classes.n * sizeof(classes.rows[0]));
	all.n += classes.n;
	return config_sections_refuse(cfg, all.rows, all.n, params, why, err);
}

/* What one switch may have of its own: keys in [switch NAME], and whole sections. */
struct one_sections {
	struct config_section rows[N_SECTIONS + SWITCH_CLASSES_ROWS];
	char names[N_SECTIONS][2 * (CONFIG_MAX_NAME + 1)];
	unsigned int n;
};

static bool
is_own_section(const char *name)
{
	for (unsigned int k = 0; k < RTE_DIM(own_sections); k++)
		if (strcmp(name, own_sections[k]) == 0)
			return true;
	return false;
}

/* Rows of [switch NAME] first. */
static void
list_one(const char *section, struct one_sections *out)
{
	out->n = 0;
	for (unsigned int i = 0; i < N_SECTIONS; i++) {
		if (!is_own_section(sections[i].name))
			continue;
		out->rows[out->n] = sections[i];
		out->rows[out->n++].name = section;
	}
	for (unsigned int i = 0; i < N_SECTIONS; i++) {
		if (is_own_section(sections[i].name))
			continue;
		snprintf(out->names[i], sizeof(out->names[i]), "%s %s", section, sections[i].name);
		out->rows[out->n] = sections[i];
		out->rows[out->n++].name = out->names[i];
	}
}

int
switch_config_read_one(struct config *cfg, const char *section, struct sw_params *params,
		       struct config_error *err)
{
	struct one_sections one;
	int rc = 0;

	list_one(section, &one);
	for (unsigned int i = 0; rc == 0 && i < one.n; i++)
		rc = config_read(cfg, one.rows[i].name, one.rows[i].fields, *one.rows[i].n,
				 (char *)params + one.rows[i].offset, err);
	return rc == 0 ? switch_classes_read_over(cfg, section, params, err) : rc;
}

int
switch_config_check_one(const struct config *cfg, const char *section,
			const struct sw_params *params, struct config_error *err)
{
	struct switch_classes_rows classes;
	struct one_sections one;
	char why[512];

	if (sw_params_check(params, why, sizeof(why)) == 0)
		return switch_classes_check_ports(cfg, section, params->n_ports, err);
	list_one(section, &one);
	switch_classes_list(cfg, section, params, &classes);
	memcpy(&one.rows[one.n], classes.rows, classes.n * sizeof(classes.rows[0]));
	return config_sections_refuse(cfg, one.rows, one.n + classes.n, params, why, err);
}

/* Would the two be written differently? */
static bool
differ(const struct config_section *row, const void *a, const void *b)
{
	for (unsigned int i = 0; i < *row->n; i++) {
		char text[2][FIELD_TEXT_SIZE];

		field_format(&row->fields[i], (const char *)a + row->offset, text[0],
			     sizeof(text[0]));
		field_format(&row->fields[i], (const char *)b + row->offset, text[1],
			     sizeof(text[1]));
		if (strcmp(text[0], text[1]) != 0)
			return true;
	}
	return false;
}

void
switch_config_print_one(FILE *out, const char *section, const struct field *own, unsigned int n_own,
			const void *own_object, const struct sw_params *params,
			const struct sw_params *common)
{
	struct one_sections one;
	unsigned int i = 0;

	list_one(section, &one);
	config_print_head(out, section);
	config_print_rows(out, own, n_own, own_object);
	for (; one.rows[i].name == section; i++)
		config_print_rows(out, one.rows[i].fields, *one.rows[i].n,
				  (const char *)params + one.rows[i].offset);
	fputc('\n', out);
	for (; i < one.n; i++)
		if (differ(&one.rows[i], params, common))
			config_print(out, one.rows[i].name, one.rows[i].fields, *one.rows[i].n,
				     (const char *)params + one.rows[i].offset);
	switch_classes_print_over(out, section, params, common);
}

int
switch_config_read(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc = switch_config_read_common(cfg, out, err);

	if (rc == 0)
		rc = read_ports(cfg, out, err);
	if (rc == 0) {
		sw_params_resolve(out);
		rc = switch_config_check(cfg, out, err);
	}
	if (rc != 0)
		sw_tables_free(&out->tables);
	return rc;
}

void
switch_config_print_common(FILE *out, const struct sw_params *params)
{
	config_sections_print(out, sections, N_SECTIONS, params);
	switch_tables_print(out, &params->tables);
	switch_classes_print(out, params);
}

void
switch_config_print(FILE *out, const struct sw_params *params)
{
	struct all_sections all;

	list_all(&all, params->n_ports);
	config_sections_print(out, all.rows, all.n, params);
	switch_tables_print(out, &params->tables);
	switch_classes_print(out, params);
}

void
switch_config_rows(const struct sw_params *params, struct config_rows *rows)
{
	struct all_sections all;

	list_all(&all, params->n_ports);
	for (unsigned int i = 0; i < all.n; i++)
		config_rows_add(rows, all.rows[i].name, all.rows[i].fields, *all.rows[i].n,
				(const char *)params + all.rows[i].offset, false);
	switch_tables_rows(&params->tables, rows);
	switch_classes_compare_rows(params, rows);
}

void
switch_config_rows_one(const char *section, const struct sw_params *params,
		       struct config_rows *rows)
{
	struct one_sections one;

	list_one(section, &one);
	for (unsigned int i = 0; i < one.n; i++)
		config_rows_add(rows, one.rows[i].name, one.rows[i].fields, *one.rows[i].n,
				(const char *)params + one.rows[i].offset, false);
	switch_classes_compare_rows_one(section, params, rows);
}

void
switch_config_print_reference_common(FILE *out)
{
	config_sections_print_reference(out, sections, N_SECTIONS, false);
	switch_tables_print_reference(out);
	switch_classes_print_reference(out);
}

void
switch_config_print_reference(FILE *out)
{
	switch_config_print_reference_common(out);
	config_print_reference(out, "port N", sw_port_fields, sw_port_fields_n);
}
