/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A period of a net: after it, the net is in the same state, and its flows and counters have gone
 * on by the same amounts.
 */
#ifndef QUENCH_FABRIC_SKIP_PERIOD_H
#define QUENCH_FABRIC_SKIP_PERIOD_H

#include "fabric/links/fabric_phase.h"
#include "fabric/net/net.h"
#include "nic/change/skip.h"

/* The state of a net, relative to its time, as far as a period repeats it. */
struct period_state {
	uint64_t nodes; /* digest: transport of hosts, lengths of queues */
	struct fabric_phase cables;
};

/* The way out of a port of a host or a switch. */
struct period_wire {
	uint64_t sent_bytes; /* wire bytes */
	uint64_t free_ps;    /* of a host: nic_free_ps() */
};

/* Over all flows. */
struct period_totals {
	uint64_t wire_bytes, cnps;
};

/* A counter that grows in a period. */
struct period_growth {
	uint64_t *at;
	uint64_t by;
};

struct period {
	struct net *net;
	struct period_state begin, now;
	struct nic_stretch
		*positions;         /* by host and QP: at the begin, and then packets of a period */
	struct nic_stretch *at_end; /* of a host */
	uint32_t *first_of;         /* by host: its place in positions */
	uint64_t *counts;           /* at the begin */
	size_t n_counts;
	struct period_growth *growths;
	size_t n_growths;
	struct period_wire *wires;   /* at the begin: of hosts, and then of the ports of switches */
	struct period_totals totals; /* at the begin, and then in a period */
	uint64_t ps;                 /* its length */
	/* it is that of frames on the wire, because the wires of all hosts that send are never
	 * idle; otherwise it was rounded */
	bool is_exact;
};

/** @return owned by the caller, or NULL: out of memory. */
struct period *period_create(struct net *net);
void period_destroy(struct period *p);

/** The period begins now, or at this time of the fabric's clock. @return 0 or -ENOMEM. */
int period_begin(struct period *p, uint64_t now_ns);
/** Is the net in the state of the begin? @return 1, 0, -ENOMEM. */
int period_is_over(struct period *p, uint64_t now_ns);
/**
 * It is over and took ps picoseconds, about: find what it has done, and its exact length.
 * @return false: the ends of a flow disagree, or hosts send at different speeds, or a link had more
 * to send than it could. It is no period: what is the same to some ns differs more each time.
 */
bool period_end(struct period *p, uint64_t ps);

/** How often it may be left out before a message ends. */
uint64_t period_most(const struct period *p);
/** Leave it out n times, at the present time of the fabric. @return the time left out. */
uint64_t period_skip(struct period *p, uint64_t n, uint64_t now_ns);

/* What n periods were to do, and what the net did instead. */
struct period_error {
	uint64_t predicted_bytes, simulated_bytes; /* of data frames on the wire, all flows */
	uint64_t predicted_cnps, simulated_cnps;
	/* of the QP that is off by the most, and by how many it is; of equals the slowest QP */
	uint64_t packets, off_packets;
};

/** Compare n periods with what another object has measured in their time. */
struct period_error period_compare(const struct period *p, uint64_t n,
				   const struct period *measured);

#endif
