/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fixed.h"
#include "base/hist.h"
#include "base/units.h"

struct flow_mark {
	uint64_t tx_wire_bytes, rx_payload_bytes;
};

struct probe {
	struct net *net;
	uint16_t port; /* bottleneck */
	uint8_t queue;
	bool measuring;
	struct hist queue_hist;
	uint64_t queue_sum_bytes, ticks;
	uint64_t peak_bytes;
	uint64_t window_tx_wire_bytes; /* of the bottleneck port, before the window */
	uint64_t window_pause_frames;
	uint64_t pause_frames, last_pause_ns;
	uint64_t previous_ns;            /* sample before */
	struct flow_mark *window, *last; /* per flow */
	struct flow_sample *samples;
};

static const struct scenario *
scenario_of(const struct probe *p)
{
	return net_scenario(p->net);
}

/* The port of the host that most QPs send data to, the lowest of equals. */
static uint16_t
most_wanted_port(const struct net *net)
{
	uint32_t wanted[SW_MAX_PORTS] = {0};
	uint16_t best = 0;

	for (uint32_t i = 0; i < net_flow_count(net); i++)
		wanted[net_flow_receiver(net_flow(net, i)).host - 1] += net_flow(net, i)->qps;
	for (uint16_t port = 1; port < SW_MAX_PORTS; port++)
		if (wanted[port] > wanted[best])
			best = port;
	return best;
}

struct probe *
probe_create(struct net *net)
{
	struct probe *p = calloc(1, sizeof(*p));
	uint32_t flows = net_flow_count(net);

	if (p == NULL)
		return NULL;
	p->net = net;
	p->window = calloc(flows, sizeof(*p->window));
	p->last = calloc(flows, sizeof(*p->last));
	p->samples = calloc(flows, sizeof(*p->samples));
	if (p->window == NULL || p->last == NULL || p->samples == NULL) {
		probe_destroy(p);
		errno = ENOMEM;
		return NULL;
	}
	p->port = most_wanted_port(net);
	p->queue =
		qos_map_classify(&scenario_of(p)->sw.qos, scenario_of(p)->nic.data_dscp, -1).queue;
	p->last_pause_ns = NEVER_NS;
	return p;
}

void
probe_destroy(struct probe *p)
{
	if (p == NULL)
		return;
	free(p->samples);
	free(p->last);
	free(p->window);
	free(p);
}

static uint64_t
port_tx_wire_bytes(const struct probe *p)
{
	const struct sw_port_stats *stats = sw_port_stats(net_switch(p->net), p->port);

	return stats->tx_bytes + stats->tx_packets * GAP_BYTES;
}

static uint64_t
pause_frames_sent(const struct probe *p)
{
	uint64_t n = 0;

	for (uint16_t port = 0; port < scenario_of(p)->sw.n_ports; port++)
		n += sw_port_stats(net_switch(p->net), port)->tx_pause_frames;
	return n;
}

static void
open_window(struct probe *p)
{
	p->measuring = true;
	p->window_tx_wire_bytes = port_tx_wire_bytes(p);
	p->window_pause_frames = pause_frames_sent(p);
	for (uint32_t i = 0; i < net_flow_count(p->net); i++) {
		struct nic_qp_info src, dst;

		net_flow_info(p->net, i, &src, &dst);
		p->window[i] = (struct flow_mark){src.tx_wire_bytes, dst.rx_payload_bytes};
	}
}

/* At each stop of the run; only those of equal distance have equal weight in mean and quantiles. */
static void
look(struct probe *p, uint64_t now_ns, bool weighs)
{
	uint64_t bytes = sw_queue_bytes(net_switch(p->net), p->port, p->queue);
	uint64_t pauses = pause_frames_sent(p);

	if (pauses != p->pause_frames)
		p->last_pause_ns = now_ns;
	p->pause_frames = pauses;
	if (bytes > p->peak_bytes)
		p->peak_bytes = bytes;
	if (p->measuring && weighs) {
		hist_add(&p->queue_hist, bytes, 1);
		p->queue_sum_bytes += bytes;
		p->ticks++;
	}
}

static uint64_t
bytes_to_bps(uint64_t bytes, uint64_t ns)
{
	return ns ? mul_div(bytes, 8 * NS_PER_SEC, ns) : 0;
}

static void
take_flow_samples(struct probe *p, uint64_t now_ns)
{
	uint64_t ns = now_ns - p->previous_ns;

	for (uint32_t i = 0; i < net_flow_count(p->net); i++) {
		struct nic_qp_info src, dst;

		net_flow_info(p->net, i, &src, &dst);
		p->samples[i] = (struct flow_sample){
			.wire_rate_bps =
				bytes_to_bps(src.tx_wire_bytes - p->last[i].tx_wire_bytes, ns),
			.goodput_bps = bytes_to_bps(
				dst.rx_payload_bytes - p->last[i].rx_payload_bytes, ns),
			.src = src,
			.dst = dst,
		};
		p->last[i] = (struct flow_mark){src.tx_wire_bytes, dst.rx_payload_bytes};
	}
}

