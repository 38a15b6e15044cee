/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/tables.h"

#include <string.h>

#include "base/numbers/array.h"
#include "ctl/config/kinds.h"

#define KIND(word, name, item, table, array)                                                       \
	{                                                                                          \
		CONFIG_KIND(word, name, struct sw_tables, struct item, table, array,               \
			    SW_NAME_CHARS)                                                         \
	}

static const struct config_kind kinds[] = {
	KIND("fdb", "NAME", sw_static_mac, sw_static_mac_fields, static_macs),
	KIND("interface", "vlan N", sw_interface, sw_interface_fields, interfaces),
	KIND("route", "PREFIX", sw_static_route, sw_static_route_fields, routes),
	KIND("neighbor", "ADDRESS", sw_neighbor, sw_neighbor_fields, neighbors),
};
#define N_KINDS (ARRAY_LEN(kinds))

int
switch_tables_read(struct config *cfg, struct sw_tables *out, struct config_error *err)
{
	return config_kinds_read(cfg, kinds, N_KINDS, out, NULL, err);
}

bool
switch_tables_refuse(const struct config *cfg, const char *why, struct config_error *err)
{
	static const char verb[] = ": expected ";
	const char *expected = strstr(why, verb);
	char section[CONFIG_MAX_NAME + 1], key[CONFIG_MAX_NAME + 1];
	const char *colon = strstr(why, ": ");

	if (expected == NULL || colon == expected)
		return false;
	snprintf(section, sizeof(section), "%.*s", (int)(colon - why), why);
	colon += strlen(": ");
	snprintf(key, sizeof(key), "%.*s", (int)(expected - colon), colon);
	config_refuse(cfg, section, *key == '\0' ? NULL : key, expected + strlen(verb), err);
	return true;
}

void
switch_tables_rows(const struct sw_tables *tables, struct config_rows *rows)
{
	config_kinds_rows(kinds, N_KINDS, tables, rows);
}

void
switch_tables_print_reference(FILE *out)
{
	config_kinds_print_reference(out, kinds, N_KINDS);
}
