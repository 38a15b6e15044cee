// SPDX-License-Identifier: BSD-3-Clause
/* VLAN and VLAN_MEMBER; PORTCHANNEL_MEMBER: port-channels of one port. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/decimal.h"
#include "import/conversion/import_memory.h"
#include "import/conversion/import_network.h"
#include "import/sonic/parts.h"

/* "Vlan10" (n characters) as 10; 0: none. */
static uint16_t
vlan_number(const char *name, size_t n)
{
	char digits[8];
	uint64_t vlan;

	if (n < 5 || n > 4 + sizeof(digits) - 1 || strncmp(name, "Vlan", 4) != 0)
		return 0;
	snprintf(digits, sizeof(digits), "%.*s", (int)(n - 4), name + 4);
	return decimal_parse(digits, 1, VLAN_MAX_ID, &vlan) ? (uint16_t)vlan : 0;
}

static int
read_vlans(struct sonic *s)
{
	json_t *table = json_object_get(s->root, "VLAN"), *entry;
	const char *key;
	int rc = 0;

	json_object_foreach (table, key, entry) {
		uint16_t number = vlan_number(key, strlen(key));
		int64_t vlanid = number;

		if (rc >= 0 && number == 0)
			return sonic_refuse(s, "VLAN", key, NULL, NULL,
					    "a name from Vlan1 to Vlan4094");
		if (rc >= 0)
			rc = sonic_take_number(s, "VLAN", key, "vlanid", 1, VLAN_MAX_ID, &vlanid);
		if (rc >= 0 && vlanid != number)
			return sonic_refuse(s, "VLAN", key, "vlanid", NULL,
					    "the number in the name");
		/* Old releases list the members here as well as in VLAN_MEMBER. */
		json_object_del(entry, "members");
	}
	return rc < 0 ? rc : 0;
}

/*
 * Without link aggregation, the first port of a port-channel gets its VLANs and addresses. The
 * others would bring frames back to their sender: they are in no VLAN.
 */
static int
join_channels(struct sonic *s)
{
	static const char table[] = "PORTCHANNEL_MEMBER";
	json_t *entries = json_object_get(s->root, table), *entry;

	const char *key;
	void *next;

	for (uint16_t i = 0; i < s->out->sw.n_ports; i++) {
		json_object_foreach_safe (entries, next, key, entry) {
			size_t n = strcspn(key, "|");
			bool is_spare;

			(void)entry;
			if (n == 0 || n > IMPORT_PORT_NAME || key[n] == '\0')
				return sonic_refuse(s, table, key, NULL, NULL,
						    "a port-channel and a port");
			if (strcmp(key + n + 1, s->out->sw.ports[i].name) != 0)
				continue;
			is_spare = sonic_find_port(s, key, n) >= 0;
			if (!is_spare)
				snprintf(s->channels[i], sizeof(s->channels[i]), "%.*s", (int)n,
					 key);
			sonic_lose(s, table, key, NULL, NULL,
				   is_spare ? "no link aggregation: the port-channel is its first "
					      "port, and its other ports are in no VLAN"
					    : "no link aggregation: the port alone is the "
					      "port-channel");
		}
	}
	json_object_foreach_safe (entries, next, key, entry) {
		sonic_lose(s, table, key, NULL, NULL, "no such port in PORT");
	}
	return 0;
}

/* One entry of VLAN_MEMBER. */
static int
read_member(struct sonic *s, const char *key, struct import_bridge *bridges)
{
	static const char table[] = "VLAN_MEMBER";
	size_t n = strcspn(key, "|");
	uint16_t vlan = vlan_number(key, n);
	char mode[SONIC_TEXT] = "untagged", name[16];
	struct import_bridge *bridge;
	int rc, port;

	if (vlan == 0 || key[n] == '\0')
		return sonic_refuse(s, table, key, NULL, NULL,
				    "a VLAN from Vlan1 to Vlan4094, and a port");
	rc = sonic_take(s, table, key, "tagging_mode", mode);
	snprintf(name, sizeof(name), "Vlan%u", vlan);
	port = sonic_find_port(s, key + n + 1, strlen(key + n + 1));
	if (rc < 0)
		return rc;
	if (port < 0 || sonic_entry(s, "VLAN", name) == NULL) {
		sonic_lose(s, table, key, NULL, NULL,
			   port < 0 ? "no such port" : "no such VLAN in VLAN");
		return 0;
	}
	bridge = &bridges[port];
	if (strcmp(mode, "tagged") == 0)
		import_vlan_add(&bridge->tagged, vlan);
	else if (strcmp(mode, "untagged") != 0)
		sonic_lose(s, table, key, "tagging_mode", mode, "expected tagged or untagged");
	else if (bridge->access_vlan != 0 && bridge->access_vlan != vlan)
		sonic_lose(s, table, key, "tagging_mode", mode,
			   "the port has another VLAN for untagged frames");
	else
		bridge->access_vlan = vlan;
	return 0;
}

static void
set_vlans(struct sonic *s, struct import_bridge *bridges)
{
	const char *why[SW_DEVICE_PORTS];

	import_set_vlans(s->out, bridges, why);
	for (uint16_t i = 0; i < s->out->sw.n_ports; i++)
		if (why[i] != NULL)
			import_lost(s->log, " VLAN_MEMBER: %s: %s", s->out->sw.ports[i].name,
				    why[i]);
}

int
sonic_members(struct sonic *s)
{
	static const char *const tables[] = {"VLAN", "INTERFACE", "PORTCHANNEL_INTERFACE",
					     "PORTCHANNEL_MEMBER"};
	struct import_bridge *bridges = import_alloc(SW_DEVICE_PORTS, sizeof(*bridges));
	json_t *members = json_object_get(s->root, "VLAN_MEMBER"), *entry;
	const char *key;
	bool any = false;
	void *next;
	int rc = read_vlans(s);

	/* A file without these tables does not say how ports forward: each bridges to all. */
	for (unsigned int i = 0; i < ARRAY_LEN(tables); i++)
		any |= json_object_size(json_object_get(s->root, tables[i])) > 0;
	if (rc == 0)
		rc = join_channels(s);
	json_object_foreach_safe (members, next, key, entry) {
		(void)entry;
		if (rc == 0)
			rc = read_member(s, key, bridges);
	}
	if (rc == 0 && any)
		set_vlans(s, bridges);
	free(bridges);
	return rc;
}
