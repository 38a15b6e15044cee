/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes joined by cables in virtual time: a discrete-event loop over the three verbs of node.h.
 *
 * A cable only delays: a frame given by tx() at t arrives whole at t + serialization + propagation,
 * since the shaper that makes frames leave one after the other is in the node. Frames of one
 * direction never overtake, unless the cable is made to reorder them. At equal times arrivals come
 * before transmissions, and both in the order of their cable ends.
 *
 * Nodes meet on cables only: each is run for as long as no frame can reach it, see run.c.
 * What they share beside that, packet pools, must not run dry, or who finds them so depends on it.
 *
 * The digest covers every hop: when, where, how long, and the bytes that tell one frame from
 * another, ECN and ICRC among them. Two runs with one digest did the same.
 */
#ifndef QUENCH_FABRIC_LINKS_FABRIC_H
#define QUENCH_FABRIC_LINKS_FABRIC_H

#include <stdint.h>

#include "fabric/links/cable.h"
#include "node/node.h"

struct fabric;

struct fabric_link {
	uint64_t rate_bps;
	uint64_t delay_ns; /* propagation, one way */
	struct cable_params errors;
};

struct fabric_stats {
	uint64_t packet_hops; /* frames that arrived at the far end of a cable */
	uint64_t hop_bytes;   /* their wire bytes */
	uint64_t digest;
};

/** @return an empty fabric, owned by the caller, or NULL with errno ENOMEM. */
struct fabric *fabric_create(uint32_t max_nodes, uint32_t max_links);

/** Free the fabric and the frames on its cables; the nodes stay the caller's. */
void fabric_destroy(struct fabric *f);

/** Add a node before the first run. @return its number, or -ENOSPC, -ENOMEM. */
int fabric_add_node(struct fabric *f, struct node *node);

struct fabric_end {
	uint32_t node; /* number from fabric_add_node() */
	uint16_t port;
};

/** Join two ports, each at most once, before the first run. @return 0, -EINVAL, -ENOSPC,
 * -ENOMEM. */
int fabric_connect(struct fabric *f, struct fabric_end a, struct fabric_end b,
		   const struct fabric_link *link);

/**
 * The link at this end goes down or comes up, after the run up to now_ns: what is on the way in
 * both directions is lost, and what is sent until it is up. The nodes are not told.
 * @return 0, -EINVAL (no such end), -ENOMEM.
 */
int fabric_set_link(struct fabric *f, struct fabric_end e, bool up);

/**
 * The cable from this end to its peer has another delay and other faults from now on, after the run
 * up to now: what is on the way arrives as it would have, and before what is sent later. The rate
 * is the nodes' and stays.
 * @return 0, -EINVAL (no such end, another rate), -ENOMEM.
 */
int fabric_set_cable(struct fabric *f, struct fabric_end from, const struct fabric_link *link);

/** What it is now. The end is connected. */
const struct fabric_link *fabric_cable(const struct fabric *f, struct fabric_end from);

/**
 * Put a frame on the cable at this end at now_ns, up to which the fabric has run, as if the node
 * had sent it: beside what the node sends, after the last frame that was put there so, and after
 * what is on the cable. The fabric owns it.
 * @return 0, or -EINVAL (no such end): then it is still the caller's.
 */
int fabric_inject(struct fabric *f, struct fabric_end e, struct rte_mbuf *m, uint64_t now_ns);

/** A node was told something by a call of its own at now_ns, up to which the fabric has run: let it
 * act. */
void fabric_poke(struct fabric *f, uint32_t node, uint64_t now_ns);
/** The same where what the node's control() does may be wanted at another time now: it is
 * called. */
void fabric_control(struct fabric *f, uint32_t node, uint64_t now_ns);

/** Let taps see what leaves by this end, and what arrives at it. @return as fabric_set_link(). */
int fabric_tap(struct fabric *f, struct fabric_end e, struct cable_tap sent,
	       struct cable_tap received);

/** Frames to this end that did not arrive. */
uint64_t fabric_cable_drops(const struct fabric *f, struct fabric_end e, enum cable_drop why);

/** What happened to frames to this end that did arrive. */
struct cable_stats fabric_cable_stats(const struct fabric *f, struct fabric_end e);

/**
 * Run all events up to and including until_ns, which never decreases; the clock then stands there.
 * @return 0, or -ENOMEM: a frame under way was lost, and what follows is of no use.
 */
int fabric_run(struct fabric *f, uint64_t until_ns);

/** Time of the next event, NEVER_NS when nothing will ever happen. */
uint64_t fabric_next_ns(struct fabric *f);

const struct fabric_stats *fabric_stats(const struct fabric *f);

#endif
