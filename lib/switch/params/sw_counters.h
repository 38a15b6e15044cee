/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch's counters and the tables that describe them: reports, telemetry and the reference are
 * loops over these tables.
 */
#ifndef QUENCH_SWITCH_PARAMS_SW_COUNTERS_H
#define QUENCH_SWITCH_PARAMS_SW_COUNTERS_H

#include <stdint.h>

#include "base/field/field.h"
#include "fwd/neigh.h"
#include "tm/classes/qos_map.h"
#include "wire/frame/frame.h"

/* Reasons to drop a frame. A frame that is neither sent nor consumed is dropped. */
enum sw_drop {
	SW_DROP_MALFORMED, /* Ethernet or IP: counted per frame_verdict too */
	SW_DROP_MAC_CONTROL_MALFORMED,
	SW_DROP_MAC_CONTROL_UNKNOWN, /* opcode neither PFC nor PAUSE, or in a tagged frame */
	SW_DROP_MAC_CONTROL_ADDRESS, /* MAC control to another station: 802.3 31B.3.3 */
	SW_DROP_RESERVED_ADDRESS,    /* 01:80:C2:00:00:0X is never forwarded */
	SW_DROP_BAD_SOURCE,          /* group bit in the source address */
	SW_DROP_SAME_PORT,      /* the destination is the ingress port, or there is no other port */
	SW_DROP_NOT_FOR_ROUTER, /* a routed port, and not the router's address */
	SW_DROP_VLAN_TAG_NOT_ALLOWED, /* no tag or a priority tag, and no access VLAN */
	SW_DROP_INGRESS_VLAN_FILTER,  /* of a VLAN that its port is not in */
	/* frames to the router */
	SW_DROP_LPM4_MISS, /* no route */
	SW_DROP_LPM6_MISS,
	SW_DROP_BLACKHOLE_ROUTE,
	SW_DROP_NON_ROUTABLE,        /* not IP, or a destination that routers do not forward to */
	SW_DROP_NON_ROUTABLE_SOURCE, /* a source that routers do not forward from */
	SW_DROP_TTL,                 /* 1 or 0 hops left */
	SW_DROP_UNRESOLVED_NEXT_HOP,
	SW_DROP_IP2ME, /* to the router's own address, but not answered by it */
	SW_DROP_NEIGH_MALFORMED,
	SW_DROP_STORM_BROADCAST,
	SW_DROP_STORM_MULTICAST,
	SW_DROP_STORM_UNKNOWN_UNICAST,
	SW_DROP_OVERSIZE, /* longer than max_frame_bytes, or in several segments */
	SW_DROP_MTU,      /* longer than its class allows */
	SW_DROP_PG_LIMIT,
	SW_DROP_NO_HEADROOM,
	SW_DROP_POOL,
	SW_DROP_PACKET_MEMORY, /* a lossy group at its limit of packets: tm/buffer/mmu.h */
	SW_DROP_QUEUE_LIMIT,   /* egress */
	SW_DROP_WRED,          /* egress */
	SW_DROP_NO_MBUF,       /* no clone for a copy (egress) */
	SW_DROP_RESTART,       /* the switch held the frame when it lost power */
	SW_DROP_LINK_DOWN,     /* the egress port has no link */
	SW_DROP_SHUTDOWN,      /* a port with shutdown = on (egress, ingress) */
	SW_DROP_PFC_WATCHDOG,  /* storm with the watchdog's action drop (egress, ingress) */
	SW_DROP_CONTROL_BUSY,  /* LLDP frames faster than they are processed */
	SW_DROPS
};

/** Counter name, e.g. "no_headroom". */
const char *sw_drop_name(enum sw_drop d);

struct sw_queue_stats {
	/* Those of each packet are first, so that they share a line. Frame bytes with FCS. */
	uint64_t tx_packets, tx_bytes;
	uint64_t ecn_marked_packets, ecn_marked_bytes; /* ECT that the switch turned into CE */
	uint64_t ce_in_packets;                        /* entered the queue as CE */
	uint64_t drop_packets, drop_bytes; /* egress drops: queue limit, pool, WRED, no mbuf */
	uint64_t wred_drop_packets, wred_drop_bytes; /* of these: WRED */
	uint64_t ecn_mark_no_mbuf_packets;           /* not marked: no mbuf for a private copy */
	uint64_t ecn_not_ect_packets;                /* not marked: Not-ECT */
};

