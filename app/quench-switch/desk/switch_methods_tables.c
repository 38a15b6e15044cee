/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods for the switch's tables: addresses, neighbours, routes, interfaces. */
#include "quench-switch/desk/switch_desk.h"

#include <stdio.h>
#include <time.h>

#include "ctl/output/json.h"
#include "quench-switch/config/switch_version.h"
#include "switch/control/snapshot.h"
#include "switch/forward/vlans.h"

/*
 * Checks for the owner's answer. The owner serves requests in every round of its poll loop, so it
 * answers within a round unless it sleeps.
 */
#define OWNER_LOOKS 20000
#define OWNER_LOOK_NS 100000l

static bool
wait_for_owner(struct desk_call *call, struct sw_snapshot *s)
{
	const struct timespec pause = {.tv_nsec = OWNER_LOOK_NS};

	for (unsigned int i = 0; i < OWNER_LOOKS && !sw_snapshot_is_done(s); i++)
		nanosleep(&pause, NULL);
	if (sw_snapshot_is_done(s))
		return true;
	if (sw_snapshot_withdraw(s)) {
		desk_refuse(call, "another try", "the data path did not respond");
		return false;
	}
	while (!sw_snapshot_is_done(s))
		nanosleep(&pause, NULL);
	return true;
}

bool
switch_take(struct desk_call *call, struct sw_snapshot *s)
{
	/* One reader at a time: the desk has one thread. */
	sw_snapshot_ask(switch_of(call)->node, s);
	return wait_for_owner(call, s);
}

static void
walk_mac(struct walk *w, const char *help, const uint8_t mac[6])
{
	char text[FIELD_MAC_CHARS];

	walk_text(w, WALK_KEY, "mac", help, field_mac_text(mac, text));
}

static void
walk_domain(struct walk *w, const char *key, const char *help, uint16_t domain)
{
	char text[32];

	sw_domain_text(domain, text, sizeof(text));
	walk_text(w, WALK_KEY, key, help, text);
}

/* @param call, e  NULL with names_only. */
static void
walk_fdb_row(struct walk *w, const struct desk_call *call, const struct fdb_entry *e)
{
	static const struct fdb_entry none;
	struct sw_view v = {0};

	if (call != NULL)
		v.params = switch_of(call)->params;
	else
		e = &none;
	walk_mac(w, "the address", e->mac);
	walk_domain(w, "domain", "vlan 10; vlan 0 for untagged frames with vlan_filtering = off",
		    e->domain);
	sw_walk_port_key(w, &v, e->port);
	walk_text(w, WALK_KEY, "type", "dynamic or static", e->is_static ? "static" : "dynamic");
	walk_number(w, WALK_KEY, "age_ns", "time since its last frame; 0 for a static one",
		    e->age_ns);
}

static void
walk_neigh_row(struct walk *w, const struct neigh *n)
{
	static const uint8_t unknown[6];
	char ip[FIELD_IP_CHARS];

	walk_text(w, WALK_KEY, "ip", "the address", field_ip_text(&n->key.ip, ip));
	walk_domain(w, "interface", "vlan 10, port 3", n->key.vlan_id);
	walk_mac(w, "its MAC address; zero: unknown", n->has_mac ? n->mac : unknown);
	walk_text(w, WALK_KEY, "state", "incomplete, reachable, stale, probe, failed or permanent",
		  neigh_state_text(n));
}

/* Add the whole table, chunk by chunk. @return j's object, or NULL: refused. */
static json_t *
table_reply(struct desk_call *call, enum sw_snapshot_table table, struct json_walk *j)
{
	struct sw_snapshot s = {.table = table};
	uint64_t most = UINT32_MAX;
	json_t *rows = json_array();

	json_object_set_new(j->at, "rows", rows);
	(void)desk_number(call, "count", 0, UINT64_MAX / 2, &most);
	while (s.at != SW_SNAPSHOT_END && json_array_size(rows) < most) {
		if (!switch_take(call, &s)) {
			json_decref(j->at);
			return NULL;
		}
		for (uint32_t i = 0; i < s.n && json_array_size(rows) < most; i++) {
			walk_item(&j->walk, "rows");
			if (table == SW_SNAPSHOT_FDB)
				walk_fdb_row(&j->walk, call, &s.fdb[i]);
			else
				walk_neigh_row(&j->walk, &s.neigh[i]);
			walk_leave(&j->walk);
		}
	}
	return j->at;
}

