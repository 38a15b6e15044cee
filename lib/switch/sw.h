/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch node: a shared-memory ToR with per-priority queues, WRED/ECN and PFC.
 *
 * rx: MAC control consumed -> parse -> classify -> learn, forward -> ingress and egress admission
 * -> WRED drop (non-ECT in a lossy queue) -> enqueue -> XOFF? tx: PFC frames, then strict and DWRR
 * among queues that hold packets and are not paused -> release
 * -> ECN mark -> XON?
 *
 * Choices, where the standards leave one:
 * - vlan_filtering off: VLAN-transparent; the forwarding table's key has the VLAN identifier, and
 *   nothing else is done with a tag. On: a frame is in the VLAN of its tag or its port's access
 *   VLAN, and leaves by ports in that VLAN, untagged where it is the access VLAN. PCP and DEI are
 *   kept from tag to tag; a tag that is put on a frame without one has PCP 0.
 * - A frame of EtherType MAC control ends here, whatever its addresses. A port runs PFC or 802.3x
 *   link pause, not both: frames of the other kind are counted and not obeyed. With link pause the
 *   peer is held as long as any lossless group wants it held.
 * - A link that goes down: what waits for the port is dropped under link_down and gives its buffer
 *   back, as is what is to leave by it until the link is up; frames already given away are the
 * wire's. Pause state of both directions starts anew. Frames that had come in by it are forwarded.
 * A frame that comes in by it proves a link: a program that asks devices now and then hears of it
 *   later, and the first frames are not to be lost for that.
 * - A frame to 01:80:C2:00:00:00..0F ends here (802.1Q 8.6.3), LLDP included.
 * - A flooded frame is charged once to its ingress, until its last copy has left or was dropped,
 * and once to each egress queue. Copies share the data; the one that is marked gets data of its
 * own. When the pool has none it leaves unmarked, under a counter: dropping a lossless frame for
 * want of a mark would be worse than a mark less.
 * - With pfc_generate off no group is lossless: the priorities of pfc_enable obey pauses, but their
 *   traffic is admitted by the lossy profiles and dropped under pg_limit, pool or queue_limit.
 *
 * Invariant (tested, readable from a running switch): in charged bytes,
 * in + copies + generated = queued + sent + dropped by reason + consumed.
 */
#ifndef QUENCH_SWITCH_SW_H
#define QUENCH_SWITCH_SW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "fwd/fdb.h"
#include "fwd/neigh.h"
#include "node/node.h"
#include "switch/dcbx.h"
#include "switch/sw_class.h"
#include "switch/sw_tables.h"
#include "switch/sw_vlan.h"
#include "tm/mmu.h"
#include "tm/pfc_rx.h"
#include "tm/pfc_tx.h"
#include "tm/pfcwd.h"
#include "tm/qos_map.h"
#include "tm/sched.h"
#include "tm/wred.h"
#include "wire/frame.h"

struct rte_mempool;
struct sw_forwarding;

#define SW_MAX_PORTS MMU_MAX_PORTS
#define SW_MAX_SHARDS SW_MAX_PORTS
/* What a frame, with FCS, may have beyond its class's MTU: header, one tag, FCS. */
#define SW_MTU_OVERHEAD_BYTES 22u

enum sw_mark_at { SW_MARK_AT_DEQUEUE, SW_MARK_AT_ENQUEUE };

/* What is limited of the frames that a port may flood others with. */
enum sw_storm { SW_STORM_BROADCAST, SW_STORM_MULTICAST, SW_STORM_UNKNOWN_UNICAST, SW_STORMS };

/* What a port obeys and sends; the two kinds exclude each other. */
enum sw_flow_control {
	SW_FLOW_OFF,
	SW_FLOW_PFC,   /* IEEE 802.1Qbb, the priorities of pfc_enable */
	SW_FLOW_PAUSE, /* 802.3 annex 31B: the whole link */
	SW_FLOW_AUTO,  /* PFC where DCBX finds that the peer agrees */
};

#define SW_DEVICE_CHARS 63

