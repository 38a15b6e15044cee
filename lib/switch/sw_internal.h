/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the switch node share. Nothing outside lib/switch includes it. */
#ifndef QUENCH_SWITCH_SW_INTERNAL_H
#define QUENCH_SWITCH_SW_INTERNAL_H

#include <assert.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "base/counter.h"
#include "base/prng.h"
#include "pacer/token_bucket.h"
#include "switch/sw.h"
#include "switch/sw_event.h"
#include "switch/sw_forwarding.h"
#include "switch/sw_queue.h"

/* Verdict on a frame that goes on, and on one that ended here as it should. */
#define SW_PASS SW_DROPS
#define SW_CONSUMED (SW_DROPS + 1)

/* Frames that go through the stages of the way in together. */
#define SW_BURST 32

/* Bits of sw.wanted: what the owner of the data path has to do before its next frame. */
#define SW_WANT_SWEEP 0x1u
#define SW_WANT_PORTS 0x2u
#define SW_WANT_CLEAR 0x4u
#define SW_WANT_LLDP 0x8u
#define SW_WANT_SNAPSHOT 0x10u
#define SW_WANT_RELOAD 0x20u

/* Verdict on a frame that the router has to look at. */
#define SW_TO_ROUTER (SW_DROPS + 2)

/* Of sw_retag(), beside a TCI. */
#define SW_UNTAGGED (-1)

struct sw_router;
struct sw_snapshot;

/* What a queue may send beside the port's shaper: at least, at most. */
struct sw_queue_shaper {
	struct token_bucket min, max;
};

/* What a frame's class is known by: DSCP, or PCP, or neither. */
#define SW_CODE_POINT_NONE TM_DSCPS
#define SW_CODE_POINTS (TM_DSCPS + 1 + TM_CLASSES)

struct sw_class {
	struct qos_class class;
	uint32_t max_frame_bytes; /* without a tag; UINT32_MAX: no limit of its own */
};

/* What others ask of a port; each member has one writer, and the owner puts it in force. */
struct sw_port_wish {
	uint8_t link_down;
	uint8_t link_down_looks; /* times that it was said again, after a frame had come */
	uint8_t tx_disabled;
	uint8_t pfc_prios;                 /* mask: priorities with PFC */
	uint8_t storm_drop, storm_forward; /* masks: priorities in a storm */
	uint16_t pfc_delay_quanta;
};

/* Of a priority while the watchdog drops or forwards it. */
struct sw_storm_counts {
	uint64_t tx_dropped;             /* of its queue */
	uint64_t rx_packets, rx_dropped; /* of its group */
};

struct sw_port {
	/* per packet */
	uint8_t backlogged;         /* mask of queues that hold packets */
	uint8_t paused_queues;      /* mask, of pfc_rx when it was last asked; all while disabled */
	uint8_t xoff_pgs;           /* mask: groups whose senders the buffer wants held */
	uint8_t closed_queues;      /* mask: sw_port_refuses() what comes to these */
	uint8_t min_queues;         /* mask: have a min_rate_bps */
	uint8_t max_queues;         /* mask: have a max_rate_bps */
	uint8_t below_min;          /* mask, in min_queues, as of the last tx() */
	uint8_t above_max;          /* mask, in max_queues, as of the last tx() */
	uint8_t wred_queues;        /* mask: have a curve */
	uint8_t ecn_queues;         /* mask, in wred_queues: it marks */
	uint8_t nonect_drop_queues; /* mask, in wred_queues: it drops what may not be marked */
	uint8_t storm_pgs;          /* mask: sw_pfcwd_ingress() decides on what comes in */
	bool shaped;                /* the shaper is slower than the wire */
	struct token_bucket shaper; /* of data; control frames are charged, but do not wait */
	struct token_bucket wire;   /* what control frames wait for; only while shaped */
	struct pfc_tx pfc_tx;
	uint64_t pfc_retry_ns; /* no mbuf for a PFC frame: not before */
	struct sched sched;
	struct sw_queue queue[TM_CLASSES];
	struct sw_port_stats stats;
	/* per flooded frame; of no use at rate 0 */
	struct token_bucket storm[SW_STORMS];
	struct sw_queue_shaper queue_shaper[TM_CLASSES];
	/* per MAC control frame */
	struct pfc_rx pfc_rx;
	int flow_control; /* enum sw_flow_control */
	uint8_t tell_pgs; /* mask: groups that may hold their senders */
	uint8_t obeyed;   /* mask: priorities that may be paused, before pfc_prios */
	uint8_t mac[6];
	struct sw_storm_counts storm_counts[TM_CLASSES];
	/* in force, and wanted */
	struct sw_port_wish now;
	struct sw_port_wish wish;
	bool heard; /* a frame came while the wish said that the link is down */
} __rte_cache_aligned;

