/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods for the switch's tables: addresses, neighbours, routes, interfaces. */
#include "quench-switch/desk/switch_desk.h"

#include <stdio.h>
#include <time.h>

#include "runtime/report/report.h"
#include "runtime/report/switch_json.h"
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
set_mac(json_t *o, const uint8_t mac[6])
{
	char text[18];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	json_object_set_new(o, "mac", json_string(text));
}

static void
set_domain(json_t *o, const char *key, uint16_t domain)
{
	char text[32];

	sw_domain_text(domain, text, sizeof(text));
	json_object_set_new(o, key, json_string(text));
}

static json_t *
fdb_row(struct desk_call *call, const struct sw_snapshot *s, uint32_t i)
{
	const struct fdb_entry *e = &s->fdb[i];
	json_t *o = json_object();

	set_mac(o, e->mac);
	set_domain(o, "domain", e->domain);
	switch_set_port(o, switch_of(call)->params, e->port);
	json_object_set_new(o, "type", json_string(e->is_static ? "static" : "dynamic"));
	report_set_u64(o, "age_ns", e->age_ns);
	return o;
}

static json_t *
neigh_row(struct desk_call *call, const struct sw_snapshot *s, uint32_t i)
{
	static const uint8_t unknown[6];
	static const char *const states[] = {"incomplete", "reachable", "probe", "failed", "stale"};
	const struct neigh *n = &s->neigh[i];
	char ip[FIELD_IP_CHARS];
	json_t *o = json_object();

	(void)call;
	json_object_set_new(o, "ip", json_string(field_ip_text(&n->key.ip, ip)));
	set_domain(o, "interface", n->key.vlan_id);
	set_mac(o, n->has_mac ? n->mac : unknown);
	json_object_set_new(o, "state", json_string(n->fixed ? "permanent" : states[n->state]));
	return o;
}

/* The whole table, chunk by chunk. @param o  the rest of the result; takes ownership. */
static json_t *
table_reply(struct desk_call *call, enum sw_snapshot_table table, json_t *o,
	    json_t *(*row)(struct desk_call *call, const struct sw_snapshot *s, uint32_t i))
{
	struct sw_snapshot s = {.table = table};
	json_t *rows = json_array();
	uint64_t most = UINT32_MAX;

	(void)desk_number(call, "count", 0, UINT64_MAX / 2, &most);
	while (s.at != SW_SNAPSHOT_END && json_array_size(rows) < most) {
		if (!switch_take(call, &s)) {
			json_decref(rows);
			json_decref(o);
			return NULL;
		}
		for (uint32_t j = 0; j < s.n && json_array_size(rows) < most; j++)
			json_array_append_new(rows, row(call, &s, j));
	}
	json_object_set_new(o, "rows", rows);
	return o;
}

json_t *
switch_fdb_reply(struct desk_call *call)
{
	return table_reply(call, SW_SNAPSHOT_FDB, switch_fdb_object(switch_of(call)->node),
			   fdb_row);
}

json_t *
switch_neigh_reply(struct desk_call *call)
{
	return table_reply(call, SW_SNAPSHOT_NEIGH, json_object(), neigh_row);
}

/* The next hops of a route that are dead and bypassed; "" if none. */
static json_t *
dead_hops(const struct node *node, const struct sw_static_route *route, uint32_t i)
{
	struct field_ip hops[SW_MAX_NEXTHOPS];
	int n = sw_nexthops_parse(route->nexthop, hops);
	uint16_t dead = sw_routing_dead_hops(node, i);
	char text[SW_NEXTHOP_CHARS + 1] = "";
	size_t used = 0;

	for (int k = 0; k < n; k++) {
		char ip[FIELD_IP_CHARS];

		if (!(dead >> k & 1))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 used == 0 ? "" : ", ", field_ip_text(&hops[k], ip));
		if (used >= sizeof(text))
			break;
	}
	return json_string(text);
}

static json_t *
route_row(struct desk_call *call, void *arg, uint64_t i)
{
	const struct sw_static_route *route = &switch_of(call)->params->tables.routes[i];
	json_t *o = json_object();

	(void)arg;
	json_object_set_new(o, "prefix", json_string(route->name));
	json_object_set_new(o, "nexthop", json_string(route->nexthop));
	json_object_set_new(o, "dead", dead_hops(switch_of(call)->node, route, (uint32_t)i));
	return o;
}

json_t *
switch_routes_reply(struct desk_call *call)
{
	return desk_list_reply(call,
			       &(struct desk_list){.end = switch_of(call)->params->tables.n_routes,
						   .row = route_row});
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

static json_t *
vlan_row(struct desk_call *call, void *vlans, uint64_t vid)
{
	const struct sw_params *params = switch_of(call)->params;
	const struct sw_vlans *v = vlans;
	/* A switch on devices has at most 64 ports: a word. */
	uint64_t untagged = 0, members = *sw_members(v, (uint16_t)vid);
	char text[4 * SW_DEVICE_PORTS];
	json_t *o;

	if (members == 0)
		return NULL;
	o = json_object();
	for (uint16_t port = 0; port < params->n_ports; port++)
		untagged |= (uint64_t)(v->access_domain[port] == vid) << port;
	report_set_u64(o, "vlan", vid);
	ports_text(untagged, text, sizeof(text));
	json_object_set_new(o, "untagged", json_string(text));
	ports_text(members & ~untagged, text, sizeof(text));
	json_object_set_new(o, "tagged", json_string(text));
	return o;
}

json_t *
switch_vlans_reply(struct desk_call *call)
{
	const struct sw_params *params = switch_of(call)->params;
	struct sw_vlans *v = sw_vlans_create(params);
	struct desk_list list = {.first = 1, .row = vlan_row, .arg = v};
	json_t *o = json_object();

	if (v != NULL && params->vlan_filtering)
		list.end = VLAN_MAX_ID + 1;
	json_object_set_new(o, "vlan_filtering", json_boolean(params->vlan_filtering));
	o = desk_list_add(call, &list, o);
	sw_vlans_free(v);
	return o;
}

static json_t *
interface_row(struct desk_call *call, void *arg, uint64_t i)
{
	(void)arg;
	return switch_interface_object(switch_of(call)->node, switch_of(call)->params, (uint32_t)i);
}

json_t *
switch_interfaces_reply(struct desk_call *call)
{
	return desk_list_reply(
		call, &(struct desk_list){.end = switch_of(call)->params->tables.n_interfaces,
					  .row = interface_row});
}
