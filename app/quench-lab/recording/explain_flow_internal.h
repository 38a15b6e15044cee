/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by explain_flow.c, which observes, and explain_flow_print.c, which prints. */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FLOW_INTERNAL_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FLOW_INTERNAL_H

#include <stdbool.h>

#include "ctl/results/explain.h"
#include "fabric/net/net.h"
#include "quench-lab/recording/recording.h"

/* What a frame on a cable is to the QP. */
enum glimpse_kind {
	GLIMPSE_SET,    /* no frame: parameters were changed from outside */
	GLIMPSE_DATA,   /* data of the QP leaves the end */
	GLIMPSE_CNP,    /* the receiver sends a CNP */
	GLIMPSE_PAUSE,  /* the peer pauses the QP's priority, or lets it go on */
	GLIMPSE_ANSWER, /* the sender receives an acknowledgement or a CNP */
};

struct glimpse {
	uint64_t at_ns;
	uint32_t place;  /* from 1 on; 0: no frame */
	uint32_t number; /* at this place */
	enum glimpse_kind kind;
	bool hold, is_cnp; /* of a pause; of an answer */
	int16_t queue;     /* that has marked this data here; -1: none */
	uint32_t psn;
	uint64_t queue_bytes;
	const struct event_params *set;
};

struct glimpses {
	struct glimpse *of;
	uint32_t n, capacity;
	bool lost; /* one is missing: no memory */
};

/*
 * One end of a cable, and whether the peer there pauses the QP's priority. What is seen there is
 * kept until all places are looked through in order of time.
 */
struct place {
	struct lab_explain *x;
	uint32_t node;
	uint16_t port;
	struct glimpses seen;
	uint32_t seen_in_all;
	bool peer_holds; /* what is seen, not yet looked through */
	uint32_t hop;    /* position on the path of the QP's data; 0: not on the path */
	uint64_t held_from_ns;
};

struct sight {
	struct explain_event e;
	uint64_t number; /* order of the glimpses */
};

struct lab_explain {
	struct net *net;
	struct recordings *recordings;
	uint32_t flow;
	uint16_t qp;
	bool one_of_many; /* the name matches several flows */
	struct net_end from, to;
	uint32_t from_qpn, to_qpn;
	struct field_ip from_ip, to_ip;
	uint8_t prio; /* of the QP's data */
	struct place *places;
	uint32_t n_places;
	struct glimpses waiting; /* of all places: not looked through yet */
	uint32_t n_sets;

	uint32_t next_psn; /* first PSN not sent yet */
	bool sending;
	uint32_t back;                   /* event of the current go-back; UINT32_MAX: none */
	struct explain_mark marked;      /* first mark since the last CNP was sent */
	struct explain_mark answers[16]; /* ring: the mark that caused each CNP in flight */
	uint32_t answers_in, answers_out;

	struct sight *sights;
	uint32_t n, capacity;
	uint32_t hops;
	uint64_t last_ns; /* last frame of the QP received by the sender */
	bool lost;        /* an event is missing: no memory */
};

#endif
