/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch node: a shared-memory ToR with per-priority queues, WRED/ECN and PFC.
 *
 * rx: parse, MAC control consumed -> VLAN -> learn, forward, route -> classify -> ingress and
 * egress admission -> WRED drop (non-ECT in a lossy queue) -> enqueue -> XOFF?
 * tx: PFC, then queues below their minimum rate, then strict and DWRR, among queues that hold
 * packets and are neither paused nor above their maximum rate -> ECN mark -> release -> XON?
 *
 * Choices, where the standards leave them open:
 * - vlan_filtering off: the switch is VLAN-transparent; the key of the forwarding table includes
 *   the VLAN identifier, and tags are not changed. On: a frame is in the VLAN of its tag or in its
 *   port's access VLAN. It leaves by ports in that VLAN, untagged if it is the port's access VLAN.
 *   PCP and DEI are kept from tag to tag; a tag added to an untagged frame has PCP 0.
 * - A frame of EtherType MAC control ends here, whatever its addresses. A port runs PFC or 802.3x
 *   link pause, not both: frames of the other kind are counted and ignored. With link pause the
 *   peer is paused while any lossless group wants XOFF.
 * - When a link goes down, the frames queued at the port are dropped (counter link_down) and
 *   release their buffer. Until the link is up, so are later frames to the port. Frames already
 *   returned to the caller are not affected, and frames that the port has received are still
 *   forwarded. The pause state of both directions is reset. A frame received on a port marked down
 *   shows that there is a link, and marks the port up: a program that polls its devices may learn
 *   of the link later, and the first frames must not be lost.
 * - A frame to 01:80:C2:00:00:00..0F ends here (802.1Q 8.6.3), LLDP included.
 * - A flooded frame is charged once to its ingress group, until its last copy has left or was
 *   dropped, and once to each egress queue. Copies share the data; a marked copy gets private data.
 *   If the pool is empty, it leaves unmarked and is counted: losing a frame of a lossless class is
 *   worse than losing a mark.
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
#include "switch/monitor/sw_dcbx.h"
#include "switch/control/dcbx_port.h"
#include "switch/control/event_log.h"
#include "switch/change/forwarding.h"
#include "switch/monitor/link.h"
#include "switch/control/owners.h"
#include "switch/monitor/sw_pfcwd.h"
#include "switch/change/sw_reload.h"
#include "switch/change/restart.h"
#include "switch/monitor/watermarks.h"
#include "switch/frame/pools.h"
#include "switch/params/sw_counters.h"
#include "switch/params/sw_params.h"

/**
 * Create a switch.
 *
 * @param params  After sw_params_resolve() and sw_params_check(); copied.
 * @param pools   Not owned; they outlive the node.
 * @return        The node, owned by the caller, or NULL with errno set.
 */
struct node *sw_create(const struct sw_params *params, const struct sw_pools *pools);
/** Free the switch and every packet that it holds. */
void sw_destroy(struct node *node);

/**
 * Learn an address as if a frame from it had been received on port, to start a fabric in which all
 * hosts are known.
 *
 * @return 0, -EINVAL (no such port, group address) or -ENOSPC (table full).
 */
int sw_learn(struct node *node, uint16_t vid, const uint8_t mac[6], uint16_t port, uint64_t now_ns);

/*
 * A switch of several shards. sw_create() returns the node of the whole switch (the front): pass it
 * to control(), readers and requests. There are two ways to drive it. One thread may drive the
 * whole switch as a node: frames that cross are delivered before rx() or tx() returns. Or each
 * shard's node has its own thread, which polls the ports of that shard alone: its tx() takes the
 * frames that have crossed to it.
 */

/** Number of shards; 1: the switch itself is the only one. */
uint16_t sw_shards(const struct node *node);
/** Node of a shard, not owned by the caller; 0 <= i < sw_shards(). */
struct node *sw_shard(struct node *node, uint16_t i);
/** Mask of the ports of a shard, of a switch with at most SW_DEVICE_PORTS ports. */
uint64_t sw_shard_ports(const struct node *node, uint16_t i);

/* Readers. Only the owner may call them, except those of counters, which any thread may call. */
const struct sw_port_stats *sw_port_stats(const struct node *node, uint16_t port);
const struct pfc_rx *sw_pfc_rx(const struct node *node, uint16_t port);
const struct pfc_tx *sw_pfc_tx(const struct node *node, uint16_t port);
/** MAC address of a port. */
uint64_t sw_port_mac(const struct node *node, uint16_t port);
/** MAC address that sent the last pause frame to a port; 0: none has arrived. */
uint64_t sw_pause_source(const struct node *node, uint16_t port);
const struct mmu *sw_mmu(const struct node *node);
/** Marks by queue length; NULL without mark_accuracy, or if the queue does not mark. */
const struct mark_accuracy *sw_mark_accuracy(const struct node *node, uint16_t port, uint8_t queue);
/** Marking scheme of a queue, with its counters; NULL: WRED. */
const struct mark_queue *sw_mark_scheme(const struct node *node, uint16_t port, uint8_t queue);
/** WRED's marking curve of a queue; all 0 without WRED, or with another scheme. */
const struct wred_curve *sw_mark_curve(const struct node *node, uint16_t port, uint8_t queue);
uint64_t sw_queue_bytes(const struct node *node, uint16_t port, uint8_t queue);
/** Frames received on a port that a queue had to mark, but are Not-ECT. */
uint64_t sw_not_ect_packets(const struct node *node, uint16_t port);

/* A queue that holds frames of a priority that a port has received. */
struct sw_holder {
	uint16_t port;
	uint8_t queue;
	uint64_t bytes; /* charged; 0: no queue holds such frames */
};

/**
 * Why is the peer of a port paused? Reads the frames of all queues, so it is for rare events. With
 * link pause, frames of all priorities count.
 */
struct sw_holder sw_find_holder(const struct node *node, uint16_t in_port, uint8_t prio);
/** Before the first rx/tx. */
void sw_watch_pauses(struct node *node, uint16_t port, struct pfc_tx_watch watch);

uint32_t sw_fdb_entries(const struct node *node);
/** Addresses currently learned on port. */
uint32_t sw_fdb_port_entries(const struct node *node, uint16_t port);
struct fdb_stats sw_fdb_stats(const struct node *node);
/** All zero without a router. */
struct sw_router_stats sw_router_stats(const struct node *node);
/** Counters of the interface in a domain (sw_interface_domain()), even if it has been removed. */
struct sw_interface_stats sw_interface_stats(const struct node *node, uint16_t domain);
/** The next hop after this one of routes in force; NULL: the first. @return NULL: no more. */
const struct sw_hop_counts *sw_next_hop(const struct node *node, const struct sw_hop_counts *hop);
/** Counts of a neighbour as a next hop of routes; zeros if it is none. */
struct sw_hop_stats sw_hop_stats(const struct node *node, const struct neigh_key *key);
struct sw_ledger sw_ledger(const struct node *node);

#endif
