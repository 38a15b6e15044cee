/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of the nodes of a fabric, with what their cables lost (base/field/walk.h):
 * counters.csv, the events dump and clear_counters, and the sums of results.json.
 */
#ifndef QUENCH_APP_QUENCH_LAB_OUTPUT_LAB_WALK_H
#define QUENCH_APP_QUENCH_LAB_OUTPUT_LAB_WALK_H

#include "base/field/walk.h"
#include "fabric/net/net.h"

/** The i-th switch without its ports; one of its ports; host h. */
void lab_walk_switch(struct walk *w, const struct net *net, uint32_t i, uint64_t now_ns);
void lab_walk_port(struct walk *w, const struct net *net, uint32_t i, uint16_t port,
		   uint64_t now_ns);
void lab_walk_host(struct walk *w, const struct net *net, uint32_t h, uint64_t now_ns);

/** All of a node, whose ports are items of the list "ports". */
void lab_walk_node(struct walk *w, const struct net *net, uint32_t node, uint64_t now_ns);
/** The names of nodes that member has by their names: of a switch, of a host. */
void lab_walk_names(struct walk *w, const char *member);

#endif
