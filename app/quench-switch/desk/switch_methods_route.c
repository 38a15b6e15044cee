/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of routes: all of them, the way of one flow, and their removal. */
#include "quench-switch/desk/switch_desk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/output/json.h"
#include "fwd/route.h"
#include "quench-switch/config/switch_version.h"
#include "runtime/methods/methods.h"
#include "switch/control/route_look.h"
#include "switch/forward/hop_counts.h"
#include "wire/bytes/headers.h"

/* The next hops of a route that are dead and bypassed; "" if none. */
static void
walk_dead_hops(struct walk *w, const struct node *node, const struct sw_static_route *route,
	       uint32_t i)
{
	struct field_ip hops[SW_MAX_NEXTHOPS];
	int n = node == NULL ? 0 : sw_nexthops_parse(route->nexthop, hops);
	struct sw_hop_set dead = {0};
	char text[SW_NEXTHOP_CHARS + 1] = "";
	size_t used = 0;

	if (node != NULL)
		dead = sw_routing_dead_hops(node, i);
	for (int k = 0; k < n; k++) {
		char ip[FIELD_IP_CHARS];

		if (!sw_hop_words_have(dead.word, (uint32_t)k))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 used == 0 ? "" : ", ", field_ip_text(&hops[k], ip));
		if (used >= sizeof(text))
			break;
	}
	walk_text(w, WALK_KEY, "dead",
		  "next hops whose link is down, or that do not answer; ECMP avoids them", text);
}

static bool
route_row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	static const struct sw_static_route none;
	const struct sw_static_route *route =
		call == NULL ? &none : &switch_of(call)->params->tables.routes[i];

	(void)arg;
	walk_text(w, WALK_KEY, "prefix", "destination", route->name);
	walk_text(w, WALK_KEY, "nexthop", "next hops", route->nexthop);
	walk_dead_hops(w, call == NULL ? NULL : switch_of(call)->node, route, (uint32_t)i);
	return true;
}

