/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters and the state of a switch (base/field/walk.h): counters.csv, dumps, reports, the
 * replies of the front desk and the catalogue of metrics come from these functions, so that a name
 * has the same meaning in all of them. Unless noted otherwise, any thread may call them.
 */
#ifndef QUENCH_SWITCH_SW_WALK_H
#define QUENCH_SWITCH_SW_WALK_H

#include "base/field/walk.h"
#include "switch/sw.h"

/* A switch at a time; all NULL with names_only. */
struct sw_view {
	const struct node *sw;
	const struct sw_params *params;
	uint64_t now_ns;
};

/** The number of a port, and its name if it has one. */
void sw_walk_port_key(struct walk *w, const struct sw_view *v, uint16_t port);
/** A port without its queues, groups, priorities and drops. */
void sw_walk_port(struct walk *w, const struct sw_view *v, uint16_t port);
/** Dropped packets by reason; malformed ones by kind. */
void sw_walk_drops(struct walk *w, const struct sw_view *v, uint16_t port);
void sw_walk_malformed(struct walk *w, const struct sw_view *v, uint16_t port);
/** The pauses that the port obeyed and sent. */
void sw_walk_pauses(struct walk *w, const struct sw_view *v, uint16_t port);
void sw_walk_queue(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t queue);
void sw_walk_queue_counters(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t queue);
void sw_walk_pg(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t pg);

/** SONiC's PFC_WD_QUEUE_STATS_* and PFC_WD_STATUS. Only on the thread that calls control(). */
void sw_walk_pfcwd(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t prio);
/** The list pfcwd: the priorities that are watched. Only on that thread. */
void sw_walk_watched(struct walk *w, const struct sw_view *v, uint16_t port);
/** Only on the thread that calls control(). */
void sw_walk_dcbx(struct walk *w, const struct sw_view *v, uint16_t port);

/** A port with its drops, queues, groups and watched priorities. On the thread of control(). */
void sw_walk_whole_port(struct walk *w, const struct sw_view *v, uint16_t port);

void sw_walk_fdb(struct walk *w, const struct sw_view *v);
void sw_walk_router(struct walk *w, const struct sw_view *v);
/** What was routed to a neighbour as a next hop of routes; key is NULL with names_only. */
void sw_walk_hop_counts(struct walk *w, const struct sw_view *v, const struct neigh_key *key);
/** An interface of the router: "vlan 10". */
void sw_walk_interface(struct walk *w, const struct sw_view *v, const char *name);
/** The shared buffer, its pools, and the ledger of charged bytes. */
void sw_walk_buffer(struct walk *w, const struct sw_view *v);
void sw_walk_ledger(struct walk *w, const struct sw_view *v);

#endif