struct sw_port_params {
	char device[SW_DEVICE_CHARS + 1]; /* for the program: EAL's name of it, or "any" */
	uint8_t mac[6];                   /* source of our PFC frames */
	uint64_t link_speed_bps;          /* pause quanta and the default shaper */
	uint64_t shaper_rate_bps;         /* wire bytes; 0: link_speed_bps */
	/* for headroom only, which --thresholds prints */
	uint32_t cable_length_m;
	uint64_t peer_response_ns; /* 0: what 802.3 allows at this speed */
	uint16_t access_vlan;      /* of untagged frames, which leave untagged; 0: none */
	char tagged_vlans[VLAN_LIST_CHARS + 1]; /* "10,20-29" or "none" */
	uint64_t storm_bps[SW_STORMS];          /* wire bytes; 0: no limit */
	uint32_t max_learned_addresses;         /* 0: no limit */
	int flow_control;                       /* enum sw_flow_control */
	bool pfc_asymmetric;                 /* obey PFC on all priorities, generate it as ever */
	bool tx_disabled;                    /* debugging: hold all data */
	uint16_t pfc_delay_quanta;           /* debugging: obey a pause frame that much later */
	bool pfcwd;                          /* watched by the PFC watchdog, if that is on */
	uint16_t pfcwd_interface_multiplier; /* NX-OS; 0: shutdown_multiplier */
	int pfcwd_action;                    /* 1 + enum pfcwd_action; 0: action of [pfcwd] */
	uint64_t pfcwd_detection_time_ns;    /* SONiC; 0: detection_time_ns of [pfcwd] */
	uint64_t pfcwd_restoration_time_ns;  /* the same */
	uint16_t shard;                      /* 1..shards; 0: dealt out in turn */
};

extern const struct field sw_port_fields[];
extern const unsigned int sw_port_fields_n;

struct sw_router_params {
	uint8_t router_mac[6]; /* zero: no router */
	uint32_t ecmp_hash_seed;
	bool ecmp_hash_flow_label;
	uint32_t neighbor_entries;
	uint64_t neigh_retrans_time_ns;
	uint64_t neigh_reachable_time_ns; /* NEVER_NS: never asked again */
};

extern const struct field sw_router_fields[];
extern const unsigned int sw_router_fields_n;

struct sw_params {
	uint16_t n_ports;
	uint16_t shards; /* each with an lcore of its own, or in turn in one; 0: one */
	struct sw_port_params ports[SW_MAX_PORTS];
	struct qos_map_params qos;
	struct wred_params wred; /* for the queues in wred_queues */
	uint8_t wred_queues;     /* mask */
	struct mmu_params mmu;   /* n_ports, lossless_* are filled in by sw_params_resolve() */
	struct sched_params sched;
	struct pfc_params pfc;
	struct pfcwd_params pfcwd;
	struct lldp_params lldp;
	bool pfc_generate;        /* off: DCQCN without PFC */
	int mark_at;              /* enum sw_mark_at */
	uint32_t shaper_burst_ns; /* how far a late poll may catch up, at shaper speed; the lab uses
				     1 */
	uint32_t max_frame_bytes; /* longest frame that is forwarded, with FCS */
	bool mark_accuracy;       /* count marks by queue length */
	uint64_t watermark_interval_ns; /* watermarks of all kinds begin anew so often; NEVER_NS:
					   not */
	struct sw_wred_profile wred_profiles[SW_MAX_WRED_PROFILES];
	uint8_t n_wred_profiles;
	struct sw_tc_params tcs[TM_CLASSES];
	struct sw_pg_params pgs[SW_MAX_PORTS][TM_CLASSES];
	struct sw_queue_params queues[SW_MAX_PORTS][TM_CLASSES];
	uint32_t fdb_entries;
	uint32_t fdb_ageing_s;
	bool vlan_filtering;
	uint64_t seed;
	struct sw_router_params router;
	struct sw_tables tables; /* not owned */
	/* Of the hashes of tables that frames can write, for the switch's life: a secret, not of
	 * the configuration. */
	struct half_sip_key table_key;
};

/* Members of sw_params itself; ports and sub-structs have tables of their own. */
extern const struct field sw_fields[];
extern const unsigned int sw_fields_n;

/**
 * Defaults of all tables, ports 0..n_ports - 1 included, whose addresses and link speeds are
 * missing. No class has profiles or rates of its own, and sw_params_resolve() was not called.
 */
void sw_params_default(struct sw_params *params, uint16_t n_ports);

/**
 * Fill in what follows from other members: shaper rates left 0, profiles by their names, and
 * mmu.n_ports, lossless_pgs and lossless_queues from pfc_enable and the maps; the masks are empty
 * with pfc_generate off.
 */
void sw_params_resolve(struct sw_params *params);

/** Which shard, from 0 on, has which port. */
void sw_shards_deal(const struct sw_params *params, uint8_t shard_of_port[]);

