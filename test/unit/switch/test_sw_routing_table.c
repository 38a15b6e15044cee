// SPDX-License-Identifier: BSD-3-Clause
/*
 * A small independent model judges random routers. The model knows addresses as numbers, and finds
 * a route by looking at each one. It says which configurations a router must refuse, and where an
 * accepted one sends a packet: the router's own addresses and connected subnets come first among
 * prefixes of one length (RFC 1812 5.2.4.3), and the longest prefix wins. Routes have up to 256
 * next hops, and share a target if and only if they have the same list of them.
 *
 * QUENCH_ROUTER_RUNS: number of random configurations.
 */
#include <stdio.h>

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "switch/forward/routing_table.h"
#include "unit/switch/sw_test.h"

#define DEFAULT_RUNS 20000u
#define MOST_INTERFACES 4u
#define MOST_ROUTES 10u
#define MOST_NEIGHBORS 3u
#define FEW_HOPS 3u

struct span {
	uint32_t ip;
	unsigned int length;
};

struct model {
	struct span interfaces[MOST_INTERFACES], routes[MOST_ROUTES], neighbors[MOST_NEIGHBORS];
	uint32_t hops[MOST_ROUTES][SW_MAX_NEXTHOPS];
	unsigned int n_interfaces, n_routes, n_neighbors, n_hops[MOST_ROUTES]; /* 0: blackhole */
	bool v6; /* addresses are the low 32 bits of fd00:: */
};

/* Few addresses, at both ends of some subnets, so that all kinds of conflicts are frequent. */
static uint32_t
any_address(struct prng *r)
{
	static const uint8_t last[] = {0, 1, 2, 3, 4, 127, 128, 252, 254, 255};

	return 10u << 24 | (uint32_t)prng_below(r, 4) << 8 | last[prng_below(r, ARRAY_LEN(last))];
}

static struct span
any_span(struct prng *r, bool subnet)
{
	static const uint8_t lengths[] = {0, 7, 8, 22, 23, 24, 24, 25, 30, 31, 32};
	unsigned int from = subnet ? 3 : 0;

	return (struct span){any_address(r),
			     lengths[from + prng_below(r, ARRAY_LEN(lengths) - from)]};
}

static uint32_t
mask_of(unsigned int length)
{
	return length == 0 ? 0 : UINT32_MAX << (32 - length);
}

static bool
has(const struct span *s, uint32_t ip)
{
	return ((s->ip ^ ip) & mask_of(s->length)) == 0;
}

static bool
same(const struct span *a, const struct span *b)
{
	return a->length == b->length && has(a, b->ip);
}

/* The interface of an address, or NULL. */
static const struct span *
connected(const struct model *m, uint32_t ip)
{
	for (unsigned int i = 0; i < m->n_interfaces; i++)
		if (has(&m->interfaces[i], ip))
			return &m->interfaces[i];
	return NULL;
}

static bool
is_station(const struct model *m, uint32_t ip)
{
	const struct span *in = connected(m, ip);
	uint32_t host;

	if (in == NULL || in->ip == ip)
		return false;
	host = ip & ~mask_of(in->length);
	return m->v6 || in->length > 30 || (host != 0 && host != ~mask_of(in->length));
}

static uint32_t
any_hop(const struct model *m, struct prng *r)
{
	const struct span *in = &m->interfaces[prng_below(r, m->n_interfaces)];

	if (prng_below(r, 8) == 0)
		return any_address(r);
	return (in->ip & mask_of(in->length)) |
	       ((in->ip + (uint32_t)prng_below(r, 4)) & ~mask_of(in->length));
}

