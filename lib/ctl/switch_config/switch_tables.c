/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/switch_tables.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "ctl/config/config_kinds.h"
#include "switch/params/port_names.h"

/* [interface port NAME] is that of the port's number. */
static void
spell_interface(const void *params, const char *name, char *out, size_t size)
{
	static const char word[] = "port ";
	int port = -1;

	if (strncmp(name, word, strlen(word)) == 0)
		port = sw_port_find(params, name + strlen(word));
	if (port >= 0)
		snprintf(out, size, "%s%d", word, port);
	else
		snprintf(out, size, "%s", name);
}

#define KIND(word, name, item, table, array)                                                       \
	CONFIG_KIND(word, name, struct sw_tables, struct item, table, array, SW_NAME_CHARS)

static const struct config_kind kinds[] = {
	{KIND("fdb", "NAME", sw_static_mac, sw_static_mac_fields, static_macs)},
	{KIND("interface", "vlan N", sw_interface, sw_interface_fields, interfaces),
	 .spell = spell_interface},
	{KIND("route", "PREFIX", sw_static_route, sw_static_route_fields, routes)},
	{KIND("neighbor", "ADDRESS", sw_neighbor, sw_neighbor_fields, neighbors)},
};
#define N_KINDS (ARRAY_LEN(kinds))

int
switch_tables_read(struct config *cfg, struct sw_params *params, struct config_error *err)
{
	struct sw_tables *t = &params->tables;
	int rc = config_kinds_read(cfg, kinds, N_KINDS, t, params, err);

	/* One spelling of each port, so that values that mean the same compare as equal. */
	for (uint32_t i = 0; rc == 0 && i < t->n_static_macs; i++) {
		struct sw_static_mac *mac = &t->static_macs[i];
		int port = sw_port_find(params, mac->port);

		if (port >= 0)
			snprintf(mac->port, sizeof(mac->port), "%s",
				 sw_port_text(params, (uint16_t)port).text);
	}
	return rc;
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

const char *
switch_tables_word(unsigned int i)
{
	return i < N_KINDS ? kinds[i].word : NULL;
}

void
switch_tables_print_reference(FILE *out)
{
	config_kinds_print_reference(out, kinds, N_KINDS);
}
