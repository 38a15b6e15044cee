/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port: its queues, scheduler, shapers and flow control, written by its owner, and the state that
 * other threads request (requested), which the owner puts in force (now).
 *
 * Invariants: a queue's bit in backlogged is set if and only if it holds packets; only
 * sw_port_apply() changes the state in force (now).
 */
#ifndef QUENCH_SWITCH_CORE_PORT_H
#define QUENCH_SWITCH_CORE_PORT_H

#include <rte_common.h>

#include "base/threads/lines.h"
#include "pacer/token_bucket.h"
#include "switch/core/queue.h"
#include "switch/params/sw_counters.h"
#include "switch/params/sw_params.h"

/* Minimum and maximum rate of a queue, besides the port's shaper. */
struct sw_queue_shaper {
	struct token_bucket min, max;
};

/* State of a port that other threads request; each member has one writer. */
struct sw_port_state {
	uint8_t link_down;
	/* number of polls that found the link still down after a received frame */
	uint8_t link_down_confirms;
	uint8_t tx_disabled;
	uint8_t shutdown;  /* then link_down is set too, and no frame clears it */
	uint8_t pfc_prios; /* mask: priorities with PFC */
	/* masks: priorities in a storm whose action is drop, or forward */
	uint8_t storm_drop, storm_forward;
	uint16_t pfc_delay_quanta;
};

/* Counts of a priority while the watchdog drops or forwards it. */
struct sw_storm_counts {
	uint64_t tx_dropped;             /* at its queue */
	uint64_t rx_packets, rx_dropped; /* in its group */
};

struct sw_port {
	/* per packet */
	uint8_t backlogged;         /* mask of queues that hold packets */
	uint8_t paused_queues;      /* mask: stopped by pause frames; all while tx_disabled */
	uint8_t xoff_pgs;           /* mask: groups whose senders the buffer wants paused */
	uint8_t closed_queues;      /* mask: frames to these are refused: sw_closed_refuse() */
	uint8_t min_queues;         /* mask: queues with a min_rate_bps */
	uint8_t max_queues;         /* mask: queues with a max_rate_bps */
	uint8_t below_min;          /* mask, subset of min_queues, as of the last tx() */
	uint8_t above_max;          /* mask, subset of max_queues, as of the last tx() */
	uint8_t wred_queues;        /* mask: queues with a WRED curve */
	uint8_t ecn_queues;         /* mask, subset of wred_queues: WRED marks */
	uint8_t nonect_drop_queues; /* mask, subset of wred_queues: drops what it may not mark */
	/* masks: queues that decide on each frame, because they are closed or because WRED may
	 * drop it: of frames that are ECT or CE, and of others */
	uint8_t decides[2];
	/* mask, subset of wred_queues: an average, mark_accuracy or a scheme sees each frame */
	uint8_t observed_queues;
	/* mask: groups whose received frames sw_closed_ingress() decides on */
	uint8_t storm_pgs;
	bool shaped;                /* the shaper is slower than the wire */
	bool adds_int;              /* to INT headers */
	bool per_run;               /* shaped or adds_int: a run of frames has more to do */
	uint16_t int_id;            /* int_port_id() */
	struct token_bucket shaper; /* data waits for it; control frames are only charged */
	struct token_bucket wire;   /* control frames wait for it; used only while shaped */
	struct pfc_tx pfc_tx;
	uint64_t pfc_retry_ns; /* no mbuf was free for a PFC frame: retry then */
	struct sched sched;
	struct sw_queue queue[TM_CLASSES];
	struct sw_port_stats stats;
	struct sw_queue_shaper queue_shaper[TM_CLASSES];
	/* per MAC control frame */
	struct pfc_rx pfc_rx;
	uint64_t pause_source; /* MAC address that sent the last pause frame; 0: none has arrived */
	int flow_control;      /* enum sw_flow_control */
	uint8_t may_pause_pgs; /* mask: groups that may pause their senders */
	/* mask: priorities that flow_control lets the peer pause, before pfc_prios limits them */
	uint8_t pausable_prios;
	uint8_t mac[6];
	struct sw_storm_counts storm_counts[TM_CLASSES];
	/* in force, and requested */
	struct sw_port_state now;
	struct sw_port_state requested;
	bool heard; /* a frame was received while requested.link_down was set */
} __rte_aligned(LINES_APART);

/** Call it after a change of closed_queues, ecn_queues or nonect_drop_queues. */
static inline void
sw_port_set_decides(struct sw_port *p)
{
	p->decides[0] = p->closed_queues | (p->nonect_drop_queues & (uint8_t)~p->ecn_queues);
	p->decides[1] = p->closed_queues | p->nonect_drop_queues;
}

#endif