static bool
take_sample(struct probe *p, probe_sample_fn sample, void *arg, uint64_t now_ns)
{
	bool go_on = true;

	if (sample != NULL) {
		take_flow_samples(p, now_ns);
		go_on = sample(arg, p, now_ns);
	}
	p->previous_ns = now_ns;
	p->peak_bytes = 0;
	return go_on;
}

/* The next time at which something has to be read: ticks, samples, both ends of the measured
 * window. */
static uint64_t
next_stop_ns(const struct probe *p, uint64_t now_ns, uint64_t next_sample_ns)
{
	const struct fabric_params *params = &scenario_of(p)->fabric;
	uint64_t tick_ns = (now_ns / PROBE_TICK_NS + 1) * PROBE_TICK_NS;
	uint64_t stop_ns = min_u64(min_u64(tick_ns, next_sample_ns), params->duration_ns);

	return p->measuring ? stop_ns : min_u64(stop_ns, params->measure_from_ns);
}

bool
probe_run(struct probe *p, probe_sample_fn sample, probe_sample_fn progress, void *arg)
{
	const struct fabric_params *params = &scenario_of(p)->fabric;
	uint64_t next_sample_ns = params->sample_ns;
	uint64_t progress_step_ns = params->duration_ns / 100 + 1;
	uint64_t next_progress_ns = progress_step_ns;

	if (params->measure_from_ns == 0)
		open_window(p);
	for (uint64_t now = 0; now < params->duration_ns;) {
		now = next_stop_ns(p, now, next_sample_ns);
		fabric_run(net_fabric(p->net), now);
		look(p, now, now % PROBE_TICK_NS == 0 || now == params->duration_ns);
		if (now == params->measure_from_ns)
			open_window(p);
		if (now == next_sample_ns || now == params->duration_ns) {
			if (!take_sample(p, sample, arg, now))
				return false;
			next_sample_ns = now + params->sample_ns;
		}
		if (progress != NULL && (now >= next_progress_ns || now == params->duration_ns)) {
			if (!progress(arg, p, now))
				return false;
			next_progress_ns = now + progress_step_ns;
		}
	}
	return true;
}

const struct flow_sample *
probe_flow_sample(const struct probe *p, uint32_t flow)
{
	return &p->samples[flow];
}

uint64_t
probe_bottleneck_peak_bytes(const struct probe *p)
{
	return p->peak_bytes;
}

void
probe_bottleneck(const struct probe *p, uint16_t *port, uint8_t *queue)
{
	*port = p->port;
	*queue = p->queue;
}

struct net *
probe_net(const struct probe *p)
{
	return p->net;
}

/*
 * Jain, Chiu, Hawe 1984: (sum x)^2 / (n sum x^2). All hosts together send less than 2^46 bit/s,
 * whose square times 10^6 has 112 bits, and so has the product of the squares with 2^18 flows at
 * the most.
 */
static uint32_t
jain_ppm(const struct flow_result *flows, uint32_t n)
{
	unsigned __int128 sum = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += flows[i].wire_rate_bps;
		squares += (unsigned __int128)flows[i].wire_rate_bps * flows[i].wire_rate_bps;
	}
	if (squares == 0)
		return 0;
	return (uint32_t)(sum * sum * 1000000 / (squares * n));
}

/* The requester knows; of UD only the receiver does. */
static uint64_t
messages_completed(const struct flow_result *r)
{
	switch (r->flow->params->verb) {
	case NIC_READ:
		return r->dst.tx_messages;
	case NIC_UD_SEND:
		return r->dst.rx_messages;
	default:
		return r->src.tx_messages;
	}
}

static void
flow_results(const struct probe *p, struct run_result *out, uint64_t window_ns)
{
	for (uint32_t i = 0; i < out->n_flows; i++) {
		struct flow_result *r = &out->flows[i];

		net_flow_info(p->net, i, &r->src, &r->dst);
		r->flow = net_flow(p->net, i);
		r->wire_rate_bps =
			bytes_to_bps(r->src.tx_wire_bytes - p->window[i].tx_wire_bytes, window_ns);
		r->goodput_bps = bytes_to_bps(
			r->dst.rx_payload_bytes - p->window[i].rx_payload_bytes, window_ns);
		r->messages_completed = messages_completed(r);
		r->error = r->src.error || r->dst.error;
	}
}

