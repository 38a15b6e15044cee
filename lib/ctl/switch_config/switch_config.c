/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/switch_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "base/numbers/array.h"
#include "ctl/config/config_sections.h"
#include "ctl/switch_config/switch_class_kinds.h"
#include "ctl/switch_config/switch_classes_rows.h"
#include "ctl/switch_config/switch_tables.h"
#include "ctl/switch_config/switch_classes.h"
#include "switch/params/port_names.h"

const struct field switch_pool_fields[] = {
	{FIELD_OF(struct switch_pool, backing_frame_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .min = 64, .max = 16384, .def = "512",
	 .help = "bytes of shared buffer per allocated mbuf; a group whose frames are shorter on "
		 "average reaches its share of the mbufs first, and pauses or drops "
		 "(packet_memory) there"},
};
const unsigned int switch_pool_fields_n = ARRAY_LEN(switch_pool_fields);

/*
 * Sections whose keys [switch NAME] may contain, for a switch among several. No key is in two of
 * them.
 */
static const char *const own_sections[] = {
	"switch",    "wred",
#define MARK(id, word) #word,
#include "tm/queue/mark_table.h"
#undef MARK
	"scheduler", "pfc",  "router", "pfcwd",
};

#define PORT_NAME_SIZE 24

/* Read the sections from the one with this number, and classes, over the defaults. */
static int
read_from(struct config *cfg, unsigned int first, struct sw_params *out, struct config_error *err)
{
	int rc = config_sections_read(cfg, sw_sections + first, sw_sections_n - first, out, err);

	return rc == 0 ? switch_classes_read(cfg, out, err) : rc;
}

int
switch_config_read_common(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc =
		config_sections_refuse(cfg, sw_sections, SW_DEVICE_SECTIONS,
				       "no such key here: each switch has a value of its own", err);

	if (rc != 0)
		return rc;
	sw_params_default_zeroed(out, 0);
	rc = read_from(cfg, SW_DEVICE_SECTIONS, out, err);
	if (rc == 0)
		rc = switch_tables_read(cfg, out, err);
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
	    number >= SW_DEVICE_PORTS)
		return -1;
	return number;
}

/* Count the [port N]; refuse a number out of range or a gap. @return the count or -EINVAL. */
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
				 SW_DEVICE_PORTS - 1);
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
		sw_params_use_rows(out, (uint16_t)(i + 1));
		out->ports[i] = shared;
		rc = config_read(cfg, name, sw_port_fields, sw_port_fields_n, &out->ports[i], err);
		if (rc == 0)
			rc = require_port_keys(cfg, name, err);
	}
	out->n_ports = rc == 0 ? (uint16_t)n : 0;
	return rc;
}

/* The common sections from `first` on, and those of the first n_ports ports. */
static void
main_rows(const struct sw_params *params, unsigned int first, uint16_t n_ports,
	  struct config_rows *rows)
{
	config_sections_rows(sw_sections + first, sw_sections_n - first, params, false, rows);
	for (uint16_t i = 0; i < n_ports; i++) {
		char name[PORT_NAME_SIZE];

		snprintf(name, sizeof(name), "port %u", i);
		config_rows_add(rows, name, sw_port_fields, sw_port_fields_n, &params->ports[i],
				false);
	}
}

int
switch_config_check(const struct config *cfg, const struct sw_params *params,
		    struct config_error *err)
{
	static const uint8_t zero[6], stand_in[6] = {2};
	/*
	 * A copy with any valid address in place of each one that the program will take from its
	 * devices.
	 */
	struct sw_params *filled = malloc(sizeof(*filled));
	struct config_rows rows = {0};
	char why[512];
	int rc;

	if (filled == NULL) {
		config_error_set(err, config_path(cfg), " out of memory");
		return -ENOMEM;
	}
	sw_params_copy(params, filled);
	for (uint16_t i = 0; i < filled->n_ports; i++)
		if (memcmp(filled->ports[i].mac, zero, sizeof(zero)) == 0)
			memcpy(filled->ports[i].mac, stand_in, sizeof(stand_in));
	rc = sw_params_check(filled, why, sizeof(why));
	free(filled);
	if (rc == 0)
		return switch_classes_check_ports(cfg, NULL, params, err);
	if (switch_tables_refuse(cfg, why, err))
		return -EINVAL;
	main_rows(params, 0, params->n_ports, &rows);
	switch_classes_list(cfg, NULL, params, &rows);
	config_rows_refuse(cfg, &rows, why, err);
	config_rows_free(&rows);
	return -EINVAL;
}

