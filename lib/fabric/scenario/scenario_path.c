/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/scenario/scenario_path.h"

#include <errno.h>
#include <string.h>

#include "fwd/ecmp.h"
#include "wire/bytes/be.h"
#include "wire/roce/roce.h"

#define IP_PROTO_UDP 17u

/* The n-th port of the set, from 0. */
static uint16_t
nth_port(const struct port_set *ports, uint32_t n)
{
	uint16_t port = port_set_next(ports, 0);

	for (; n > 0; n--)
		port = port_set_next(ports, (uint16_t)(port + 1));
	return port;
}

int
path_find(const struct scenario *s, const struct routes *routes, uint32_t from, uint32_t to,
	  uint16_t udp_sport, struct path_hop hops[PATH_MAX_HOPS])
{
	const struct topology *t = s->topology;
	const struct topology_host *dst = &t->hosts[to - 1];
	struct field_ip ips[2] = {scenario_host_ip(s, from), scenario_host_ip(s, to)};
	uint8_t addrs[32], ports[4], version = ips[0].version;
	size_t n_bytes = version == 6 ? 16 : 4;
	struct ecmp_flow flow = {.addrs = addrs, .ip_version = version, .proto = IP_PROTO_UDP};
	uint32_t sw = t->hosts[from - 1].sw, subnet = routes_subnet(routes, dst->sw);
	int n = 0;

	memcpy(addrs, ips[0].addr, n_bytes);
	memcpy(addrs + n_bytes, ips[1].addr, n_bytes);
	be16_store(ports, udp_sport);
	be16_store(ports + 2, ROCE_UDP_PORT);
	memcpy(&flow.ports, ports, sizeof(flow.ports));
	for (; sw != dst->sw; sw = topology_peer(t, sw, hops[n - 1].port).node) {
		struct port_set nearer = routes_ports(routes, sw, subnet);
		uint32_t choices = port_set_count(&nearer), choice = 0;

		if (n == PATH_MAX_HOPS - 1)
			return -ELOOP;
		/* Bridges have one path, or use the first of parallel cables. */
		if (s->routes != NULL && choices > 1)
			choice = ecmp_pick(ecmp_hash(&flow, scenario_ecmp_seed(s, sw)), choices);
		hops[n++] = (struct path_hop){sw, nth_port(&nearer, choice)};
	}
	hops[n++] = (struct path_hop){sw, t->links[dst->link].b.port};
	return n;
}

/* Switches from one to the subnet of another, on any shortest path. */
static unsigned int
n_hops(const struct topology *t, const struct routes *routes, uint32_t sw, uint32_t subnet)
{
	unsigned int n = 1;

	for (struct port_set nearer = routes_ports(routes, sw, subnet);
	     port_set_count(&nearer) > 0 && n < PATH_MAX_HOPS;
	     nearer = routes_ports(routes, sw, subnet), n++)
		sw = topology_peer(t, sw, nth_port(&nearer, 0)).node;
	return n;
}

unsigned int
path_longest(const struct scenario *s)
{
	struct routes *own = s->routes == NULL ? routes_create(s->topology, NULL) : NULL;
	const struct routes *routes = s->routes != NULL ? s->routes : own;
	unsigned int most = 0, n;

	for (uint32_t sw = 0; routes != NULL && sw < s->topology->n_switches; sw++) {
		if (routes_subnet(routes, sw) == ROUTES_NO_SUBNET)
			continue;
		for (uint32_t subnet = 0; subnet < routes_n_subnets(routes); subnet++)
			if ((n = n_hops(s->topology, routes, sw, subnet)) > most)
				most = n;
	}
	routes_destroy(own);
	return most;
}