struct sw_pg_stats {
	uint64_t rx_packets, rx_bytes; /* frame bytes with FCS, of frames that were forwarded */
	uint64_t drop_packets;         /* of these, refused by the ingress side of the buffer */
};

struct sw_port_stats {
	uint64_t rx_packets, rx_bytes; /* frame bytes with FCS; MAC control not included */
	uint64_t tx_packets, tx_bytes; /* same; our PFC frames not included */
	uint64_t drops[SW_DROPS];      /* of the ingress port; egress reasons: of the egress port */
	uint64_t malformed[FRAME_VERDICTS];                      /* SW_DROP_MALFORMED by verdict */
	uint64_t rx_pause_frames, tx_pause_frames;               /* PFC, whatever their vector */
	uint64_t rx_global_pause_frames, tx_global_pause_frames; /* 802.3x */
	uint64_t pause_no_mbuf; /* a PFC frame had to wait for an mbuf */
	uint64_t int_hops_added;
	uint64_t int_no_room;   /* all slots of the header are used */
	uint64_t int_malformed; /* passed on as it is */
	uint64_t int_no_mbuf;   /* no mbuf for a private copy: passed on as it is */
	struct sw_queue_stats queue[TM_CLASSES];
	struct sw_pg_stats pg[TM_CLASSES];
};

struct sw_router_stats {
	uint64_t routed_packets;
	uint64_t neigh_requests_sent, neigh_requests_answered, echo_requests_answered;
	/* of these: sent to another next hop, because their own has no link or does not answer */
	uint64_t ecmp_moved_packets;
	uint64_t icmp_errors_sent;
	uint64_t icmp_errors_limited;    /* not sent: icmp_errors_per_s */
	uint64_t icmp_errors_unresolved; /* not sent: the next hop is unknown */
	uint64_t neigh_no_mbuf;          /* requests and ICMP errors not sent: no mbuf */
	/* neighbour updates for which a ring to another shard had no room */
	uint64_t neigh_news_lost;
	struct neigh_stats neigh;
	struct neigh_claim_stats claims;
};

/* Of a next hop; octets are frame bytes with FCS. */
struct sw_hop_stats {
	uint64_t out_packets, out_octets;
};

/* SAI_ROUTER_INTERFACE_STAT_*; octets are frame bytes with FCS. */
struct sw_interface_stats {
	uint64_t in_packets, in_octets; /* to the router's address */
	uint64_t in_error_packets;      /* of these, dropped by the router */
	/* routed to the interface, and the router's own replies */
	union {
		struct {
			uint64_t out_packets, out_octets;
		};
		struct sw_hop_stats out;
	};
};

/*
 * Charged bytes of the whole switch since creation. Every frame is charged its size with FCS, in
 * whole cells: received frames to `in`, and MAC control frames also to `consumed`; the second and
 * further copies of a flooded frame to `copies`; our PFC frames to `generated` and `sent` when they
 * are handed over.
 */
struct sw_ledger {
	uint64_t in, copies, generated, queued, sent, dropped, consumed;
};

COUNTER_TABLE(sw_port_counter_fields);                              /* of struct sw_port_stats */
COUNTER_TABLE(sw_queue_counter_fields);                             /* of struct sw_queue_stats */
COUNTER_TABLE(sw_pg_counter_fields);                                /* of struct sw_pg_stats */
extern const struct counter_field sw_drop_counter_fields[SW_DROPS]; /* of struct sw_port_stats */
COUNTER_TABLE(sw_malformed_counter_fields);                         /* of struct sw_port_stats */
COUNTER_TABLE(sw_router_counter_fields);                            /* of struct sw_router_stats */
COUNTER_TABLE(sw_interface_counter_fields); /* of struct sw_interface_stats */
COUNTER_TABLE(sw_hop_counter_fields);       /* of struct sw_hop_stats */
COUNTER_TABLE(sw_fdb_counter_fields);       /* of struct fdb_stats */
COUNTER_TABLE(sw_ledger_counter_fields);    /* of struct sw_ledger; queued is none */

#endif
