/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/units.h"
#include "switch/sw.h"

const struct field sw_router_fields[] = {
	{
		.name = "router_mac",
		.help = "address of the router on all its interfaces; needed if there are any",
		.type = FIELD_MAC,
		.offset = offsetof(struct sw_router_params, router_mac),
		.def = "00:00:00:00:00:00",
		.live = true,
	},
	{
		.name = "ecmp_hash_seed",
		.help = "another seed spreads flows otherwise: give each stage of a fabric its own "
			"(SONiC: 0 ToR, 10 leaf, 25 spine)",
		.type = FIELD_U32,
		.offset = offsetof(struct sw_router_params, ecmp_hash_seed),
		.max = UINT32_MAX,
		.def = "0",
		.live = true,
	},
	{
		.name = "ecmp_hash_flow_label",
		.help = "IPv6: the flow label tells flows apart, instead of the ports (RFC 6438)",
		.type = FIELD_BOOL,
		.offset = offsetof(struct sw_router_params, ecmp_hash_flow_label),
		.max = 1,
		.def = "off",
		.live = true,
	},
	{
		.name = "neighbor_entries",
		.help = "neighbours that can be known, those of routes and [neighbor] among them; an interface has half of them at most",
		.type = FIELD_U32,
		.offset = offsetof(struct sw_router_params, neighbor_entries),
		.min = 16,
		.max = 65536,
		.def = "4096",
	},
	{
		.name = "neigh_retrans_time_ns",
		.help = "between two ARP requests or solicitations of one neighbour",
		.type = FIELD_U64,
		.unit = UNIT_NS,
		.offset = offsetof(struct sw_router_params, neigh_retrans_time_ns),
		.min = 1000000,
		.max = 3600 * NS_PER_SEC,
		.def = "1s",
		.live = true,
	},
	{
		.name = "neigh_reachable_time_ns",
		.help = "a neighbour that is sent to is asked again after this time; never: not",
		.type = FIELD_U64,
		.unit = UNIT_NS,
		.offset = offsetof(struct sw_router_params, neigh_reachable_time_ns),
		.min = 1000000,
		.max = UINT64_MAX,
		.def = "30s",
		.live = true,
	},
};

const unsigned int sw_router_fields_n = sizeof(sw_router_fields) / sizeof(sw_router_fields[0]);