/* The watchdog of all queues; the control side's, but for the switch that others turn. */
struct sw_watchdog {
	struct pfcwd_params params;
	struct qos_map_params qos;
	uint64_t ports; /* mask: watched */
	uint64_t next_ns;
	uint32_t n_storms;
	bool big_red, big_red_wish;
	struct pfcwd_params of_port[SW_MAX_PORTS];
	struct pfcwd queue[SW_MAX_PORTS][TM_CLASSES];
};

struct sw_event_log {
	uint32_t written, read;
	uint64_t lost;
	struct sw_event event[SW_EVENTS];
};

/*
 * Received frames of a port that wait for the control side, and one that it wants sent. A port has
 * places of its own: whoever sends faster than control() looks loses his own frames, not his
 * neighbours' on other ports.
 */
#define SW_LLDP_MAILS 4u

struct sw_lldp_mail {
	uint16_t len;
	uint8_t frame[1518];
};

struct sw_lldp_box {
	uint32_t written; /* by the port's owner */
	uint32_t read;    /* by control */
	struct sw_lldp_mail mail[SW_LLDP_MAILS];
};

struct sw_lldp_out {
	uint32_t ready; /* set by control, cleared by the owner of the data path */
	uint16_t len;
	uint8_t frame[LLDP_MAX_BYTES];
};

struct sw_lldp {
	/* each shard's, of the configuration */
	uint8_t queue;
	bool on;
	/* the front's: each is for its port's owner and control */
	struct sw_lldp_box *boxes; /* by port */
	struct sw_lldp_out out[SW_MAX_PORTS];
	/* the control side's */
	struct lldp_params params;
	uint64_t auto_ports; /* mask */
	struct dcbx_port port[SW_MAX_PORTS];
	enum dcbx_pfc_state told[SW_MAX_PORTS];
	uint8_t told_prios[SW_MAX_PORTS];
};

