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

#include "node/node.h"
#include "switch/dcbx.h"
#include "switch/params/counters.h"
#include "switch/params/params.h"

struct rte_mempool;
struct sw_forwarding;

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