/** What is wrong with that, one clause of sw_params_check(), or NULL. */
const char *sw_shards_fault(const struct sw_params *params);

/**
 * Rules of this struct and of those inside, for params after sw_params_resolve().
 *
 * @param why  On failure one clause that names the key and the rule.
 * @return     0 or -EINVAL.
 */
int sw_params_check(const struct sw_params *params, char *why, unsigned int why_size);

/* Every way in which a frame ends here other than being sent or consumed. */
enum sw_drop {
	SW_DROP_MALFORMED, /* Ethernet or IP: counted per frame_verdict too */
	SW_DROP_MAC_CONTROL_MALFORMED,
	SW_DROP_MAC_CONTROL_UNKNOWN, /* opcode neither PFC nor PAUSE, or in a tagged frame */
	SW_DROP_MAC_CONTROL_ADDRESS, /* MAC control to another station: 802.3 31B.3.3 */
	SW_DROP_RESERVED_ADDRESS,    /* 01:80:C2:00:00:0X is never forwarded */
	SW_DROP_BAD_SOURCE,          /* group bit in the source address */
	SW_DROP_SAME_PORT, /* the destination is where the frame came from, or no other port */
	SW_DROP_VLAN_TAG_NOT_ALLOWED, /* untagged, on a port without access VLAN */
	SW_DROP_INGRESS_VLAN_FILTER,  /* of a VLAN that its port is not in */
	/* frames to the router */
	SW_DROP_LPM4_MISS, /* no route */
	SW_DROP_LPM6_MISS,
	SW_DROP_BLACKHOLE_ROUTE,
	SW_DROP_NON_ROUTABLE,        /* no IP, or to an address that no router forwards to */
	SW_DROP_NON_ROUTABLE_SOURCE, /* from an address that no router forwards from */
	SW_DROP_TTL,                 /* 1 or 0 hops left */
	SW_DROP_UNRESOLVED_NEXT_HOP,
	SW_DROP_IP2ME, /* to the router's own address, and nothing that it answers */
	SW_DROP_NEIGH_MALFORMED,
	SW_DROP_STORM_BROADCAST,
	SW_DROP_STORM_MULTICAST,
	SW_DROP_STORM_UNKNOWN_UNICAST,
	SW_DROP_OVERSIZE, /* longer than max_frame_bytes, or in several segments */
	SW_DROP_MTU,      /* longer than its class allows */
	SW_DROP_PG_LIMIT,
	SW_DROP_NO_HEADROOM,
	SW_DROP_POOL,
	SW_DROP_PACKET_MEMORY, /* a lossy group at its limit of packets: tm/mmu.h */
	SW_DROP_QUEUE_LIMIT,  /* egress */
	SW_DROP_WRED,         /* egress */
	SW_DROP_NO_MBUF,      /* no clone for a copy (egress) */
	SW_DROP_RESTART,      /* it waited while the switch lost its power */
	SW_DROP_LINK_DOWN,    /* the port that it waits for or is to leave by has no link */
	SW_DROP_PFC_WATCHDOG, /* a storm, and the watchdog's action is drop (egress, ingress) */
	SW_DROP_CONTROL_BUSY, /* LLDP faster than it is looked at */
	SW_DROPS
};

/** Counter name, e.g. "no_headroom". */
const char *sw_drop_name(enum sw_drop d);

struct sw_queue_stats {
	uint64_t tx_packets, tx_bytes;     /* frame bytes with FCS */
	uint64_t ecn_marked_packets;       /* ECT that we turned into CE */
	uint64_t ecn_mark_no_mbuf_packets; /* should have been, but no private copy could be had */
	uint64_t drop_packets;             /* egress drops: queue limit, pool, WRED, no mbuf */
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
	struct sw_queue_stats queue[TM_CLASSES];
	struct sw_pg_stats pg[TM_CLASSES];
};

struct sw_router_stats {
	uint64_t routed_packets;
	uint64_t neigh_requests_sent, neigh_requests_answered, echo_requests_answered;
	uint64_t ecmp_moved_packets; /* of these: their own next hop has no link or does not answer
				      */
	uint64_t neigh_no_mbuf;      /* questions for which there was no mbuf */
	uint64_t neigh_not_told;     /* what a neighbour said and another shard had no room for */
	struct neigh_stats neigh;
	struct neigh_claim_stats claims;
};