static struct queue_result
queue_result(const struct probe *p, uint64_t window_ns)
{
	uint64_t capacity =
		mul_div(scenario_of(p)->fabric.link_rate_bps, window_ns, 8 * NS_PER_SEC);
	uint64_t sent = port_tx_wire_bytes(p) - p->window_tx_wire_bytes;

	return (struct queue_result){
		.port = p->port,
		.queue = p->queue,
		.link_use_ppm = capacity ? (uint32_t)mul_div(sent, 1000000, capacity) : 0,
		.mean_bytes = p->ticks ? p->queue_sum_bytes / p->ticks : 0,
		.p50_bytes = hist_quantile(&p->queue_hist, 50),
		.p99_bytes = hist_quantile(&p->queue_hist, 99),
		.max_bytes = p->queue_hist.max,
		.ecn_marked_packets = sw_port_stats(net_switch(p->net), p->port)
					      ->queue[p->queue]
					      .ecn_marked_packets,
	};
}

/* FNV-1a over the integers of the results, on top of the hop-by-hop digest. */
static uint64_t
digest_bytes(uint64_t digest, const void *data, size_t n)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < n; i++)
		digest = (digest ^ bytes[i]) * 0x100000001b3ull;
	return digest;
}

static uint64_t
digest_u64(uint64_t digest, uint64_t value)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	return digest_bytes(digest, bytes, sizeof(bytes));
}

static uint64_t
digest_qp(uint64_t d, const struct nic_qp_info *q)
{
	const uint64_t values[] = {
		q->rate_bps,      q->target_rate_bps,
		q->alpha_q32,     q->tx_wire_bytes,
		q->tx_packets,    q->retransmitted_packets,
		q->tx_messages,   q->rx_payload_bytes,
		q->rx_messages,   q->rx_packets,
		q->rx_wire_bytes, q->cnps_handled,
		q->cnps_sent,     q->rate_cuts,
		q->min_rate_bps,  q->error,
		q->done,
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		d = digest_u64(d, values[i]);
	return d;
}

static uint64_t
digest_ports(const struct probe *p, uint64_t d)
{
	for (uint16_t port = 0; port < scenario_of(p)->sw.n_ports; port++) {
		const struct sw_port_stats *s = sw_port_stats(net_switch(p->net), port);

		d = digest_u64(d, s->rx_bytes);
		d = digest_u64(d, s->tx_bytes);
		d = digest_u64(d, s->tx_pause_frames);
		/* By name and only what happened: a reason that is new changes no old digest. */
		for (unsigned int i = 0; i < SW_DROPS; i++) {
			const char *name = sw_drop_name((enum sw_drop)i);

			if (s->drops[i] != 0)
				d = digest_u64(digest_bytes(d, name, strlen(name)), s->drops[i]);
		}
		for (unsigned int q = 0; q < TM_CLASSES; q++)
			d = digest_u64(d, s->queue[q].ecn_marked_packets);
	}
	return d;
}

static uint64_t
digest_of(const struct probe *p, const struct run_result *r)
{
	uint64_t d = fabric_stats(net_fabric(p->net))->digest;

	for (uint32_t i = 0; i < r->n_flows; i++)
		d = digest_qp(digest_qp(d, &r->flows[i].src), &r->flows[i].dst);
	d = digest_ports(p, d);
	d = digest_u64(d, p->queue_sum_bytes);
	d = digest_u64(d, r->bottleneck.p99_bytes);
	return digest_u64(d, r->packet_hops);
}

/* Frames that came to be: what hosts sent, and what the switch sent beyond what it got. */
static uint64_t
frames_made(const struct probe *p)
{
	uint64_t n = pause_frames_sent(p);

	for (uint16_t h = 1; h <= scenario_of(p)->fabric.hosts; h++)
		n += nic_stats(net_host(p->net, h))->tx_packets;
	return n;
}

int
probe_result(const struct probe *p, struct run_result *out)
{
	const struct fabric_params *params = &scenario_of(p)->fabric;
	uint64_t window_ns = params->duration_ns - params->measure_from_ns;

	*out = (struct run_result){.n_flows = net_flow_count(p->net)};
	out->flows = calloc(out->n_flows, sizeof(*out->flows));
	if (out->flows == NULL)
		return -ENOMEM;
	flow_results(p, out, window_ns);
	out->jain_ppm = jain_ppm(out->flows, out->n_flows);
	out->bottleneck = queue_result(p, window_ns);
	out->pause_frames_after_measure = pause_frames_sent(p) - p->window_pause_frames;
	out->last_pause_ns = p->last_pause_ns;
	out->frames = frames_made(p);
	out->packet_hops = fabric_stats(net_fabric(p->net))->packet_hops;
	out->digest = digest_of(p, out);
	return 0;
}

void
run_result_free(struct run_result *r)
{
	free(r->flows);
	r->flows = NULL;
}