static bool
is_own_section(const char *name)
{
	for (unsigned int k = 0; k < ARRAY_LEN(own_sections); k++)
		if (strcmp(name, own_sections[k]) == 0)
			return true;
	return false;
}

/* Add the sections of one switch: first keys in [switch NAME], then [switch NAME SECTION], of which
 * only those that differ from `common`, if it is not NULL. */
static void
one_rows(const char *section, const struct sw_params *params, const struct sw_params *common,
	 struct config_rows *rows)
{
	for (unsigned int own = 2; own-- > 0;) {
		for (unsigned int i = SW_DEVICE_SECTIONS; i < sw_sections_n; i++) {
			const struct field_section *s = &sw_sections[i];
			const char *object = (const char *)params + s->offset;
			char name[2 * (CONFIG_MAX_NAME + 1)];

			if (is_own_section(s->name) != own ||
			    (!own && common != NULL &&
			     !config_objects_differ(s->fields, *s->n, object,
						    (const char *)common + s->offset)))
				continue;
			snprintf(name, sizeof(name), own ? "%s" : "%s %s", section, s->name);
			config_rows_add(rows, name, s->fields, *s->n, object, false);
		}
	}
}

int
switch_config_read_one(struct config *cfg, const char *section, struct sw_params *params,
		       struct config_error *err)
{
	struct config_rows rows = {0};
	int rc;

	one_rows(section, params, NULL, &rows);
	rc = config_rows_read(cfg, &rows, err);
	config_rows_free(&rows);
	return rc == 0 ? switch_classes_read_over(cfg, section, params, err) : rc;
}

int
switch_config_check_one(const struct config *cfg, const char *section,
			const struct sw_params *params, struct config_error *err)
{
	struct config_rows rows = {0};
	char why[512];

	if (sw_params_check(params, why, sizeof(why)) == 0)
		return switch_classes_check_ports(cfg, section, params, err);
	one_rows(section, params, NULL, &rows);
	switch_classes_list(cfg, section, params, &rows);
	config_rows_refuse(cfg, &rows, why, err);
	config_rows_free(&rows);
	return -EINVAL;
}

void
switch_config_print_one(FILE *out, const char *section, const struct field *own, unsigned int n_own,
			const void *own_object, const struct sw_params *params,
			const struct sw_params *common)
{
	struct config_rows rows = {.out = out};

	config_rows_add(&rows, section, own, n_own, own_object, false);
	one_rows(section, params, common, &rows);
	config_rows_end(&rows);
	switch_classes_print_over(out, section, params, common);
}

/* Complete out after a read that returned rc. @return 0, or an error with the tables freed. */
static int
finish(const struct config *cfg, struct sw_params *out, int rc, struct config_error *err)
{
	if (rc == 0) {
		sw_params_resolve(out);
		rc = switch_config_check(cfg, out, err);
	}
	if (rc != 0)
		sw_tables_free(&out->tables);
	return rc;
}

int
switch_config_read(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc;

	sw_params_default(out, 0);
	rc = read_from(cfg, 0, out, err);
	if (rc == 0)
		rc = read_ports(cfg, out, err);
	/* They name ports. */
	if (rc == 0)
		rc = switch_tables_read(cfg, out, err);
	return finish(cfg, out, rc, err);
}

/*
 * Read the keys of [port N] or [port NAME] over those of out->ports. [port] is refused: each port
 * already has a value of every key.
 */
static int
set_ports(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	struct sw_port_params unused = {0};
	int rc = config_read(cfg, "port", sw_port_fields, sw_port_fields_n, &unused, err);

	if (rc == 0)
		rc = config_refuse_given(cfg, "port", sw_port_fields, sw_port_fields_n,
					 "one port: [port N] or [port NAME]", err);
	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, "port", s));) {
		int port = strcmp(s, "port") == 0 ? -1 : sw_port_find(out, s + strlen("port "));

		if (port < 0)
			continue;
		sw_port_maps_fill(out, (uint16_t)port);
		rc = config_read(cfg, s, sw_port_fields, sw_port_fields_n, &out->ports[port], err);
		sw_port_maps_clear(out, (uint16_t)port);
	}
	return rc;
}

int
switch_config_set(struct config *cfg, const struct sw_params *now, struct sw_params *out,
		  struct config_error *err)
{
	int rc;