struct sw {
	struct node node;
	/* per packet */
	struct sw_port *ports; /* of the whole switch; each has one owner */
	uint64_t own_ports;    /* mask */
	struct mmu *mmu;
	struct fdb *fdb;
	const struct sw_vlans *vlans;
	struct sw_ledger ledger; /* queued is not kept: it is the sum of the queues */
	struct prng prng;
	uint32_t wanted; /* SW_WANT_*, set by other threads */
	uint32_t max_frame_bytes;
	uint32_t copy_room_bytes; /* longest frame that an mbuf of pools.copies holds */
	uint16_t n_ports;
	uint64_t down_ports; /* mask */
	uint8_t lossless_pgs;
	bool mark_at_enqueue;
	struct sw_router *router;  /* NULL: none */
	uint32_t clear_watermarks; /* mask of kinds, set from any thread */
	struct qos_map_params qos;
	bool trust_dscp;
	uint8_t tcs[SW_CODE_POINTS]; /* traffic classes by code point */
	struct sw_class classes[TM_CLASSES];
	struct sw_pools pools;
	/* of a burst that leaves, zero in between: by group, and which groups */
	uint64_t release_charge[SW_MAX_PORTS * TM_CLASSES]; /* sums of sw_charge() */
	uint16_t release_groups[SW_MAX_PORTS * TM_CLASSES];
	/* per pause */
	uint8_t prios_of_queue[TM_CLASSES]; /* mask of priorities that stop a queue */
	/* control() */
	uint64_t sweep_ns; /* when the next step of ageing is asked for */
	uint64_t watermark_interval_ns, watermark_ns; /* when they are to begin anew */
	struct sw_watchdog watchdog;
	struct sw_event_log events;
	struct sw_lldp lldp;
	struct sw_snapshot *snapshot;      /* that somebody waits for, or NULL */
	const struct sw_params *reload;    /* to be put in force, or NULL */
	const struct sw_forwarding *adopt; /* with that, or NULL */
	/* of a shard; sw_shard.h */
	struct sw *front;         /* the switch that this is a part of: itself, when alone */
	struct sw_shards *shards; /* NULL: alone */
	uint16_t index;
	uint32_t n_xoff;      /* groups whose senders the buffer wants held */
	uint32_t calls;       /* of tx(), since debts were settled */
	uint64_t owing;       /* mask: ports of others that are owed something */
	uint64_t crossing_to; /* mask: shards that something crosses to at the end of the burst */
	uint64_t crossed_out_bytes, crossed_in_bytes; /* charged */
	struct sw_forwardings forwarding;
};

/*
 * Ingress charge of frames, bytes and packets in one word, so that they are added and given back
 * together. What a group holds is below 2^24 packets and 2^40 bytes (mmu_params_check()): the
 * difference of two sums is right although the sums wrap.
 */
#define SW_CHARGE_PACKET_BITS 24
static_assert(1u << SW_CHARGE_PACKET_BITS >= MMU_MAX_PACKETS, "packets of a charge");

/** Of one frame. */
static inline uint64_t
sw_charge(uint32_t charged_bytes)
{
	return (uint64_t)charged_bytes << SW_CHARGE_PACKET_BITS | 1;
}

static inline uint64_t
sw_charge_bytes(uint64_t charge)
{
	return charge >> SW_CHARGE_PACKET_BITS;
}

static inline uint32_t
sw_charge_packets(uint64_t charge)
{
	return charge & ((1u << SW_CHARGE_PACKET_BITS) - 1);
}

static inline struct sw *
sw_of(struct node *node)
{
	return (struct sw *)node;
}

static inline const struct sw *
sw_of_const(const struct node *node)
{
	return (const struct sw *)node;
}

static inline bool
sw_owns(const struct sw *sw, uint16_t port)
{
	return sw->own_ports >> port & 1;
}

/** Ports without a link, as all shards know them. */
static inline uint64_t
sw_down_ports(const struct sw *sw)
{
	return __atomic_load_n(&sw->down_ports, __ATOMIC_RELAXED);
}

/* sw_port.c */

/** Put what others ask of a port in force. */
void sw_port_apply(struct sw *sw, uint16_t port, uint64_t now_ns);

/* sw_settings.c: what a reload may change, put in force; also at the start, over zeros */

/** Shapers, scheduler, marking curves, storm control of a port. */
void sw_set_port(struct sw *sw, uint16_t port, const struct sw_params *params, uint64_t now_ns);
/** Maps, and what follows from them. */
void sw_set_classes(struct sw *sw, const struct sw_params *params);
/** Put sw->reload in force, between two frames. */
void sw_do_reload(struct sw *sw, uint64_t now_ns);

/* sw.c */

/** Control work of the whole switch; of the front. */
uint64_t sw_control(struct node *node, uint64_t now_ns);

/** Ask the owner for something; from any thread. */
static inline void
sw_want(struct sw *sw, uint32_t what)
{
	__atomic_fetch_or(&sw->wanted, what, __ATOMIC_RELEASE);
}