/* SAI_ROUTER_INTERFACE_STAT_*; octets are frame bytes with FCS. */
struct sw_interface_stats {
	uint64_t in_packets, in_octets;   /* to the router's address */
	uint64_t in_error_packets;        /* of these, dropped by the router */
	uint64_t out_packets, out_octets; /* routed to there, and answers of the router's */
};

/*
 * Charged bytes of the whole switch since creation. A frame of any kind is charged its size with
 * FCS, in whole cells: received frames to in, MAC control among them to consumed as well; a flooded
 * frame's second and further copies to copies; our PFC frames to generated and sent when they are
 * given away.
 */
struct sw_ledger {
	uint64_t in, copies, generated, queued, sent, dropped, consumed;
};

struct sw_pools {
	struct rte_mempool *frames; /* what is received; of the others, those that are NULL */
	struct rte_mempool *pause;  /* PFC frames alone, so that nothing else holds XOFF back */
	struct rte_mempool *own;    /* the switch's other frames: LLDP, questions; LLDP_MAX_BYTES */
	/* Copies that are written into, of frames that others hold; if NULL, own. */
	struct rte_mempool *copies;
	struct rte_mempool *clones; /* no data room */
	/* The same, of frames of lossless groups, so that no lossy flood takes them; if NULL,
	 * clones. */
	struct rte_mempool *lossless_clones;
	uint32_t mbufs; /* that can be in the switch at once, if not just those of frames */
};

/**
 * Build a switch.
 *
 * @param params  After sw_params_resolve() and sw_params_check(); copied.
 * @param pools   Not owned; they outlive the node.
 * @return        The node, owned by the caller, or NULL with errno set.
 */
struct node *sw_create(const struct sw_params *params, const struct sw_pools *pools);
/** Free the switch and every packet that it holds. */
void sw_destroy(struct node *node);

/**
 * Enter an address as if a frame from it had come in on port: a fabric whose hosts have already
 * spoken.
 *
 * @return 0, -EINVAL (no such port, group address) or -ENOSPC (table full).
 */
int sw_learn(struct node *node, uint16_t vid, const uint8_t mac[6], uint16_t port, uint64_t now_ns);

/*
 * A switch of several shards. What sw_create() returned is all of it: control() and all that reads
 * or asks take that one. One thread may drive it as a node, and then shards are brought what has
 * crossed before rx() or tx() returns; or each shard's node has a thread of its own, which polls
 * the shard's ports and no other: tx() of each of them takes what has crossed.
 */

/** How many; 1: the switch is its own and only one. */
uint16_t sw_shards(const struct node *node);
/** Node of a shard, not owned by the caller; 0 <= i < sw_shards(). */
struct node *sw_shard(struct node *node, uint16_t i);
/** Mask of its ports. */
uint64_t sw_shard_ports(const struct node *node, uint16_t i);

/* From any thread; the owner puts it in force before its next frame. One caller for each. */

/**
 * The port's link is down or up, whenever it was looked at. Ports are created up. Called where
 * control() is.
 */
void sw_set_link(struct node *node, uint16_t port, bool up, uint64_t now_ns);
/** Hold all data of the port; MAC control frames still leave, so that its peer can be held. */
void sw_set_tx_disabled(struct node *node, uint16_t port, bool disabled);
/** Let pause frames that come from now on wait so many quanta until they are obeyed. */
void sw_set_pfc_delay(struct node *node, uint16_t port, uint16_t quanta);

/**
 * Other interfaces, routes and neighbours from now on. No router comes into being. One thread
 * drives all shards.
 * @return 0, or -errno: nothing has changed.
 */
int sw_set_routes(struct node *node, const struct sw_tables *tables);

/**
 * Lose all that a loss of power takes, at once: frames (dropped under restart, and their buffer is
 * given back), learned addresses and neighbours, pauses of both directions, storms of the watchdog.
 * Counters, configuration and what was asked for at run time stay. One thread drives all shards.
 * The links are the caller's to take down and up.
 */
void sw_restart(struct node *node, uint64_t now_ns);

/*
 * Other params while frames pass. All members whose fields are live may differ from what is in
 * force; the others must not. No frame is dropped for it: what waits stays where it is, under the
 * new limits; lossless groups above a limit that shrank pause their senders; frames of a class that
 * goes to another queue from now on may pass those that wait in the old one.
 */

/** A rule between what is in force and what is to be, that no flag of a field can say; or NULL. */
const char *sw_reload_fault(const struct sw_params *now, const struct sw_params *next);

