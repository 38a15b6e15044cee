// SPDX-License-Identifier: BSD-3-Clause
/* VLAN_INTERFACE, INTERFACE, PORTCHANNEL_INTERFACE: addresses. STATIC_ROUTE. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/decimal.h"
#include "fwd/route.h"
#include "import/conversion/import_memory.h"
#include "import/conversion/import_network.h"
#include "import/sonic/parts.h"

/* "vlan 10" of "Vlan10", "port 0" of a port or port-channel. @return false: neither. */
static bool
interface_name(const struct sonic *s, const char *name, size_t n, char out[SW_NAME_CHARS + 1])
{
	int port = sonic_find_port(s, name, n);

	if (port >= 0)
		snprintf(out, SW_NAME_CHARS + 1, "port %d", port);
	else if (n > 4 && n < 16 && strncmp(name, "Vlan", 4) == 0)
		snprintf(out, SW_NAME_CHARS + 1, "vlan %.*s", (int)(n - 4), name + 4);
	else
		return false;
	return sw_interface_domain(out) > 0;
}

/* An entry "NAME|ADDRESS". */
static int
read_address(struct sonic *s, const char *table, const char *key)
{
	size_t n = strcspn(key, "|");
	char interface[SW_NAME_CHARS + 1], name[SONIC_TEXT];
	json_t *own, *entry = sonic_entry(s, table, key);
	struct route_prefix prefix;
	const char *why = NULL;

	if (route_prefix_parse(key + n + 1, &prefix) != 0)
		return sonic_refuse(s, table, key, NULL, NULL,
				    "an address and the length of its subnet, such as "
				    "10.0.0.1/24, after the interface");
	snprintf(name, sizeof(name), "%.*s", (int)n, key);
	own = sonic_entry(s, table, name);
	if (!interface_name(s, key, n, interface))
		why = "no such port or VLAN";
	else if (json_object_get(own, "vrf_name") != NULL)
		why = "in a VRF; quench has one routing table";
	else
		why = import_add_address(s->out, interface, key + n + 1);
	if (why != NULL) {
		sonic_lose(s, table, key, NULL, NULL, why);
		return 0;
	}
	/* They repeat what the address says. */
	json_object_del(entry, "scope");
	json_object_del(entry, "family");
	return 0;
}

static int
read_interfaces(struct sonic *s, const char *table)
{
	json_t *entries = json_object_get(s->root, table), *entry;
	const char *key;
	void *next;
	int rc = 0;

	json_object_foreach_safe (entries, next, key, entry) {
		/* The place of fields in an entry without any. */
		json_object_del(entry, "NULL");
		if (rc == 0 && strchr(key, '|') != NULL)
			rc = read_address(s, table, key);
	}
	return rc;
}

/* The item k of a list "a,b,c", or "". */
static void
list_item(const json_t *list, unsigned int k, char item[SONIC_TEXT])
{
	const char *at = json_is_string(list) ? json_string_value(list) : "";

	while (k-- > 0 && *at != '\0') {
		at += strcspn(at, ",");
		at += *at == ',';
	}
	snprintf(item, SONIC_TEXT, "%.*s", (int)strcspn(at, ","), at);
}

static unsigned int
list_length(const json_t *list)
{
	const char *at = json_is_string(list) ? json_string_value(list) : "";
	unsigned int n = 1;

	for (; *at != '\0'; at++)
		n += *at == ',';
	return n;
}

static uint64_t
distance(const json_t *list, unsigned int k)
{
	char item[SONIC_TEXT];
	uint64_t value = 0;

	list_item(list, k, item);
	decimal_parse(item, 0, 255, &value);
	return value;
}