/** Have a port's owner called in virtual time; from any thread. */
static inline void
sw_wake(struct sw *sw, uint16_t port)
{
	__atomic_fetch_or(&sw->node.wake[port / 64], 1ull << (port % 64), __ATOMIC_RELAXED);
}

/** Begin anew the watermarks of the kinds that were asked for. */
void sw_do_clear_watermarks(struct sw *sw);

/** A frame came by a port that is held to be down: it is up, until that is said again. */
void sw_hear(struct sw *sw, uint16_t port, uint64_t now_ns);
void sw_do_wanted(struct sw *sw, uint64_t now_ns);

/** Do what other threads asked for, if they did. */
static inline void
sw_do_if_wanted(struct sw *sw, uint64_t now_ns)
{
	if (unlikely(__atomic_load_n(&sw->wanted, __ATOMIC_RELAXED) != 0))
		sw_do_wanted(sw, now_ns);
}

/** A wish of this port changed; from any thread. */
void sw_wish_made(struct sw *sw, uint16_t port);

/* sw_snapshot.c */

/** Read what another thread waits for. */
void sw_do_snapshot(struct sw *sw, uint64_t now_ns);

/* sw_event.c */
void sw_event_record(struct sw *sw, const struct sw_event *e);

/* sw_dcbx.c */
/** Of the front. @return 0 or -ENOMEM; sw_dcbx_free() after both. */
int sw_dcbx_init(struct sw *sw, const struct sw_params *params);
void sw_dcbx_free(struct sw *sw);
void sw_dcbx_set_params(struct sw *sw, const struct sw_params *params, uint64_t now_ns);

/** @return when it wants to be called again. */
uint64_t sw_dcbx_control(struct sw *sw, uint64_t now_ns);
void sw_dcbx_link_down(struct sw *sw, uint16_t port, uint64_t now_ns);

/** Put the frames that the control side wants sent into their queues. */
void sw_dcbx_send(struct sw *sw);

/* sw_pfcwd.c */
void sw_pfcwd_init(struct sw *sw, const struct sw_params *params);
void sw_pfcwd_set_params(struct sw *sw, const struct sw_params *params, uint64_t now_ns);

/** @return when it wants to be called again. */
uint64_t sw_pfcwd_control(struct sw *sw, uint64_t now_ns);

/** No queue is in a storm any more; counts stay. */
void sw_pfcwd_restart(struct sw *sw);

/** Drop what waits in a queue whose storm has begun. */
void sw_pfcwd_flush(struct sw *sw, uint16_t port, uint8_t queue, uint64_t now_ns);

/** A frame came in to a group of storm_pgs. @return SW_PASS or why it is dropped. */
enum sw_drop sw_pfcwd_ingress(struct sw *sw, uint16_t port, uint8_t pg);

/** Why a frame to a queue of closed_queues is refused, and count it where that is counted. */
enum sw_drop sw_port_refuses(struct sw *sw, uint16_t port, uint8_t queue);

/* sw_pfc.c */

/** What a port obeys and sends; sw_port_apply() puts it in force. */
void sw_pfc_set_port(struct sw *sw, uint16_t port, const struct sw_params *params);
/** Put a port's flow control together: what it obeys, and whom it may hold. */
void sw_pfc_init_port(struct sw *sw, uint16_t port, const struct sw_params *params);

/** A MAC control frame came. @return SW_CONSUMED or why it is dropped. */
enum sw_drop sw_pfc_rx_frame(struct sw *sw, uint16_t port, const struct rte_mbuf *m,
			     uint64_t now_ns);

/**
 * The MAC control frame that is due, or NULL. The caller knows that the wire is free: neither pause
 * nor a configured shaper holds it (802.3 31B.3: it waits for the frame on the wire alone).
 */
struct rte_mbuf *sw_pfc_take(struct sw *sw, struct sw_port *p, uint64_t now_ns);

/** The buffer's answer for a group changed. */
void sw_pfc_set_xoff(struct sw *sw, uint16_t port, uint8_t pg, bool xoff, uint64_t now_ns);

