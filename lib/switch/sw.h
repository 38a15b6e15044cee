/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch node: a shared-memory ToR with per-priority queues, WRED/ECN and PFC.
 *
 * rx: MAC control consumed -> parse -> classify -> learn, forward -> ingress and egress admission
 * -> WRED drop (non-ECT in a lossy queue) -> enqueue -> XOFF? tx: PFC frames, then strict and DWRR
 * among queues that hold packets and are not paused -> release -> ECN mark -> XON?
 *
 * Choices, where the standards leave one:
 * - vlan_filtering off: VLAN-transparent; the forwarding table's key has the VLAN identifier, and
 *   tags are left alone. On: a frame is in the VLAN of its tag or its port's access VLAN, and
 *   leaves by ports in that VLAN, untagged where it is the access VLAN. PCP and DEI are kept from
 *   tag to tag; a tag that is put on a frame without one has PCP 0.
 * - A frame of EtherType MAC control ends here, whatever its addresses. A port runs PFC or 802.3x
 *   link pause, not both: frames of the other kind are counted and not obeyed. With link pause the
 *   peer is held as long as any lossless group wants it held.
 * - When a link goes down, frames that wait for the port are dropped under link_down and release
 *   their buffer, and so are frames to it until the link is up; frames already given away are the
 *   wire's. The pause state of both directions is reset. Frames that came in by the port are
 *   forwarded. A frame that comes in by it proves a link: a program that polls its devices learns
 * of the link later, and the first frames must not be lost for that.
 * - A frame to 01:80:C2:00:00:00..0F ends here (802.1Q 8.6.3), LLDP included.
 * - A flooded frame is charged once to its ingress, until its last copy has left or was dropped,
 *   and once to each egress queue. Copies share the data; a copy that is marked gets data of its
 *   own. When the pool has none it leaves unmarked, under a counter: dropping a lossless frame is
 *   worse than a missing mark.
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
#include "switch/control/dcbx.h"
#include "switch/control/dcbx_port.h"
#include "switch/control/event_log.h"
#include "switch/control/forwarding.h"
#include "switch/control/link.h"
#include "switch/control/owners.h"
#include "switch/control/pfcwd.h"
#include "switch/control/reload.h"
#include "switch/control/restart.h"
#include "switch/control/watermarks.h"
#include "switch/frame/pools.h"
#include "switch/params/counters.h"
#include "switch/params/params.h"

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

/* Readers: from the owner, or counters from any thread. */
const struct sw_port_stats *sw_port_stats(const struct node *node, uint16_t port);
const struct pfc_rx *sw_pfc_rx(const struct node *node, uint16_t port);
const struct pfc_tx *sw_pfc_tx(const struct node *node, uint16_t port);
const struct mmu *sw_mmu(const struct node *node);
/** Marks of a queue by its length; NULL without mark_accuracy, or for a queue that does not
 * mark. */
const struct mark_accuracy *sw_mark_accuracy(const struct node *node, uint16_t port, uint8_t queue);
/** Marking curve of a queue; of no meaning for one without WRED. */
const struct wred_curve *sw_mark_curve(const struct node *node, uint16_t port, uint8_t queue);
uint64_t sw_queue_bytes(const struct node *node, uint16_t port, uint8_t queue);
uint32_t sw_fdb_entries(const struct node *node);
/** Addresses that are learned on port now. */
uint32_t sw_fdb_port_entries(const struct node *node, uint16_t port);
struct fdb_stats sw_fdb_stats(const struct node *node);
/** All zero without a router. */
struct sw_router_stats sw_router_stats(const struct node *node);
/** Of the interface in a domain (sw_interface_domain()), also one that is there no more. */
struct sw_interface_stats sw_interface_stats(const struct node *node, uint16_t domain);
struct sw_ledger sw_ledger(const struct node *node);

#endif
