/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router of both targets of the switch: ports 0 and 1 in VLAN 10, port 2 in VLAN 20 and tagged
 * in 10, port 3 routed.
 */
#ifndef QUENCH_TEST_FUZZ_ROUTER_H
#define QUENCH_TEST_FUZZ_ROUTER_H

#include <string.h>

#include "base/numbers/units.h"
#include "fuzz/node.h"
#include "switch/sw.h"

#define PORTS 4
#define HOPS_8                                                                                     \
	"10.0.33.2, 10.0.33.3, 10.0.33.2, 10.0.33.3, 10.0.33.2, 10.0.33.3, 10.0.33.2, 10.0.33.3, "
#define HOPS_64 HOPS_8 HOPS_8 HOPS_8 HOPS_8 HOPS_8 HOPS_8 HOPS_8 HOPS_8

static struct sw_interface interfaces[] = {
	{.name = "vlan 10", .ip = "10.0.10.1/24", .ip6 = "fd00:10::1/64"},
	{.name = "port 3", .ip = "10.0.33.1/24", .ip6 = "fd00:33::1/64"},
};
static struct sw_static_route routes[] = {
	/* Two next hops in more than one word of a mask: 10.0.33.2 is every other one. */
	{.name = "0.0.0.0/1", .nexthop = HOPS_64 HOPS_64 "10.0.33.2, 10.0.33.3"},
	{.name = "fd00::/8", .nexthop = "fd00:33::2"},
	{.name = "11.0.0.0/8", .nexthop = "blackhole"},
};
static struct sw_neighbor neighbors[] = {{.name = "10.0.33.2", .mac = {2, 1}},
					 {.name = "fd00:33::2", .mac = {2, 1}}};
static const uint8_t router_mac[6] = {2, 0xFF, 0, 0, 0, 1};

/* Without the tables. */
static inline void
set_router(struct sw_params *p)
{
	sw_params_default(p, PORTS);
	p->vlan_filtering = true;
	p->router.neighbor_entries = 16;
	memcpy(p->router.router_mac, router_mac, 6);
	for (uint16_t i = 0; i < PORTS; i++) {
		p->ports[i].mac[0] = 2;
		p->ports[i].link_speed_bps = 100 * GBPS;
		p->ports[i].access_vlan = i == 3 ? 0 : 10;
	}
	p->ports[2].access_vlan = 20;
	strcpy(p->ports[2].tagged_vlans, "10");
}

#endif