/* Next hop k of a route. @return NULL, or why it is not carried over. */
static const char *
add_nexthop(struct sonic *s, const char *prefix, const json_t *entry, unsigned int k, uint64_t best)
{
	char drops[SONIC_TEXT], vrf[SONIC_TEXT], hop[SONIC_TEXT];

	list_item(json_object_get(entry, "blackhole"), k, drops);
	list_item(json_object_get(entry, "nexthop-vrf"), k, vrf);
	list_item(json_object_get(entry, "nexthop"), k, hop);
	if (distance(json_object_get(entry, "distance"), k) != best)
		return "another next hop has a smaller distance";
	if (*vrf != '\0' && strcmp(vrf, "default") != 0)
		return "in a VRF; quench has one routing table";
	return import_add_route(s->out, prefix, strcmp(drops, "true") == 0 ? "blackhole" : hop);
}

static int
read_route(struct sonic *s, const char *key)
{
	static const char table[] = "STATIC_ROUTE";
	static const char *const fields[] = {"nexthop",   "ifname",      "distance",
					     "blackhole", "nexthop-vrf", "NULL"};
	json_t *entry = sonic_entry(s, table, key);
	const char *bar = strrchr(key, '|'), *prefix = bar != NULL ? bar + 1 : key;
	const json_t *distances = json_object_get(entry, "distance");
	struct route_prefix parsed;
	unsigned int n = list_length(json_object_get(entry, "nexthop"));
	uint64_t best = UINT64_MAX;

	if (route_prefix_parse(prefix, &parsed) != 0)
		return sonic_refuse(s, table, key, NULL, NULL, "a prefix, such as 10.0.0.0/8");
	if (bar != NULL && strncmp(key, "default|", 8) != 0) {
		sonic_lose(s, table, key, NULL, NULL, "in a VRF; quench has one routing table");
		return 0;
	}
	for (unsigned int k = 0; k < n; k++)
		best = distance(distances, k) < best ? distance(distances, k) : best;
	for (unsigned int k = 0; k < n; k++) {
		const char *why = add_nexthop(s, prefix, entry, k, best);
		char hop[SONIC_TEXT];

		list_item(json_object_get(entry, "nexthop"), k, hop);
		if (why != NULL)
			import_lost(s->log, " %s|%.80s|nexthop = %.50s: %s", table, key, hop, why);
	}
	for (unsigned int i = 0; i < ARRAY_LEN(fields); i++)
		json_object_del(entry, fields[i]);
	return 0;
}

/* The switch's own address, of DEVICE_METADATA. */
static int
set_router(struct sonic *s)
{
	static const char expected[] = "a MAC address of a station, such as 02:00:00:00:00:01";
	char text[SONIC_TEXT];
	uint8_t mac[6], any = 0;
	int used = 0, rc;

	if (s->out->sw.tables.n_interfaces == 0)
		return 0;
	rc = sonic_take(s, "DEVICE_METADATA", "localhost", "mac", text);

	if (rc <= 0) {
		if (rc == 0)
			import_set_router(s->out, NULL, s->log);
		return rc;
	}
	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		   &mac[3], &mac[4], &mac[5], &used) != 6 ||
	    text[used] != '\0')
		return sonic_refuse(s, "DEVICE_METADATA", "localhost", "mac", text, expected);
	for (unsigned int i = 0; i < 6; i++)
		any |= mac[i];
	if (any == 0 || mac[0] & 1)
		return sonic_refuse(s, "DEVICE_METADATA", "localhost", "mac", text, expected);
	import_set_router(s->out, mac, s->log);
	return 0;
}

int
sonic_addresses(struct sonic *s)
{
	static const char *const tables[] = {"VLAN_INTERFACE", "INTERFACE",
					     "PORTCHANNEL_INTERFACE"};
	json_t *routes = json_object_get(s->root, "STATIC_ROUTE"), *entry;
	const char *key;
	void *next;
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < ARRAY_LEN(tables); i++)
		rc = read_interfaces(s, tables[i]);
	if (s->out->sw.tables.n_interfaces > 0)
		s->out->sw.vlan_filtering = true;
	json_object_foreach_safe (routes, next, key, entry) {
		(void)entry;
		if (rc == 0)
			rc = read_route(s, key);
	}
	return rc == 0 ? set_router(s) : rc;
}