/* The subnet of a prefix that was written with an address in it. */
static void
subnet_text(const struct route_prefix *p, char text[SW_PREFIX_CHARS + 8])
{
	char ip[FIELD_IP_CHARS];
	struct field_ip net = p->ip;

	for (unsigned int bit = p->length; bit < (net.version == 4 ? 32 : 128); bit++)
		net.addr[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	snprintf(text, SW_PREFIX_CHARS + 8, "%s/%u", field_ip_text(&net, ip), p->length);
}

static void
walk_connected(struct walk *w, const char *interface, const char *address, const char *subnet)
{
	walk_item(w, "connected");
	walk_text(w, WALK_KEY, "prefix", "subnet of an interface", subnet);
	walk_text(w, WALK_KEY, "interface", "vlan 10, port 3", interface);
	walk_text(w, WALK_KEY, "address", "the router's address there", address);
	walk_leave(w);
}

static void
add_connected(struct walk *w, const struct sw_interface *interface, const char *address)
{
	char subnet[SW_PREFIX_CHARS + 8];
	struct route_prefix prefix;

	if (route_prefix_parse(address, &prefix) < 0)
		return;
	subnet_text(&prefix, subnet);
	walk_connected(w, interface->name, address, subnet);
}

json_t *
switch_routes_reply(struct desk_call *call)
{
	const struct sw_tables *tables = &switch_of(call)->params->tables;
	json_t *o = desk_list_reply(call,
				    &(struct desk_list){.end = tables->n_routes, .row = route_row});
	struct json_walk j = json_walk(o);

	if (o == NULL)
		return NULL;
	walk_list(&j.walk, "connected");
	for (uint32_t i = 0; i < tables->n_interfaces; i++) {
		add_connected(&j.walk, &tables->interfaces[i], tables->interfaces[i].ip);
		add_connected(&j.walk, &tables->interfaces[i], tables->interfaces[i].ip6);
	}
	return o;
}

void
switch_routes_result(struct walk *w)
{
	desk_list_result(w, route_row);
	walk_connected(w, NULL, NULL, NULL);
}

json_t *
switch_remove_reply(struct desk_call *call)
{
	char *routes = desk_words(call, "routes", '\n');
	json_t *o = routes == NULL ? NULL : config_remove_reply(call, routes);

	free(routes);
	return o;
}

/* ---- next hops ---- */

/* @param key  NULL with names_only. */
static void
walk_next_hop(struct walk *w, const struct sw_view *v, const struct neigh_key *key)
{
	char ip[FIELD_IP_CHARS] = "", interface[32] = "";

	if (key != NULL) {
		(void)field_ip_text(&key->ip, ip);
		sw_domain_text(key->vlan_id, interface, sizeof(interface));
	}
	walk_item(w, "rows");
	w->object = "nexthop";
	walk_text(w, WALK_KEY, "nexthop", "address of a next hop of [route PREFIX]", ip);
	walk_text(w, WALK_KEY, "interface", "vlan 10, port 3", interface);
	sw_walk_hop_counts(w, v, key);
	walk_leave(w);
}

json_t *
switch_nexthops_reply(struct desk_call *call)
{
	const struct sw_view v = {switch_of(call)->node, switch_of(call)->params, 0};
	const struct sw_hop_counts *hop = NULL;
	struct json_walk j = json_walk(json_object());

	walk_list(&j.walk, "rows");
	while ((hop = sw_next_hop(v.sw, hop)) != NULL)
		walk_next_hop(&j.walk, &v, &hop->key);
	return j.at;
}

void
switch_nexthops_result(struct walk *w)
{
	walk_next_hop(w, &(struct sw_view){0}, NULL);
}

/* ---- the way of a flow ---- */

const struct desk_param switch_route_params[] = {
	{"destination", DESK_WORD, true, "an IP address"},
	{"source", DESK_WORD, false, "the address of the sender; with it the flow's next hop"},
	{"source_port", DESK_NUMBER, false, "of TCP or UDP; 0 without it"},
	{"destination_port", DESK_NUMBER, false, "of TCP or UDP; 0 without it"},
	{"protocol", DESK_NUMBER, false, "IP protocol; 17, UDP, without it"},
	{0},
};

static bool
read_address(struct desk_call *call, const char *name, struct field_ip *ip)
{
	char digits[DESK_DIGITS];
	const char *text = desk_word(call, name, digits);

	if (text == NULL || sw_address_parse(text, ip))
		return true;
	desk_refuse_param(call, "an IPv4 or IPv6 address", "%s = %s", name, text);
	return false;
}

static bool
read_question(struct desk_call *call, struct sw_route_look *look)
{
	uint64_t from = 0, to = 0, protocol = IP_PROTO_UDP;

	if (!read_address(call, "destination", &look->destination) ||
	    !read_address(call, "source", &look->source) ||
	    !desk_number(call, "source_port", 0, UINT16_MAX, &from) ||
	    !desk_number(call, "destination_port", 0, UINT16_MAX, &to) ||
	    !desk_number(call, "protocol", 0, UINT8_MAX, &protocol))
		return false;
	if (look->source.version != 0 && look->source.version != look->destination.version) {
		desk_refuse_param(call, "an address of the same IP version as the destination",
				  "source");
		return false;
	}
	look->source_port = (uint16_t)from;
	look->destination_port = (uint16_t)to;
	look->protocol = (uint8_t)protocol;
	/* The router takes the ports of TCP and UDP only. */
	if (protocol != IP_PROTO_TCP && protocol != IP_PROTO_UDP)
		look->source_port = look->destination_port = 0;
	return true;
}

/* The longest prefix with the address, of one kind of route; text is "" if there is none. */
static void
find_prefix(const struct sw_tables *t, const struct field_ip *ip, bool connected,
	    char text[SW_PREFIX_CHARS + 8])
{
	uint32_t n = connected ? 2 * t->n_interfaces : t->n_routes;
	struct route_prefix p;
	int longest = -1;

	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		const char *name = !connected   ? t->routes[i].name
				   : i % 2 == 0 ? t->interfaces[i / 2].ip
						: t->interfaces[i / 2].ip6;

		if (route_prefix_parse(name, &p) < 0 || p.ip.version != ip->version ||
		    !route_prefix_has(&p, ip) || p.length <= longest)
			continue;
		longest = p.length;
		subnet_text(&p, text);
	}
}

