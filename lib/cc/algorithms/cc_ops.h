/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an algorithm of congestion control is: state of a QP, events with their arguments, and a
 * struct cc_ops. Algorithms include this file, their users cc.h.
 */
#ifndef QUENCH_CC_ALGORITHMS_CC_OPS_H
#define QUENCH_CC_ALGORITHMS_CC_OPS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field/field.h"
#include "cc/points/did.h"
#include "cc/points/rp.h"

/* The first members of every algorithm's state. They are used per packet. */
struct cc_head {
	uint64_t rate_bps;
	uint64_t next_event_ns; /* the timer: next change of the rate by time; NEVER_NS: none */
	uint32_t byte_count;    /* wire bytes since the last byte event */
	uint32_t window_bytes;  /* with has_window; DCQCN keeps its alpha here */
};

/* One QP. Embedded by the thousand: one cache line. */
struct cc {
	union {
		struct cc_head head;
		struct rp rp;
		uint64_t words[8];
	};
};
static_assert(sizeof(struct cc) <= 64, "one QP's congestion control fits a cache line");

/* Room for the parameters of an algorithm. Those of DCQCN are a struct rp_params. */
union cc_keys {
	struct rp_params rp;
	uint64_t words[16];
};

/* Room for its counters, all uint64_t. */
union cc_counts {
	struct rp_stats rp;
	uint64_t words[16];
};

/* The state of an algorithm is stored in struct cc, its params and counters in the unions above. */
#define CC_FITS(state, params, stats)                                                              \
	static_assert(sizeof(state) <= sizeof(struct cc) && offsetof(state, head) == 0 &&          \
			      sizeof(params) <= sizeof(union cc_keys) &&                           \
			      sizeof(stats) <= sizeof(union cc_counts),                            \
		      "state, params and stats fit")

struct cc_ops;

/* Shared by the QPs of a node; filled in by cc_init(). */
struct cc_node {
	uint64_t byte_event_bytes; /* wire bytes that complete a byte event; 0: none */
	bool hears_acks;           /* cc_on_ack() has to be called */
	bool hears_rtts;           /* ... with round-trip times */
	bool hears_hops;           /* ... with the hops of the path: data frames have INT headers */
	bool has_window;           /* head.window_bytes limits the bytes in flight */
	bool counts_packets;       /* ... where each packet counts as one with a full MTU */
	const struct cc_ops *ops;
	uint64_t min_rate_bps; /* at most max_rate_bps; unused by none and dcqcn */
	uint64_t max_rate_bps;
	struct rp_stats *rp_stats; /* counts CNPs of all algorithms */
	const void *params;        /* the algorithm's own struct, as stats */
	void *stats;
};

/* A hop of the path of an acknowledged packet, as it left this hop: in-band telemetry (INT). */
struct cc_hop {
	uint64_t rate_bps;
	uint32_t queue_bytes;
	uint32_t tx_bytes; /* that the port has sent, modulo 2^32 */
	uint32_t time_ns;  /* of the hop's clock, modulo 2^32 */
};
#define CC_MAX_HOPS 6

/* Progress of a requester; packets are numbered modulo 2^32. */
struct cc_ack {
	uint32_t acked_seq; /* first packet not acknowledged */
	uint32_t next_seq;  /* to be sent next; a loss sets it back to acked_seq (go-back-N) */
	uint32_t packets;   /* newly acknowledged */
	/* of these, by the echo in the ACK: all or none; 0 unless the receiver has np_ecn_echo */
	uint32_t ce_packets;
	uint64_t rtt_ns; /* measured by this ACK; 0: none, or not node->hears_rtts */
	/* path of the packet that requested this ACK; 0: none, or not node->hears_hops */
	uint32_t n_hops;
	const struct cc_hop *hops;
	uint16_t path_id; /* of the ports of the path; two paths have different ones */
	bool is_full;     /* the path has further hops, for which the header had no slot */
};

/* A CNP that the sender of data has received. */
struct cc_cnp {
	uint32_t next_seq; /* as in struct cc_ack */
	uint32_t value;    /* of notify() at the receiver; 0: of a standard CNP */
};

/* State of a notification point, for its algorithm: of a QP, and of all QPs of a node. */
struct cc_np {
	uint64_t words[2];
};

struct cc_np_node {
	uint64_t words[4];
};

#define CC_NP_FITS(of_qp, of_node)                                                                 \
	static_assert(sizeof(of_qp) <= sizeof(struct cc_np) &&                                     \
			      sizeof(of_node) <= sizeof(struct cc_np_node),                        \
		      "state of the notification point fits")

