/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measurements of a run: flow rates, queue lengths, pauses, drops.
 *
 * The bottleneck of a single switch is the data queue towards the host that most QPs send data to.
 * With several switches it is the data queue with the longest mean length. Lengths are sampled
 * every PROBE_TICK_NS (less often with more than 256 ports), so means and quantiles are weighted by
 * time. Rates are averages over the measured window.
 */
#ifndef QUENCH_FABRIC_RESULTS_PROBE_H
#define QUENCH_FABRIC_RESULTS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/events/events.h"
#include "fabric/results/pauses.h"
#include "fabric/results/slowdown.h"
#include "fabric/skip/fast_forward.h"

#define PROBE_TICK_NS 1000
/* Time between two calls of probe_messages_fn. It bounds the memory for messages. */
#define PROBE_MESSAGES_NS 50000

struct flow_result {
	const struct net_flow *flow;
	struct nic_qp_info src, dst; /* since the start; src: the end that sends data */
	uint64_t wire_rate_bps;      /* sent, measured window */
	uint64_t goodput_bps;        /* payload delivered in order, measured window */
	uint64_t messages_completed;
	bool error;
	bool silent; /* has no rows in results */
};

struct queue_result {
	uint32_t sw; /* switch number */
	uint16_t port;
	uint8_t queue;
	uint32_t link_use_ppm, rx_link_use_ppm; /* of its own rate, and of its peer's */
	uint64_t sum_bytes;                     /* over all ticks of the window */
	uint64_t mean_bytes, p50_bytes, p99_bytes, max_bytes;
	uint64_t ecn_marked_packets;
	bool watched; /* its lengths were sampled; on a single switch only the bottleneck's are */
};

/* The flows of one algorithm. */
struct cc_result {
	uint32_t flows;
	uint64_t wire_rate_bps, lowest_bps, highest_bps; /* of all; of one flow */
	uint32_t jain_ppm;                               /* over their wire rates */
};

struct run_result {
	struct flow_result *flows; /* owned; n of net_flow_count() */
	uint32_t n_flows;
	uint32_t jain_ppm;
	struct cc_result cc[CC_ALGORITHMS];
	struct queue_result bottleneck;
	struct queue_result *queues; /* owned: the data queue of each port, by switch and port */
	uint32_t n_queues;
	struct event_result *events; /* owned: one for each event of the scenario */
	uint64_t pause_frames_after_measure;
	/* end of the tick in which the last PFC frame left; NEVER_NS: none */
	uint64_t last_pause_ns;
	uint64_t frames; /* created by hosts, or by switches (pause frames) */
	uint64_t packet_hops;
	uint64_t digest; /* over simulated results only */
	struct slowdown_summary slowdown;
	struct pause_tree pause_tree;
	struct job_result *jobs; /* owned: of the scenario's jobs */
	bool has_fast_forward;
	struct fast_forward_result fast_forward;
	uint32_t n_jobs;
};

struct probe;

/** @return owned by the caller, or NULL with errno ENOMEM. net must outlive it. */
struct probe *probe_create(struct net *net);
void probe_destroy(struct probe *p);

/* One row of a time series: changes since the previous sample. */
struct flow_sample {
	uint64_t wire_rate_bps, goodput_bps;
	struct nic_qp_info src, dst; /* now, and since the start */
};

/* Called at each sample; may read net and probe. Returns false to stop the run. */
typedef bool (*probe_sample_fn)(void *arg, const struct probe *p, uint64_t now_ns);

/* Called with completed messages, as of net_recorded_messages(). */
typedef void (*probe_messages_fn)(void *arg, const struct net *net,
				  const struct nic_message *messages, uint32_t n);

/** Before the run: pass the messages that complete on. */
void probe_on_messages(struct probe *p, probe_messages_fn fn, void *arg);

/** Before the run: leave out periods of a steady net. @return 0 or -ENOMEM. */
int probe_fast_forward(struct probe *p);

/**
 * Run the whole scenario with its events. sample is called every sample_ns, progress about a
 * hundred times, report for events that do not change the net. Each may be NULL.
 * @return false if a callback stopped the run, or with errno: ENOMEM, or EAGAIN (no thread can be
 * started).
 */
bool probe_run(struct probe *p, probe_sample_fn sample, probe_sample_fn progress,
	       events_report_fn report, void *arg);
/** The events of the scenario, after probe_run(). */
const struct events *probe_events(const struct probe *p);

/** Valid only in a sample callback. */
const struct flow_sample *probe_flow_sample(const struct probe *p, uint32_t flow);
/**
 * Peak length of a sampled data queue since the previous sample; of other queues the present
 * length.
 */
uint64_t probe_queue_peak_bytes(const struct probe *p, uint32_t sw, uint16_t port, uint8_t queue);
struct net *probe_net(const struct probe *p);

/** Call it after probe_run(). @return 0 or -ENOMEM. Free with run_result_free(). */
int probe_result(const struct probe *p, struct run_result *out);
void run_result_free(struct run_result *r);

#endif