json_t *
switch_fdb_reply(struct desk_call *call)
{
	struct json_walk j = json_walk(json_object());

	sw_walk_fdb(&j.walk, &(struct sw_view){.sw = switch_of(call)->node});
	return table_reply(call, SW_SNAPSHOT_FDB, &j);
}

void
switch_fdb_result(struct walk *w)
{
	sw_walk_fdb(w, &(struct sw_view){0});
	walk_item(w, "rows");
	walk_fdb_row(w, NULL, NULL);
	walk_leave(w);
}

json_t *
switch_neigh_reply(struct desk_call *call)
{
	struct json_walk j = json_walk(json_object());

	return table_reply(call, SW_SNAPSHOT_NEIGH, &j);
}

void
switch_neigh_result(struct walk *w)
{
	static const struct neigh none;

	walk_item(w, "rows");
	walk_neigh_row(w, &none);
	walk_leave(w);
}

/* Format as "0-3,7". text must have room for all ports. */
static void
ports_text(uint64_t ports, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	while (ports != 0) {
		unsigned int first = (unsigned int)__builtin_ctzll(ports), last = first;

		while (last < SW_DEVICE_PORTS - 1 && ports >> (last + 1) & 1)
			last++;
		at += (size_t)snprintf(text + at, size - at, at == 0 ? "%u" : ",%u", first);
		if (last > first)
			at += (size_t)snprintf(text + at, size - at, "-%u", last);
		ports = last == SW_DEVICE_PORTS - 1 ? 0 : ports >> (last + 1) << (last + 1);
	}
}

static bool
vlan_row(struct walk *w, struct desk_call *call, void *vlans, uint64_t vid)
{
	const struct sw_vlans *v = vlans;
	const uint16_t n_ports = call == NULL ? 0 : switch_of(call)->params->n_ports;
	/* A switch on devices has at most 64 ports: a word. */
	uint64_t untagged = 0, members = call == NULL ? 0 : *sw_members(v, (uint16_t)vid);
	char text[4 * SW_DEVICE_PORTS];

	if (call != NULL && members == 0)
		return false;
	for (uint16_t port = 0; port < n_ports; port++)
		untagged |= (uint64_t)(v->access_domain[port] == vid) << port;
	walk_number(w, WALK_KEY, "vlan", "its VLAN ID", vid);
	ports_text(untagged, text, sizeof(text));
	walk_text(w, WALK_KEY, "untagged", "ports, such as 0-3,7", text);
	ports_text(members & ~untagged, text, sizeof(text));
	walk_text(w, WALK_KEY, "tagged", "ports, such as 0-3,7", text);
	return true;
}

static void
walk_filtering(struct walk *w, bool vlan_filtering)
{
	walk_flag(w, WALK_KEY, "vlan_filtering", "the key; without it there are no rows",
		  vlan_filtering);
}

void
switch_vlans_result(struct walk *w)
{
	walk_filtering(w, false);
	desk_rows_result(w, vlan_row);
}

json_t *
switch_vlans_reply(struct desk_call *call)
{
	const struct sw_params *params = switch_of(call)->params;
	struct sw_vlans *v = sw_vlans_create(params);
	struct desk_list list = {.first = 1, .row = vlan_row, .arg = v};
	struct json_walk j = json_walk(json_object());
	json_t *o;

	if (v != NULL && params->vlan_filtering)
		list.end = VLAN_MAX_ID + 1;
	walk_filtering(&j.walk, params->vlan_filtering);
	o = desk_list_add(call, &list, j.at);
	sw_vlans_free(v);
	return o;
}

static bool
interface_row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	struct sw_view v = {0};

	(void)arg;
	if (call != NULL)
		v = (struct sw_view){switch_of(call)->node, switch_of(call)->params, 0};
	switch_walk_interface(w, &v, (uint32_t)i);
	return true;
}

void
switch_interfaces_result(struct walk *w)
{
	desk_list_result(w, interface_row);
}

json_t *
switch_interfaces_reply(struct desk_call *call)
{
	return desk_list_reply(
		call, &(struct desk_list){.end = switch_of(call)->params->tables.n_interfaces,
					  .row = interface_row});
}
