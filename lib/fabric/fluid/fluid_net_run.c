/* SPDX-License-Identifier: BSD-3-Clause */
/* Running the model: samples, and statistics of the measured window. */
#include <math.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "fabric/fluid/fluid_net_state.h"

/* Interval between readings for a queue's minimum and maximum. */
#define EXTREMES_NS (10 * NS_PER_US)

/* Sums of rates and bytes over a flow's QPs, and their mean alpha. */
static struct fluid_qp
flow_now(const struct fluid_net *net, uint32_t index)
{
	const struct fluid_net_flow *flow = &net->flows[index];
	struct fluid_qp sum = {0};

	for (uint32_t i = flow->first_part; i < flow->first_part + flow->n_parts; i++) {
		struct fluid_qp qp = fluid_qp(net->model, net->parts[i].class);
		double qps = net->parts[i].qps;

		sum.rate_bps += qps * qp.rate_bps;
		sum.target_rate_bps += qps * qp.target_rate_bps;
		sum.sent_bytes += qps * qp.sent_bytes;
		sum.alpha += qp.alpha * qps / flow->qps;
	}
	return sum;
}

static void
open_window(struct fluid_net *net)
{
	for (uint32_t i = 0; i < net->n_flows; i++) {
		net->sent_at_window[i] = flow_now(net, i).sent_bytes;
		net->flows[i].min_rate_bps = INFINITY;
		net->flows[i].max_rate_bps = 0;
	}
	for (uint32_t q = 0; q < net->params.n_queues; q++) {
		net->area_at_window[q] = fluid_queue(net->model, q).byte_seconds;
		net->queues[q].min_bytes = INFINITY;
		net->queues[q].max_bytes = 0;
	}
}

static void
look(struct fluid_net *net)
{
	for (uint32_t q = 0; q < net->params.n_queues; q++) {
		struct fluid_net_queue *queue = &net->queues[q];
		double bytes = fluid_queue(net->model, q).bytes;

		queue->min_bytes = fmin(queue->min_bytes, bytes);
		queue->max_bytes = fmax(queue->max_bytes, bytes);
	}
}

static void
take_sample(struct fluid_net *net)
{
	uint64_t now_ns = fluid_now_ns(net->model);
	double seconds = (double)(now_ns - net->previous_ns) / 1e9;

	for (uint32_t i = 0; i < net->n_flows; i++) {
		struct fluid_net_flow *flow = &net->flows[i];

		flow->now = flow_now(net, i);
		if (seconds > 0)
			flow->wire_rate_bps =
				8 * (flow->now.sent_bytes - net->sent_before[i]) / seconds;
		net->sent_before[i] = flow->now.sent_bytes;
		flow->min_rate_bps = fmin(flow->min_rate_bps, flow->wire_rate_bps);
		flow->max_rate_bps = fmax(flow->max_rate_bps, flow->wire_rate_bps);
	}
	for (uint32_t q = 0; q < net->params.n_queues; q++) {
		struct fluid_queue now = fluid_queue(net->model, q);

		net->queues[q].bytes = now.bytes;
		net->queues[q].mark = now.mark;
	}
	net->previous_ns = now_ns;
}

static void
close_window(struct fluid_net *net, uint64_t from_ns)
{
	double seconds = (double)(fluid_now_ns(net->model) - from_ns) / 1e9;

	for (uint32_t i = 0; i < net->n_flows; i++) {
		double bytes = flow_now(net, i).sent_bytes - net->sent_at_window[i];

		net->flows[i].mean_rate_bps = seconds > 0 ? 8 * bytes / seconds : 0;
	}
	for (uint32_t q = 0; q < net->params.n_queues; q++) {
		double area = fluid_queue(net->model, q).byte_seconds - net->area_at_window[q];

		net->queues[q].mean_bytes = seconds > 0 ? area / seconds : 0;
	}
}

bool
fluid_net_run(struct fluid_net *net, uint64_t end_ns, fluid_net_sample_fn sample, void *arg)
{
	const struct fabric_params *p = &net->scenario->fabric;
	uint64_t next_sample_ns = p->sample_ns, window_ns = 0;
	bool measuring = false;

	for (uint64_t now = 0; now < end_ns;) {
		uint64_t stop = min_u64(min_u64(now + EXTREMES_NS, next_sample_ns), end_ns);

		if (!measuring && now >= p->measure_from_ns) {
			measuring = true;
			window_ns = fluid_now_ns(net->model);
			open_window(net);
		}
		now = measuring ? stop : min_u64(stop, p->measure_from_ns);
		fluid_run(net->model, now);
		if (measuring)
			look(net);
		if (now == next_sample_ns || now == end_ns) {
			take_sample(net);
			if (sample != NULL && !sample(arg, net, now))
				return false;
			next_sample_ns = now + p->sample_ns;
		}
	}
	close_window(net, window_ns);
	return true;
}
