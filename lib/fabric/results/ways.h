/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which flows send their data through a port? By the paths of the scenario's start; events do not
 * change them.
 */
#ifndef QUENCH_FABRIC_RESULTS_WAYS_H
#define QUENCH_FABRIC_RESULTS_WAYS_H

#include "fabric/net/net.h"

struct ways;

/** @return owned by the caller, or NULL: no memory, or more than WAYS_MOST_QPS QPs. */
struct ways *ways_create(const struct net *net);
void ways_destroy(struct ways *w);

/* A run of more QPs has no lists of flows. */
#define WAYS_MOST_QPS 65536u

/** Number of the flow's QPs whose data leaves by this port of a switch, or by this host. */
uint32_t ways_through(const struct ways *w, uint32_t flow, struct topology_end end);
/* The most ends on the way of a QP: its host, and a port of each switch. */
#define WAYS_MOST_ENDS 65u

/** The host and the ports that the data of a QP leaves, in order. @return their number. */
uint32_t ways_ends(const struct ways *w, uint32_t flow, uint32_t qp,
		   const struct topology_end **ends);

/** May a pause of this priority stop the flow's data? */
bool ways_obeys(const struct ways *w, uint32_t flow, uint8_t prio);

/* A flow and its part of the bytes that left by a port, at most 1000000. */
struct way_share {
	uint32_t flow, ppm;
};

/**
 * The flows through a port that sent most, in falling order.
 * @return their number, at most `most`.
 */
uint32_t ways_shares(const struct ways *w, struct topology_end end, struct way_share *out,
		     uint32_t most);

#endif