/* Many hops of a route, of which in most routers all are stations. */
static void
many_hops(struct model *m, unsigned int route, struct prng *r)
{
	m->n_hops[route] = 1 + (unsigned int)prng_below(r, SW_MAX_NEXTHOPS);
	for (unsigned int k = 0; k < m->n_hops[route]; k++) {
		const struct span *in = &m->interfaces[prng_below(r, m->n_interfaces)];
		uint32_t ip = in->ip ^ (uint32_t)prng_below(r, 256);

		for (unsigned int n = 0; n < 64 && !is_station(m, ip); n++)
			ip = in->ip ^ (uint32_t)prng_below(r, 256);
		m->hops[route][k] = ip;
	}
	if (prng_below(r, 4) == 0)
		m->hops[route][prng_below(r, m->n_hops[route])] = any_address(r);
}

static struct model
any_router(struct prng *r)
{
	struct model m = {.v6 = prng_below(r, 2)};

	m.n_interfaces = 1 + (unsigned int)prng_below(r, MOST_INTERFACES);
	m.n_routes = (unsigned int)prng_below(r, MOST_ROUTES + 1);
	m.n_neighbors = (unsigned int)prng_below(r, MOST_NEIGHBORS + 1);
	for (unsigned int i = 0; i < m.n_interfaces; i++) {
		m.interfaces[i] = any_span(r, true);
		/* Mostly subnets that do not overlap, so that the rest is judged too. */
		if (prng_below(r, 8) != 0) {
			m.interfaces[i].ip = (m.interfaces[i].ip & ~0x300u) | i << 8;
			m.interfaces[i].length = 24 + m.interfaces[i].length % 8;
		}
	}
	for (unsigned int i = 0; i < m.n_routes; i++) {
		m.routes[i] = any_span(r, false);
		m.n_hops[i] = (unsigned int)prng_below(r, FEW_HOPS + 1);
		for (unsigned int k = 0; k < m.n_hops[i]; k++)
			m.hops[i][k] = any_hop(&m, r);
		if (prng_below(r, 16) == 0)
			many_hops(&m, i, r);
		/* The list of the route before, or all but its last. */
		if (i > 0 && prng_below(r, 8) == 0) {
			memcpy(m.hops[i], m.hops[i - 1], sizeof(m.hops[i]));
			m.n_hops[i] = m.n_hops[i - 1] - (m.n_hops[i - 1] > 1 && prng_below(r, 2));
		}
	}
	for (unsigned int i = 0; i < m.n_neighbors; i++) {
		const struct span *in = &m.interfaces[prng_below(r, m.n_interfaces)];

		m.neighbors[i] = (struct span){in->ip ^ (uint32_t)prng_below(r, 8), 32};
	}
	return m;
}

static bool
model_accepts(const struct model *m)
{
	for (unsigned int i = 0; i < m->n_interfaces; i++)
		for (unsigned int k = 0; k < i; k++)
			if (has(&m->interfaces[i], m->interfaces[k].ip) ||
			    has(&m->interfaces[k], m->interfaces[i].ip))
				return false;
	for (unsigned int i = 0; i < m->n_routes; i++) {
		for (unsigned int k = 0; k < m->n_interfaces; k++) {
			struct span own = {m->interfaces[k].ip, 32};

			if (same(&m->routes[i], &m->interfaces[k]) || same(&m->routes[i], &own))
				return false;
		}
		for (unsigned int k = 0; k < i; k++)
			if (same(&m->routes[i], &m->routes[k]))
				return false;
		for (unsigned int k = 0; k < m->n_hops[i]; k++)
			if (!is_station(m, m->hops[i][k]))
				return false;
	}
	for (unsigned int i = 0; i < m->n_neighbors; i++) {
		for (unsigned int k = 0; k < i; k++)
			if (m->neighbors[i].ip == m->neighbors[k].ip)
				return false;
		if (!is_station(m, m->neighbors[i].ip))
			return false;
	}
	return true;
}

/* One of the ways to write an address. */
static int
write_ip(const struct model *m, uint32_t ip, char *text, size_t size, struct prng *r)
{
	static const char *const forms[] = {"fd00::%x:%x", "fd00:0::%x:%x", "FD00:0:0:0:0:0:%x:%x",
					    "fd00::0:%x:%x"};

	if (m->v6)
		return snprintf(text, size, forms[prng_below(r, ARRAY_LEN(forms))], ip >> 16,
				ip & 0xFFFF);
	return snprintf(text, size, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 0xFF, ip >> 8 & 0xFF,
			ip & 0xFF);
}