static void
walk_hop(struct walk *w, const struct sw_view *v, const struct sw_route_hop *hop, bool chosen)
{
	const struct neigh *n = &hop->neigh;
	char ip[FIELD_IP_CHARS] = "", mac[FIELD_MAC_CHARS] = "", interface[32] = "";

	if (n->key.ip.version != 0) {
		(void)field_ip_text(&n->key.ip, ip);
		sw_domain_text(n->key.vlan_id, interface, sizeof(interface));
	}
	if (n->has_mac)
		(void)field_mac_text(n->mac, mac);
	walk_item(w, "hops");
	walk_text(w, WALK_KEY, "nexthop", "its address; empty: no frame has asked for it yet", ip);
	walk_text(w, WALK_KEY, "interface", "vlan 10, port 3", interface);
	walk_text(w, WALK_KEY, "mac", "its MAC address; empty: unknown", mac);
	walk_text(w, WALK_KEY, "state",
		  "incomplete, reachable, stale, probe, failed or permanent; empty: unknown",
		  n->key.ip.version == 0 ? "" : neigh_state_text(n));
	w->optional = true;
	if (w->names_only || hop->port != SW_NO_DOMAIN)
		sw_walk_port_key(w, v, hop->port);
	w->optional = false;
	walk_flag(w, WALK_KEY, "dead", "ECMP avoids it: its link is down, or it does not answer",
		  hop->dead);
	walk_flag(w, WALK_KEY, "chosen", "the flow takes it", chosen);
	sw_walk_hop_counts(w, v, &n->key);
	walk_leave(w);
}

static void
walk_route(struct walk *w, const struct sw_view *v, const struct sw_route_look *look,
	   const char *prefix)
{
	walk_text(w, WALK_KEY, "kind",
		  "none, local (the router itself), connected, static, blackhole, multicast (not "
		  "routed) or non_routable (loopback, link-local and such)",
		  sw_route_kind_words[look->kind]);
	walk_text(w, WALK_KEY, "prefix", "the longest prefix with the destination; empty: none",
		  prefix);
	walk_maybe(w, WALK_KEY, "hash",
		   "hash of the flow, of 32 bits, which selects hop hash x hops / 2^32; null: "
		   "there is no choice, or the flow is not known",
		   look->hash, !look->hashed);
	walk_maybe(w, WALK_KEY, "own_hop",
		   "place of that hop in hops[]; the flow takes another one while it is dead",
		   look->own, !look->hashed);
	walk_list(w, "hops");
	if (w->names_only)
		walk_hop(w, v, &look->hops[0], false);
	for (uint32_t i = 0; i < look->n_hops; i++)
		walk_hop(w, v, &look->hops[i],
			 look->n_hops == 1 || (look->hashed && look->chosen == i));
}

void
switch_route_result(struct walk *w)
{
	static const struct sw_route_look none;

	walk_route(w, &(struct sw_view){0}, &none, "");
}

static bool
has_prefix(enum sw_route_kind kind)
{
	return kind != SW_ROUTE_NONE && kind != SW_ROUTE_MULTICAST && kind != SW_ROUTE_NON_ROUTABLE;
}

json_t *
switch_route_reply(struct desk_call *call)
{
	const struct sw_view v = {switch_of(call)->node, switch_of(call)->params,
				  desk_now_ns(call)};
	struct sw_route_look look = {0};
	struct sw_snapshot s = {.table = SW_SNAPSHOT_ROUTE, .route = &look};
	char prefix[SW_PREFIX_CHARS + 8];
	struct json_walk j;

	if (!read_question(call, &look) || !switch_take(call, &s))
		return NULL;
	find_prefix(&v.params->tables, &look.destination,
		    look.kind == SW_ROUTE_CONNECTED || look.kind == SW_ROUTE_LOCAL, prefix);
	j = json_walk(json_object());
	walk_route(&j.walk, &v, &look, has_prefix(look.kind) ? prefix : "");
	return j.at;
}