	config_changes(cfg);
	sw_params_copy(now, out);
	/* Fixed at the start; sw_reload_prepare() sets it. */
	out->mmu.packets = 0;
	rc = sw_tables_copy(&now->tables, &out->tables);
	if (rc != 0)
		config_error_set(err, config_path(cfg), " out of memory");
	if (rc == 0)
		rc = config_sections_read(cfg, sw_sections, sw_sections_n, out, err);
	if (rc == 0)
		rc = set_ports(cfg, out, err);
	if (rc == 0)
		rc = switch_classes_set(cfg, out, err);
	if (rc == 0)
		rc = switch_tables_read(cfg, out, err);
	return finish(cfg, out, rc, err);
}

/* Remove a route from a copy. @return false: there is none with this prefix. */
static bool
take_out_route(struct sw_tables *t, const char *text)
{
	struct route_prefix prefix, other;

	if (route_prefix_parse(text, &prefix) < 0)
		return false;
	for (uint32_t i = 0; i < t->n_routes; i++) {
		if (route_prefix_parse(t->routes[i].name, &other) < 0 ||
		    !route_prefix_equal(&prefix, &other))
			continue;
		sw_static_route_free(&t->routes[i]);
		t->n_routes--;
		memmove(&t->routes[i], &t->routes[i + 1], (t->n_routes - i) * sizeof(t->routes[0]));
		return true;
	}
	return false;
}

int
switch_config_remove(struct config *cfg, const struct sw_params *now, const char *prefixes,
		     struct sw_params *out, struct config_error *err)
{
	char text[SW_NAME_CHARS + 1];
	int rc;

	sw_params_copy(now, out);
	out->mmu.packets = 0;
	rc = sw_tables_copy(&now->tables, &out->tables);
	if (rc != 0)
		config_error_set(err, config_path(cfg), " out of memory");
	for (size_t chars; rc == 0 && *prefixes != '\0';
	     prefixes += chars + (prefixes[chars] == '\n')) {
		chars = strcspn(prefixes, "\n");
		snprintf(text, sizeof(text), "%.*s", (int)chars, prefixes);
		if (chars <= SW_NAME_CHARS && take_out_route(&out->tables, text))
			continue;
		config_error_set(err, config_path(cfg), " there is no [route %.*s]", (int)chars,
				 prefixes);
		rc = -EINVAL;
	}
	return finish(cfg, out, rc, err);
}

static void
print_all(FILE *out, const struct sw_params *params, unsigned int first, uint16_t n_ports)
{
	struct config_rows rows = {.out = out};

	main_rows(params, first, n_ports, &rows);
	switch_tables_rows(&params->tables, &rows);
	config_rows_end(&rows);
	switch_classes_print(out, params);
}

void
switch_config_print(FILE *out, const struct sw_params *params)
{
	print_all(out, params, 0, params->n_ports);
}

void
switch_config_print_common(FILE *out, const struct sw_params *params)
{
	print_all(out, params, SW_DEVICE_SECTIONS, 0);
}

void
switch_config_rows(const struct sw_params *params, struct config_rows *rows)
{
	main_rows(params, 0, params->n_ports, rows);
	switch_tables_rows(&params->tables, rows);
	switch_classes_add_rows(params, rows);
}

void
switch_config_rows_one(const char *section, const struct sw_params *params,
		       struct config_rows *rows)
{
	one_rows(section, params, NULL, rows);
	switch_classes_add_rows_one(section, params, rows);
}

static void
print_reference_from(FILE *out, unsigned int first)
{
	config_sections_print_reference(out, sw_sections + first, sw_sections_n - first, false);
	switch_tables_print_reference(out);
	switch_classes_print_reference(out);
}

void
switch_config_print_reference_common(FILE *out)
{
	print_reference_from(out, SW_DEVICE_SECTIONS);
}

void
switch_config_print_reference(FILE *out)
{
	print_reference_from(out, 0);
	config_print_reference(out, "port N", sw_port_fields, sw_port_fields_n);
}

const char *
switch_config_word(unsigned int i)
{
	/* Each is read by a function of its own. */
	static const char *const others[] = {"tc", "port", "pool"};

	if (i < SWITCH_PROFILE_KINDS)
		return switch_profile_kinds[i].word;
	i -= SWITCH_PROFILE_KINDS;
	if (i < sw_sections_n)
		return sw_sections[i].name;
	i -= sw_sections_n;
	if (i < SWITCH_CLASS_KINDS)
		return switch_class_kinds[i].word;
	i -= SWITCH_CLASS_KINDS;
	if (i < ARRAY_LEN(others))
		return others[i];
	return switch_tables_word(i - (unsigned int)ARRAY_LEN(others));
}
