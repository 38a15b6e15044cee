/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by explain_job.c, which observes, and explain_job_print.c, which prints. */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_JOB_INTERNAL_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_JOB_INTERNAL_H

#include "fabric/results/job_path.h"
#include "fabric/results/ways.h"
#include "quench-lab/recording/recording.h"

#define EXPLAIN_MOST_FLOWS 3u

enum explain_cause {
	CAUSE_COMPUTE, /* a computation */
	CAUSE_INSIDE,  /* a message inside a server */
	CAUSE_WIRE,    /* packets of the message on links: their length, and the cables' */
	CAUSE_RATE,    /* the host's link was free, but the QP was not allowed to send */
	CAUSE_HELD,    /* pauses: of the host, or of the queue in which the last packet waited */
	CAUSE_QUEUE,   /* the last packet waited in queues */
	CAUSE_OTHERS,  /* the host's link sent frames of others */
	CAUSE_EARLIER, /* the host's link sent earlier messages of the same QP */
	CAUSE_AGAIN,   /* the host's link sent packets again, or waited to do so */
	CAUSE_ACK,     /* from the arrival of the last packet to its acknowledgement */
	CAUSE_UNKNOWN, /* the last packet was not seen on the path of the run's start */
	CAUSES
};

/* Flows by the bytes that they sent through a port in some time. */
struct fill {
	uint32_t flow[EXPLAIN_MOST_FLOWS];
	uint32_t percent[EXPLAIN_MOST_FLOWS];
	uint32_t n;
};

/* What a part waited for. Ends with node NEVER_NODE: none. */
#define NEVER_NODE UINT32_MAX

struct explained {
	uint64_t times_ns[CAUSES];
	uint32_t flow; /* of a message */
	uint16_t qp;
	uint32_t cnps, marks, sent_again;
	struct topology_end marked; /* the port that marked most of its packets */
	int marked_queue;
	struct topology_end queued; /* the port at which the last packet waited longest */
	struct topology_end held;   /* the port or host that was paused longest */
	struct fill marked_by, queued_by, others;
};

struct sight {
	uint64_t at_ns;
	uint32_t part;
	uint32_t flow; /* JOB_NONE: no data of a flow */
	uint32_t psn;
	uint16_t qp;
	uint16_t wire_bytes;
	int8_t marked_queue; /* -1: not marked here */
};

/* A pause that a port obeyed. */
struct hold {
	uint64_t from_ns, to_ns;
};

/* A data packet, an acknowledgement or a CNP that a host has received. */
struct arrival_sight {
	uint64_t at_ns;
	uint32_t number; /* of those at one time, by the place of their spot */
	uint32_t part, psn;
	uint16_t qp;
	enum { ARRIVED_DATA, ARRIVED_ACK, ARRIVED_CNP } kind;
};

/* One end of a cable, and what its node's thread has seen there. */
struct spot {
	struct explain_job *x;
	struct topology_end end;
	struct sight *sent; /* data that left */
	uint32_t n_sent, sent_room;
	struct hold *holds;
	uint32_t n_holds, holds_room;
	struct arrival_sight *arrivals;
	uint32_t n_arrivals, arrivals_room;
	bool held;
	bool lost; /* no memory */
};

struct address {
	uint8_t bytes[16];
	uint32_t host; /* from 0 */
};

struct explain_job {
	char name[FLOW_NAME_CHARS + 1];
	uint32_t job, number, n_iterations, n_ranks;
	struct job_iteration iteration;
	struct job_path path;
	struct explained *explained; /* by part */
	struct net *net;             /* of the second run */
	struct ways *ways;
	struct spot *spots;             /* two for each link: a, b */
	struct address *addresses;      /* of all hosts, in order */
	uint32_t **flow_of;             /* by host and item: the flow that it receives; JOB_NONE */
	struct arrival_sight *arrivals; /* after the run: of all spots, in order of time */
	uint32_t n_arrivals;
	uint8_t prio;
	bool lost; /* no memory */
};

#endif