/** Put p->now in force: priorities with PFC, response delay. */
void sw_pfc_apply(struct sw *sw, struct sw_port *p, uint64_t now_ns);

/** The link went down: both directions start anew. */
void sw_pfc_reset(struct sw *sw, uint16_t port, uint64_t now_ns);

/** Find paused_queues again: a frame came, time has passed, or the port was disabled. */
void sw_pfc_update_paused(struct sw *sw, struct sw_port *p, uint64_t now_ns);

/** When the first of the port's queues may go on, or a frame counts that waits for its delay. */
uint64_t sw_pfc_resume_ns(const struct sw *sw, const struct sw_port *p);

/** A lossless group's use or limit changed: say XOFF or XON if that changes the answer. */
static inline void
sw_update_xoff(struct sw *sw, uint16_t port, uint8_t pg, uint64_t now_ns)
{
	bool xoff, wanted;

	if (!(sw->lossless_pgs >> pg & 1))
		return;
	xoff = sw->ports[port].xoff_pgs >> pg & 1;
	wanted = mmu_pg_wants_xoff(sw->mmu, port, pg, xoff);
	if (unlikely(wanted != xoff))
		sw_pfc_set_xoff(sw, port, pg, wanted, now_ns);
}

static inline void
sw_ingress_release(struct sw *sw, uint16_t port, uint8_t pg, uint64_t charge, uint64_t now_ns)
{
	uint64_t bytes = sw_charge_bytes(charge);

	/* One release has 32 bits; what another shard has given back may have more. */
	for (; unlikely(bytes > UINT32_MAX); bytes -= UINT32_MAX)
		mmu_ingress_release(sw->mmu, port, pg, UINT32_MAX);
	mmu_ingress_release(sw->mmu, port, pg, (uint32_t)bytes);
	mmu_packet_release(sw->mmu, port, pg, sw_charge_packets(charge));
	sw_update_xoff(sw, port, pg, now_ns);
}

/* sw_private.c */

/**
 * The frame with data that nobody else reads, so that it may be written.
 *
 * @param m  Owned by the caller, who owns what is returned instead: m, or its copy.
 * @return   NULL when no copy could be had: m is as it was, and still the caller's.
 */
struct rte_mbuf *sw_make_private(struct sw *sw, struct rte_mbuf *m);

/**
 * Put a tag on a frame, change it, or take it off (tci SW_UNTAGGED). Ownership as
 * sw_make_private().
 */
struct rte_mbuf *sw_retag(struct sw *sw, struct rte_mbuf *m, bool tagged, int32_t tci);

/* sw_router.c */

void sw_router_destroy(struct sw_router *r);
/** Of no router, nothing. */
void sw_router_add_stats(const struct sw_router *r, struct sw_router_stats *sum);
void sw_router_add_interface_stats(const struct sw_router *r, uint16_t domain,
				   struct sw_interface_stats *sum);

/* sw_rx.c */
void sw_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns);

/* sw_tx.c */
uint16_t sw_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room,
	       uint64_t now_ns);
uint64_t sw_next_ns(const struct node *node, uint16_t port);

/**
 * The marking point of a packet of a queue: let WRED decide and set CE.
 *
 * @param queue_bytes  Charged, of the packets that wait without this one.
 * @param m            Owned by the caller, who owns what is returned instead: m, or its private
 *                     copy.
 */
struct rte_mbuf *sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
			 struct rte_mbuf *m);

/** A packet leaves its queue: give back its ingress charge, that of a flooded frame with the last
 * copy. */
void sw_leave_ingress(struct sw *sw, struct rte_mbuf *m, uint64_t now_ns);

/** Drop all that waits in a queue, counted under reason. @return packets. */
uint64_t sw_flush_queue(struct sw *sw, uint16_t port, uint8_t queue, enum sw_drop reason,
			uint64_t now_ns);

#endif