/* A data packet that has arrived at its receiver. */
struct cc_arrival {
	bool ce;
	uint32_t cnp_gap_ns; /* least time between two CNPs of the port, of any QPs; 0: none */
	/* its path; 0: none, or not node->hears_hops */
	uint32_t n_hops;
	const struct cc_hop *hops;
};

/* What told the requester of a loss. */
enum cc_loss {
	CC_LOSS_NAK,
	CC_LOSS_TIMEOUT,
};

/* Start of a flow. */
struct cc_begin {
	uint64_t rate_bps;
	uint32_t packet_bytes; /* wire bytes of a packet with a full MTU */
	void *more;            /* more_bytes of memory that stay the QP's, 8-byte aligned */
};

/* For display. If an algorithm lacks a member, it is 0, and target_rate_bps is rate_bps. */
struct cc_view {
	uint64_t rate_bps, target_rate_bps;
	uint64_t alpha_q32;
	uint64_t rtt_ns; /* last measured */
	uint32_t window_bytes;
	uint16_t time_stage, byte_stage;
	bool limited;
};

/*
 * An algorithm: its tables, and one function for each event; NULL: it ignores the event. All
 * functions except start, rest and read return a cc_did mask.
 */
struct cc_ops {
	const struct field *fields;
	const unsigned int *n_fields;
	const struct counter_field *counters;
	const unsigned int *n_counters;
	/* Rules between keys, beyond the ranges of fields. @return 0, or as params_refuse(). */
	int (*check)(const void *params, char *why, unsigned int why_size);
	/* The key of the lowest rate, an uint64_t; NULL: no such key, or rules of its own. */
	const char *min_rate_key;
	/* The key of the wire bytes that complete a byte event (sent); NULL: there is none */
	const char *byte_event_key;
	/* A QP cannot reach its port's speed if an idle round trip is longer. NULL: no such limit.
	 * trip_key is the key to raise then. */
	uint64_t (*longest_trip_ns)(const void *params);
	const char *trip_key;
	bool hears_rtts;   /* ack wants round-trip times */
	bool hears_hops;   /* ack wants in-band telemetry */
	bool hears_echoes; /* ack acts on ce_packets */
	bool counts_cnps;  /* each CNP is a mark: the receiver must hold none back, N = 0 */
	/* head.window_bytes is a window; needs an ACK of each packet */
	bool has_window;
	/* The window counts each packet as one with a full MTU, and so does a rate below the port's
	 * speed: both limit packets. */
	bool counts_packets;
	uint32_t more_bytes; /* memory per QP in addition to struct cc */
	bool hears_arrivals; /* notify() wants packets without CE, too */
	/* begin->rate_bps is in [min_rate_bps, max_rate_bps] of node, if there is a min_rate_key.
	 * All state but the head is zero. NULL: nothing else to set. */
	void (*start)(struct cc *cc, const struct cc_node *node, const struct cc_begin *begin,
		      uint64_t now_ns);
	uint32_t (*sent)(struct cc *cc, const struct cc_node *node, uint32_t bytes,
			 uint64_t now_ns);
	uint32_t (*timer)(struct cc *cc, const struct cc_node *node, uint64_t now_ns);
	uint32_t (*cnp)(struct cc *cc, const struct cc_node *node, const struct cc_cnp *cnp,
			uint64_t now_ns);
	/*
	 * At the receiver: a data packet has arrived. qp and all are zero at the start. NULL: [np]
	 * says which packets cause a CNP.
	 * @return true: send a CNP with *value, which is not 0.
	 */
	bool (*notify)(struct cc_np *qp, struct cc_np_node *all, const struct cc_node *node,
		       const struct cc_arrival *arrival, uint32_t *value, uint64_t now_ns);
	uint32_t (*ack)(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack,
			uint64_t now_ns);
	uint32_t (*loss)(struct cc *cc, const struct cc_node *node, uint32_t next_seq,
			 enum cc_loss by, uint64_t now_ns);
	/* NULL: the rate rises to a minimum that has become higher. */
	uint32_t (*params)(struct cc *cc, const struct cc_node *node);
	/* cc_rest(); NULL: no event of the timer may wait */
	void (*rest)(struct cc *cc, uint64_t until_ns);
	/* cc_pass(); NULL: no time may be left out */
	uint32_t (*pass)(struct cc *cc, const struct cc_node *node, uint64_t ns, uint64_t now_ns);
	void (*read)(const struct cc *cc, const struct cc_node *node, struct cc_view *out,
		     uint64_t now_ns);
};

/* The tables in a struct cc_ops. */
#define CC_TABLES(section)                                                                         \
	.fields = section##_fields, .n_fields = &section##_fields_n,                               \
	.counters = section##_counters, .n_counters = &section##_counters_n

#endif