/** Fill in what was changed by sw_set_..() and by the watchdog: what a reload would change. */
void sw_running_params(const struct node *node, struct sw_params *params);

/**
 * Build what is in place of addresses, VLANs and routes then, if it differs; from any thread, one
 * at a time, and after the last reload is in force everywhere.
 *
 * @param params  After sw_params_resolve(), sw_params_check() and sw_reload_fault().
 * @param next    For sw_reload() or sw_reload_forget().
 * @param why     On failure as that of sw_tables_check().
 * @return        0 or -EINVAL.
 */
int sw_reload_prepare(struct node *node, const struct sw_params *params,
		      struct sw_forwarding **next, char *why, unsigned int why_size);
/** It is not to be. NULL is allowed. */
void sw_reload_forget(struct sw_forwarding *next);

/**
 * Called where control() is. The owners put it in force in their next rx() or tx(), each between
 * two bursts and its part at once; what they knew by sw_set_..() is replaced.
 *
 * @param params  Those that were prepared; must outlive sw_reload_is_done().
 * @param next    Of sw_reload_prepare(); taken.
 */
void sw_reload(struct node *node, const struct sw_params *params, struct sw_forwarding *next,
	       uint64_t now_ns);
/**
 * By who prepared it, when the owners have put it in force: take over what was learned meanwhile,
 * and free what was before, which may take milliseconds; else the next sw_reload_prepare() does.
 * @return sw_reload_is_done().
 */
bool sw_reload_settle(struct node *node);
/** Have all owners put it in force? From any thread. */
bool sw_reload_is_done(const struct node *node);

/** Watched queues drop, and are not looked at; takes effect with the next control(). */
void sw_set_big_red_switch(struct node *node, bool on);

/* What was asked for last, by these or by the configuration; from any thread. */
bool sw_tx_disabled(const struct node *node, uint16_t port);
uint16_t sw_pfc_delay(const struct node *node, uint16_t port);
/** Also true when it tripped by itself. */
bool sw_big_red_switch(const struct node *node);

/** What the watchdog goes by on a port: [pfcwd], and over it what the port has of its own. */
struct pfcwd_params sw_port_pfcwd(const struct sw_params *params, uint16_t port);

/** Does the watchdog look at this priority of this port? */
bool sw_pfcwd_watches(const struct node *node, uint16_t port, uint8_t prio);

/* Readers: from the owner, or counters from any thread. */
const struct sw_port_stats *sw_port_stats(const struct node *node, uint16_t port);
const struct pfc_rx *sw_pfc_rx(const struct node *node, uint16_t port);
const struct pfc_tx *sw_pfc_tx(const struct node *node, uint16_t port);
const struct dcbx_port *sw_dcbx(const struct node *node, uint16_t port);
const struct pfcwd *sw_pfcwd(const struct node *node, uint16_t port, uint8_t prio);
const struct mmu *sw_mmu(const struct node *node);
/** Marks of a queue by its length; NULL without mark_accuracy, or for a queue that does not mark.
 */
const struct mark_accuracy *sw_mark_accuracy(const struct node *node, uint16_t port, uint8_t queue);
/** Marking curve of a queue; of no meaning for one without WRED. */
const struct wred_curve *sw_mark_curve(const struct node *node, uint16_t port, uint8_t queue);
/**
 * Begin the watermarks of these kinds (a mask of 1 << enum mmu_watermark) anew. May be called from
 * any thread: the owner does it in its next rx() or tx().
 */
void sw_clear_watermarks(struct node *node, uint32_t kinds);
uint64_t sw_queue_bytes(const struct node *node, uint16_t port, uint8_t queue);
uint32_t sw_fdb_entries(const struct node *node);
/** Addresses that are learned on port now. */
uint32_t sw_fdb_port_entries(const struct node *node, uint16_t port);
struct fdb_stats sw_fdb_stats(const struct node *node);
/** All zero without a router. */
struct sw_router_stats sw_router_stats(const struct node *node);
/** Mask of a route's next hops, in their order, that frames found dead (no link, or no answer) and
 * went by another. From any thread. */
uint16_t sw_route_dead_hops(const struct node *node, uint32_t route);
/** Of the interface in a domain (sw_interface_domain()), also one that is there no more. */
struct sw_interface_stats sw_interface_stats(const struct node *node, uint16_t domain);
struct sw_ledger sw_ledger(const struct node *node);

#endif