static void
write_span(const struct model *m, const struct span *s, char *text, size_t size, struct prng *r)
{
	int n = write_ip(m, s->ip, text, size, r);

	snprintf(text + n, size - (size_t)n, "/%u", s->length + (m->v6 ? 96 : 0));
}

static struct sw_interface interfaces[MOST_INTERFACES];
static struct sw_static_route routes[MOST_ROUTES];
static char hops[MOST_ROUTES][SW_NEXTHOP_CHARS + 1];
static struct sw_neighbor neighbors[MOST_NEIGHBORS];

static struct sw_tables
write_router(const struct model *m, struct prng *r)
{
	for (unsigned int i = 0; i < m->n_interfaces; i++) {
		struct sw_interface *o = &interfaces[i];

		snprintf(o->name, sizeof(o->name), "port %u", i);
		strcpy(o->ip, "none");
		strcpy(o->ip6, "none");
		write_span(m, &m->interfaces[i], m->v6 ? o->ip6 : o->ip, sizeof(o->ip), r);
	}
	for (unsigned int i = 0; i < m->n_routes; i++) {
		size_t used = 0, size = sizeof(hops[i]);

		write_span(m, &m->routes[i], routes[i].name, sizeof(routes[i].name), r);
		strcpy(hops[i], "blackhole");
		routes[i].nexthop = hops[i];
		for (unsigned int k = 0; k < m->n_hops[i]; k++) {
			if (k > 0)
				used += (size_t)snprintf(hops[i] + used, size - used, ", ");
			used += (size_t)write_ip(m, m->hops[i][k], hops[i] + used, size - used, r);
		}
	}
	for (unsigned int i = 0; i < m->n_neighbors; i++) {
		write_ip(m, m->neighbors[i].ip, neighbors[i].name, sizeof(neighbors[i].name), r);
		neighbors[i].mac[5] = (uint8_t)(i + 1);
	}
	return (struct sw_tables){.interfaces = interfaces,
				  .n_interfaces = m->n_interfaces,
				  .routes = routes,
				  .n_routes = m->n_routes,
				  .neighbors = neighbors,
				  .n_neighbors = m->n_neighbors};
}

static uint64_t
look_up(const struct model *m, const struct sw_routing_table *t, uint32_t ip)
{
	uint8_t ip6[1][16] = {{0xfd, 0}};
	uint64_t target;

	for (unsigned int i = 0; i < 4; i++)
		ip6[0][12 + i] = (uint8_t)(ip >> (24 - 8 * i));
	if (m->v6)
		route_lookup6(t->table, ip6, &target, 1);
	else
		route_lookup4(t->table, &ip, &target, 1);
	return target;
}

/* The longest prefix of the model; those of interfaces come first. */
static void
sees_model_s_route(const struct model *m, const struct sw_routing_table *t, uint32_t ip)
{
	uint64_t target = look_up(m, t, ip);
	const struct sw_target *got = &t->targets[0][target];
	const struct span *in = connected(m, ip);
	int best = in == NULL ? -1 : (int)in->length, route = -1;

	if (in != NULL && in->ip == ip) {
		assert_int_equal(got->kind, SW_TARGET_LOCAL);
		return;
	}
	for (unsigned int i = 0; i < m->n_routes; i++) {
		if (has(&m->routes[i], ip) && (int)m->routes[i].length > best) {
			best = (int)m->routes[i].length;
			route = (int)i;
		}
	}
	if (best < 0) {
		assert_int_equal(target, ROUTE_NONE);
	} else if (route < 0) {
		assert_int_equal(got->kind, SW_TARGET_CONNECTED);
		assert_int_equal(got->domain, SW_PORT_DOMAIN + (uint32_t)(in - m->interfaces));
	} else if (m->n_hops[route] == 0) {
		assert_int_equal(got->kind, SW_TARGET_BLACKHOLE);
	} else {
		assert_int_equal(got->kind, SW_TARGET_HOPS);
		assert_int_equal(got->n_hops, m->n_hops[route]);
		for (unsigned int k = 0; k < got->n_hops; k++) {
			const struct neigh *hop = neigh_get(t->pinned, got->hops[k]);
			const uint8_t *last = hop->key.ip.addr + (m->v6 ? 12 : 0);
			const struct span *out = connected(m, m->hops[route][k]);

			assert_int_equal((uint32_t)last[0] << 24 | (uint32_t)last[1] << 16 |
						 (uint32_t)last[2] << 8 | last[3],
					 m->hops[route][k]);
			assert_int_equal(hop->key.vlan_id,
					 SW_PORT_DOMAIN + (uint32_t)(out - m->interfaces));
		}
	}
}

