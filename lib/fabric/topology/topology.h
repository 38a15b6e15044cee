/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph of a fabric: switches, hosts, and the cables between them. It has names, ports and
 * properties of cables, but no packets.
 *
 * Nodes are numbered: switches from 0 in the order in which they were added, then hosts. A host has
 * one port, a switch up to SW_MAX_PORTS, which are assigned in the order in which cables are
 * plugged in: hosts first, from port 0 on.
 *
 * Named shapes:
 *
 *   star         s1 with all hosts
 *   dumbbell     s1 and s2, half of the hosts on each
 *   parking_lot  s1 to sN in a row, hosts on all of them
 *   testbed      SIGCOMM15 figure 2: ToRs T1 to T4, leaves L1 to L4, spines S1 and S2; T1 and T2 on
 *                L1 and L2, T3 and T4 on L3 and L4, every leaf on both spines; hosts on the ToRs
 *   leaf_spine   every leaf on every spine; hosts on the leaves
 *   fat_tree     of k-port switches (Al-Fares, Loukissas, Vahdat 2008): k pods of k/2 edge and k/2
 *                agg switches, k^2/4 core switches; agg i of a pod on k/2 core switches from
 *                i k/2 + 1 on; hosts on the edges
 *   rail_optimized  groups of servers with R NICs each; a group has R leaves, one for each rail: of
 *                rail r, group g has leaf (g - 1) R + r; every leaf on every spine
 *   rail_only    rail1 to railR, each with that NIC of all servers, and no link between them
 *   graph        from [switch NAME] and [link NAME]
 *
 * Hosts are spread evenly, in order, over the switches that take hosts. Those of the shapes with R
 * rails are NICs of servers: hosts 1 to R are the NICs of the first server, for rail 1 to R, and so
 * on. Servers are spread evenly, in order, over the groups.
 */
#ifndef QUENCH_FABRIC_TOPOLOGY_TOPOLOGY_H
#define QUENCH_FABRIC_TOPOLOGY_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sets/names.h"
#include "fabric/links/fabric.h"
#include "switch/sw.h"

#define TOPOLOGY_NAME_CHARS 15
/* A fat tree of k = 64 has 65,536 hosts and 5,120 switches. */
#define TOPOLOGY_MAX_SWITCHES 8192u
#define TOPOLOGY_MAX_HOSTS 65536u
#define TOPOLOGY_NO_LINK UINT32_MAX

enum topology_shape {
	TOPOLOGY_STAR,
	TOPOLOGY_DUMBBELL,
	TOPOLOGY_PARKING_LOT,
	TOPOLOGY_TESTBED,
	TOPOLOGY_LEAF_SPINE,
	TOPOLOGY_FAT_TREE,
	TOPOLOGY_RAIL_OPTIMIZED,
	TOPOLOGY_RAIL_ONLY,
	TOPOLOGY_GRAPH,
};

extern const char *const topology_words[];

struct topology_end {
	uint32_t node;
	uint16_t port;
};

struct topology_link {
	struct topology_end a, b; /* a is the host, if one end is a host */
	struct fabric_cable cable;
	uint32_t tag; /* for the caller's use */
};

struct topology_switch {
	char name[TOPOLOGY_NAME_CHARS + 1];
	uint8_t stage; /* 0: takes hosts; one more for each step towards the core */
	uint16_t n_ports;
	uint16_t n_hosts;
	uint32_t link[SW_MAX_PORTS]; /* by port */
};

struct topology_host {
	uint32_t sw;    /* its switch */
	uint16_t place; /* index among the hosts of that switch, from 0 */
	uint32_t link;
};

struct topology {
	struct topology_switch *switches; /* room for TOPOLOGY_MAX_SWITCHES */
	struct names names;               /* of the switches, which do not move */
	struct topology_host *hosts;      /* [n - 1] is host n */
	struct topology_link *links;
	uint32_t n_switches, n_hosts, n_links;
};

/* Parameters of a named shape. */
struct topology_params {
	enum topology_shape shape;
	uint32_t hosts;
	uint16_t switches; /* parking_lot */
	uint16_t leaves, spines;
	uint16_t fat_tree_k;
	uint16_t rails;  /* shapes with rails: hosts is a multiple of it */
	uint16_t groups; /* rail_optimized */
	struct fabric_cable host_cable, core_cable;
};

/** @return an empty graph, owned by the caller, or NULL: out of memory. */
struct topology *topology_create(void);
void topology_destroy(struct topology *t);

/** @return the switch's number, -ENOSPC (switches, or a long name), -EEXIST (name) or -ENOMEM. */
int64_t topology_add_switch(struct topology *t, const char *name, uint8_t stage);

/**
 * Call it after all switches are added, and before their other cables.
 * @return 0, -ENOSPC (hosts, ports) or -ENOMEM.
 */
int topology_add_hosts(struct topology *t, uint32_t sw, uint32_t n,
		       const struct fabric_cable *cable);

/** Join two switches. @return 0, -EINVAL (the same one), -ENOSPC (ports) or -ENOMEM. */
int topology_join(struct topology *t, uint32_t a, uint32_t b, const struct fabric_cable *cable);

/**
 * Build a named shape, not graph.
 *
 * @param why  On failure, what was expected.
 * @return     The graph, owned by the caller, or NULL with errno set.
 */
struct topology *topology_build(const struct topology_params *params, const char **why);

/** Find a switch or a host ("h3") by name. @return its node number or -1. */
int64_t topology_find(const struct topology *t, const char *name);

static inline uint32_t
topology_host_node(const struct topology *t, uint32_t host)
{
	return t->n_switches + host - 1u;
}

static inline bool
topology_is_switch(const struct topology *t, uint32_t node)
{
	return node < t->n_switches;
}

/** The cable at this end. */
static inline uint32_t
topology_link_at(const struct topology *t, struct topology_end at)
{
	return topology_is_switch(t, at.node) ? t->switches[at.node].link[at.port]
					      : t->hosts[at.node - t->n_switches].link;
}

/** The other end of a switch's cable. */
struct topology_end topology_peer(const struct topology *t, uint32_t sw, uint16_t port);

/* "h65536" or the name of a switch. */
#define TOPOLOGY_NODE_CHARS TOPOLOGY_NAME_CHARS

/** Name of any node. @return text. */
const char *topology_node_name(const struct topology *t, uint32_t node,
			       char text[TOPOLOGY_NODE_CHARS + 1]);

/**
 * Of the cables between two nodes, the first one with a number of at least `first`, or
 * TOPOLOGY_NO_LINK.
 */
uint32_t topology_link_between(const struct topology *t, uint32_t a, uint32_t b, uint32_t first);

/** Can every node reach every other? */
bool topology_is_connected(const struct topology *t);
/** Does a connected graph have exactly one path between any two nodes? */
bool topology_is_tree(const struct topology *t);

#endif
