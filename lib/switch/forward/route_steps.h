/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of routing one frame, for frames of a burst (route_burst.c) and for single frames
 * (known.h).
 */
#ifndef QUENCH_SWITCH_FORWARD_ROUTE_STEPS_H
#define QUENCH_SWITCH_FORWARD_ROUTE_STEPS_H

#include <string.h>
#include <rte_mbuf.h>

#include "base/threads/counter.h"
#include "fwd/ecmp.h"
#include "switch/forward/router.h"
#include "wire/bytes/be.h"
#include "wire/frame/ttl.h"

#define IP_PROTO_TCP 6u
#define SW_FLOW_LABEL_MASK 0x000FFFFFu

/** False for addresses that no router may forward to (RFC 1122 3.2.1.3), and for groups, which this
 * router does not route. */
static inline bool
sw_is_routable4(const uint8_t ip[4])
{
	return ip[0] != 0 && ip[0] != 127 && ip[0] < 224;
}

/** The same of an IPv6 address: RFC 4291 2.5. */
static inline bool
sw_is_routable6(const uint8_t ip[16])
{
	static const uint8_t zero[15];

	return ip[0] != 0xFF && !(ip[0] == 0xFE && (ip[1] & 0xC0) == 0x80) &&
	       !(memcmp(ip, zero, 15) == 0 && ip[15] <= 1);
}

/** RFC 3927 2.7: 169.254.0.0/16. A router may have such an address, and answers at it. */
static inline bool
sw_is_link_local4(const uint8_t ip[4])
{
	return ip[0] == 169 && ip[1] == 254;
}

/** RFC 1812 5.3.7 and RFC 3927 2.7, 7: is a frame to or from this address forwarded? */
static inline bool
sw_is_forwarded4(const uint8_t ip[4])
{
	return sw_is_routable4(ip) && !sw_is_link_local4(ip);
}

/* Both ports in network byte order, or 0 if the packet has none. */
static inline uint32_t
sw_route_ports(const struct frame_view *v, const uint8_t *frame)
{
	uint32_t ports;

	if (v->fragment || (v->ip_proto != IP_PROTO_UDP && v->ip_proto != IP_PROTO_TCP) ||
	    v->l4_off + sizeof(ports) > v->ip_end)
		return 0;
	memcpy(&ports, frame + v->l4_off, sizeof(ports));
	return ports;
}

/** The hash of a frame's flow, which chooses among next hops. */
static inline uint32_t
sw_route_hash(const struct sw_router *r, const struct frame_view *v, const uint8_t *frame)
{
	const uint8_t *ip = frame + v->l3_off;
	struct ecmp_flow flow = {.addrs = ip + (v->ip_version == 4 ? 12 : 8),
				 .ip_version = v->ip_version,
				 .proto = v->ip_proto};

	flow.ports = r->flow_label && flow.ip_version == 6 ? be32_load(ip) & SW_FLOW_LABEL_MASK
							   : sw_route_ports(v, frame);
	return ecmp_hash(&flow, r->seed);
}

/**
 * The next hop that a flow takes while the one that its hash selects (ecmp_pick()) is dead: one of
 * the others, by a second hash, so that the flows of the dead one are spread over all of them.
 *
 * @param live  The next hops that are alive, without that one; not empty.
 */
static inline uint32_t
sw_route_stand_in(uint32_t hash, const struct sw_hop_set *live)
{
	return sw_hop_set_nth(live, ecmp_pick(ecmp_rehash(hash), sw_hop_set_count(live)));
}

/** Write the addresses and the TTL of a frame that this router sends to its next hop. */
static inline void
sw_route_rewrite(const struct sw_router *r, const struct frame_view *v, uint8_t *frame,
		 const struct neigh *hop)
{
	memcpy(frame, hop->mac, 6);
	memcpy(frame + 6, r->mac, 6);
	ip_decrement_ttl(frame + v->l3_off, v->ip_version);
}

/** Count a frame to the router at the interface where it came in. @return its other counters. */
static inline struct sw_interface_stats *
sw_route_count_in(struct sw_router *r, uint16_t domain, uint32_t frame_bytes)
{
	struct sw_interface_stats *in = r->stats_of[domain];

	assert(r->interface_of[domain] != 0);
	counter_inc(&in->in_packets);
	counter_add(&in->in_octets, frame_bytes);
	return in;
}

/** Count a frame from the router at the interface where it leaves. */
static inline void
sw_route_count_out(struct sw_router *r, uint16_t domain, uint32_t frame_bytes)
{
	struct sw_interface_stats *out = r->stats_of[domain];

	assert(r->interface_of[domain] != 0);
	counter_inc(&out->out_packets);
	counter_add(&out->out_octets, frame_bytes);
}

/** Count a frame that is routed to a neighbour: at its interface, or at the next hop if a route has
 * the neighbour as one. */
static inline void
sw_route_count_hop(struct sw_router *r, uint32_t hop, uint16_t domain, uint32_t frame_bytes)
{
	struct sw_hop_counts *counts = r->counts_of[hop];
	struct sw_hop_stats *to;

	assert(r->interface_of[domain] != 0);
	to = counts != NULL ? &counts->stats : &r->stats_of[domain]->out;
	counter_inc(&to->out_packets);
	counter_add(&to->out_octets, frame_bytes);
}

#endif