static void
sees_lists_shared(const struct model *m, const struct sw_routing_table *t)
{
	for (unsigned int i = 0; i < m->n_routes; i++) {
		for (unsigned int k = 0; k < i; k++) {
			bool same_list = m->n_hops[i] == m->n_hops[k] &&
					 memcmp(m->hops[i], m->hops[k],
						m->n_hops[i] * sizeof(m->hops[i][0])) == 0;

			assert_int_equal(t->target_of_route[i] == t->target_of_route[k], same_list);
		}
	}
}

static void
describe(uint64_t seed, const struct sw_tables *t, const char *why)
{
	print_message("seed %" PRIu64 ": %s\n", seed, *why == '\0' ? "accepted" : why);
	for (uint32_t i = 0; i < t->n_interfaces; i++)
		print_message("[interface %s] %s %s\n", t->interfaces[i].name, t->interfaces[i].ip,
			      t->interfaces[i].ip6);
	for (uint32_t i = 0; i < t->n_routes; i++)
		print_message("[route %s] %s\n", t->routes[i].name, t->routes[i].nexthop);
	for (uint32_t i = 0; i < t->n_neighbors; i++)
		print_message("[neighbor %s]\n", t->neighbors[i].name);
}

TEST(random_routers_are_refused_and_route_as_the_model_says)
{
	const char *runs = getenv("QUENCH_ROUTER_RUNS");
	uint64_t n = runs == NULL ? DEFAULT_RUNS : strtoull(runs, NULL, 10), accepted = 0,
		 with_many = 0;
	struct sw_params *p = &bench_with_ports(MOST_INTERFACES)->params;
	struct prng r;

	p->router.router_mac[0] = 2;
	sw_params_resolve(p);
	for (uint64_t seed = 1; seed <= n; seed++) {
		struct sw_routing_table *t;
		char why[256] = "";
		struct model m;
		bool refused;

		prng_seed(&r, seed, 0);
		m = any_router(&r);
		p->tables = write_router(&m, &r);
		refused = sw_tables_check(p, why, sizeof(why)) < 0;
		if (refused == model_accepts(&m)) {
			describe(seed, &p->tables, why);
			fail_msg("the model says: %s", refused ? "accept" : "refuse");
		}
		if (refused)
			continue;
		accepted++;
		assert_int_equal(sw_routing_table_create(&p->router, &p->tables, 1, &t), 0);
		for (unsigned int i = 0; i < 64; i++)
			sees_model_s_route(&m, t, any_address(&r) ^ (i == 0 ? 1u << 31 : 0));
		for (unsigned int i = 0; i < m.n_routes; i++) {
			sees_model_s_route(&m, t, m.routes[i].ip);
			with_many += m.n_hops[i] > FEW_HOPS;
		}
		sees_lists_shared(&m, t);
		sw_routing_table_destroy(t);
	}
	print_message("%" PRIu64 " of %" PRIu64 " routers are accepted, and %" PRIu64
		      " routes of many hops\n",
		      accepted, n, with_many);
	assert_true(with_many > n / 500);
	assert_true(accepted > n / 20 && accepted < n * 19 / 20);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
