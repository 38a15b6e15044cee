/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run showed: rates of the flows, the queue at the bottleneck, pauses, drops.
 *
 * The bottleneck of one switch is the queue of data towards the host that most QPs send data to. Of
 * several switches it is the queue of data that was longest in the mean. Lengths are read every
 * PROBE_TICK_NS (or some of these, where there are more than 256 ports), so mean and quantiles are
 * weighted by time; rates are taken over the measured window.
 */
#ifndef QUENCH_FABRIC_RESULTS_PROBE_H
#define QUENCH_FABRIC_RESULTS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/events/events.h"

#define PROBE_TICK_NS 1000

struct flow_result {
	const struct net_flow *flow;
	struct nic_qp_info src,
		dst;            /* since the start: the end that sends the data, and the other */
	uint64_t wire_rate_bps; /* sent, measured window */
	uint64_t goodput_bps;   /* payload delivered in order, measured window */
	uint64_t messages_completed;
	bool error;
};

struct queue_result {
	uint32_t sw; /* number of the switch */
	uint16_t port;
	uint8_t queue;
	uint32_t link_use_ppm, rx_link_use_ppm; /* of what it can send, and of what its peer can */
	uint64_t sum_bytes;                     /* over all ticks of the window */
	uint64_t mean_bytes, p50_bytes, p99_bytes, max_bytes;
	uint64_t ecn_marked_packets;
	bool watched; /* its lengths were read; with one switch those of the bottleneck only */
};

struct run_result {
	struct flow_result *flows; /* owned; n of net_flow_count() */
	uint32_t n_flows;
	uint32_t jain_ppm;
	struct queue_result bottleneck;
	struct queue_result *queues; /* owned: the queue of data of each port, by switch and port */
	uint32_t n_queues;
	struct event_result *events; /* owned: of each event of the scenario */
	uint64_t pause_frames_after_measure;
	uint64_t last_pause_ns; /* end of the tick in which the last PFC frame left; NEVER_NS: none
				 */
	uint64_t frames;        /* made by hosts, or by the switch (PFC) */
	uint64_t packet_hops;
	uint64_t digest; /* over simulated results only */
};

struct probe;

/** @return owned by the caller, or NULL with errno ENOMEM. net outlives it. */
struct probe *probe_create(struct net *net);
void probe_destroy(struct probe *p);

/* One row of a time series, since the sample before. */
struct flow_sample {
	uint64_t wire_rate_bps, goodput_bps;
	struct nic_qp_info src, dst; /* now, and since the start */
};

/* Called at each sample: read what it wants from net and probe. false stops the run. */
typedef bool (*probe_sample_fn)(void *arg, const struct probe *p, uint64_t now_ns);

/**
 * Run the whole scenario and its events. sample is called every sample_ns, progress about a hundred
 * times, report for events that are not about the net. Each may be NULL. @return false when a
 * callback stopped the run, or memory ran out.
 */
bool probe_run(struct probe *p, probe_sample_fn sample, probe_sample_fn progress,
	       events_report_fn report, void *arg);
/** Those of the scenario, after probe_run(). */
const struct events *probe_events(const struct probe *p);

/** Valid inside a sample callback. */
const struct flow_sample *probe_flow_sample(const struct probe *p, uint32_t flow);
/** Highest length since the sample before, at ticks, of a queue of data that is watched; of others
 * the length now. */
uint64_t probe_queue_peak_bytes(const struct probe *p, uint32_t sw, uint16_t port, uint8_t queue);
struct net *probe_net(const struct probe *p);

/** After probe_run(). @return 0 or -ENOMEM. Free with run_result_free(). */
int probe_result(const struct probe *p, struct run_result *out);
void run_result_free(struct run_result *r);

#endif
