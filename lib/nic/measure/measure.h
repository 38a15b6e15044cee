/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measurements on the data path: round trips and messages (times.h), gaps between packets
 * (pacing.h).
 *
 * Invariant: in a closed loop no two timed messages in flight use the same entry of begun_ns[].
 */
#ifndef QUENCH_NIC_MEASURE_MEASURE_H
#define QUENCH_NIC_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "cc/algorithms/rtt.h"
#include "nic/measure/pacing.h"
#include "nic/measure/times.h"
#include "nic/qp/qp.h"
#include "wire/roce/roce.h"

struct nic;

/* Times and counts of a QP. */
struct nic_qp_times {
	/* 1 + start of the messages being timed, by number; 0: none. Open loop: the first entry is
	 * 1 + arrival of the oldest message that is not acknowledged. */
	uint64_t begun_ns[NIC_TIMED_MESSAGES];
	uint64_t sum_ns, max_ns; /* completion times */
	uint64_t completions;
	uint32_t seq; /* protects the three above: base/threads/seq.h */
} __rte_cache_aligned;

/* What QPs answered to each other, and marks. All are rare beside data. */
struct nic_qp_answers {
	uint64_t acks_sent, acks_received;
	uint64_t naks_sent, naks_received; /* of all kinds */
	uint64_t out_of_sequence;          /* packets received ahead of the expected PSN */
	uint64_t ce_packets, cnps_ignored;
	uint64_t rx_discarded_packets, rx_discarded_wire_bytes;
	uint64_t rtt_samples, rtt_sum_ns, rtt_min_ns, rtt_max_ns;
};

/* The last packet that a QP sent, and the last one that arrived. */
struct nic_departure {
	uint64_t sent_ns;
	uint32_t wire_bytes;
	bool paced;          /* waited only for tokens, and the QP had saved none while idle */
	uint64_t arrived_ns; /* the last packet of data that arrived; 0: none */
};

/* A gap between two packets of a QP, to be added to the flow's histogram. */
struct nic_gap {
	struct nic_pacing *pacing;
	uint64_t gap_ns, expected_ps, jitter_ns;
};

/*
 * With a thousand flows each histogram costs a cache miss or two, which would delay the next frame.
 * So they are prefetched, and the next tx() writes them.
 */
#define NIC_GAPS 64u

/* Messages recorded and not yet cleared. */
struct nic_message_log {
	struct nic_message *rows;
	uint32_t n, size;
	uint64_t *resent; /* per QP: retransmitted_packets at its last record */
	bool no_memory;
};

/* QPs that have sent everything, since the last nic_clear_ends(). Each ends once. */
struct nic_end_log {
	uint32_t n;
	struct nic_end rows[];
};

/* Arrays of max_qps entries; NULL: not measured. */
struct nic_measure {
	struct rtt *rtts;                 /* for congestion control or measure_times */
	struct nic_qp_times *times;       /* measure_times */
	struct nic_qp_answers *answers;   /* measure_times */
	struct nic_departure *departures; /* measure_pacing */
	const struct ideal_path **paths;  /* NULL, or an entry: not known */
	struct nic_message_log *log;      /* nic_record_messages() */
	struct nic_end_log *ends;         /* nic_record_ends() */
	uint32_t n_gaps;                  /* gaps that are not in the histograms yet */
	struct nic_gap gaps[NIC_GAPS];
};

/** @return 0 or -ENOMEM; nic_measure_free() in both cases. */
int nic_measure_init(struct nic *nic);
void nic_measure_free(struct nic *nic);
/**
 * Allocate the histograms of a new flow, or share those of the last flow if that has the same
 * flow_id. @return 0 or -ENOMEM.
 */
int nic_measure_add_flow(struct nic *nic, struct qp_flow *flow);

/** Free the histograms of a removed flow. */
void nic_measure_remove_flow(struct qp_flow *flow);

/**
 * With measure_times, here and in nic_measure_completed(): a message begins, or begins again
 * because none of its packets had been sent.
 */
void nic_measure_begun(struct nic *nic, uint32_t item, uint64_t message, uint64_t now_ns);
/** The messages from this one up to the QP's acked_msg are acknowledged. */
void nic_measure_completed(struct nic *nic, uint32_t item, uint64_t message, uint64_t now_ns);
/** A QP has sent everything. */
void nic_measure_end(struct nic *nic, uint32_t item, uint64_t now_ns);
/** All packets before seq are acknowledged. @return the round-trip time measured, or 0. */
uint64_t nic_measure_rtt(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns);
/**
 * A new QP uses this index: clear the measurements of the old one.
 */
void nic_measure_clear(struct nic *nic, uint32_t item);
/** With measure_pacing: the QP's next packet leaves. nic->due_ns says when it was due, if known. */
void nic_measure_departure(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Set the length of the packet of the last nic_measure_departure(). */
void nic_measure_departed(struct nic *nic, uint32_t item, uint32_t wire_bytes);
/** A frame of a QP whose flow has rx_pacing arrived. */
void nic_measure_arrival(struct nic *nic, uint32_t item, const struct roce_view *v,
			 uint64_t now_ns);
/** Write the gaps measured so far into the histograms of their flows. */
void nic_measure_gaps(struct nic *nic);
/** Count a received frame with CE. */
void nic_measure_ce(struct nic *nic, uint32_t item);
/** Count an answer that the QP sends, or that arrived: an ACK, or a NAK of any kind. */
void nic_measure_answer_sent(struct nic *nic, uint32_t item, bool ack);
void nic_measure_answer(struct nic *nic, uint32_t item, bool ack);
/** Count a packet ahead of the expected PSN. */
void nic_measure_gap_seen(struct nic *nic, uint32_t item);
/**
 * Count a packet of data, or a READ request, that arrived and was not accepted: after a gap, a
 * duplicate, or one that was refused.
 */
void nic_measure_discarded(struct nic *nic, uint32_t item, uint32_t wire);
/** Count a CNP that changed nothing. */
void nic_measure_cnp_ignored(struct nic *nic, uint32_t item);

#endif
