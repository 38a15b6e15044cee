/* SPDX-License-Identifier: BSD-3-Clause */
/* What explain.c (who looks) and explain_print.c (who tells) share. */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FLOW_INTERNAL_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FLOW_INTERNAL_H

#include <stdbool.h>

#include "ctl/results/explain.h"
#include "fabric/net/net.h"
#include "quench-lab/recording/recording.h"

/* One end of a cable, and what is known about it. */
struct place {
	struct lab_explain *x;
	uint32_t node;
	uint16_t port;
	uint32_t hop; /* in which order data of the QP came here first; 0: never */
	bool held;
	uint64_t held_from_ns;
};

struct sight {
	struct explain_event e;
	uint64_t number; /* in the order in which they were seen */
};

struct lab_explain {
	struct net *net;
	struct recordings *recordings;
	uint32_t flow;
	uint16_t qp;
	bool one_of_many; /* the name stood for several flows */
	struct net_end from, to;
	uint32_t from_qpn, to_qpn;
	struct field_ip from_ip, to_ip;
	uint8_t prio; /* of its data */
	struct place *places;
	uint32_t n_places;

	uint32_t next_psn; /* first that was not sent yet */
	bool sending;
	uint32_t back; /* of the events, the going back that goes on; UINT32_MAX: none */
	struct explain_mark marked;      /* since the last CNP that was sent */
	struct explain_mark answers[16]; /* what CNPs on their way stand for, a ring */
	uint32_t answers_in, answers_out;

	struct sight *sights;
	uint32_t n, room;
	uint32_t hops;
	uint64_t last_ns; /* of the QP's frames at the sender */
	bool lost;        /* no memory */
};

#endif
