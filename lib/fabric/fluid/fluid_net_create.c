/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fluid/fluid_net.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "fabric/fluid/fluid_net_state.h"
#include "fluid/fluid_law.h"

/*
 * Fraction of Pmax above which a note is printed. At half of Pmax the queue of eight flows exceeds
 * Kmax for 0.9 % of the time.
 */
#define NEAR_END_SHARE 0.5
/* Share of the queue that one cut takes, beyond which the queue is often empty (doc/lab.md). */
#define LARGE_CUT_SHARE 0.5
/*
 * Limit of the number of flows, as a multiple of most_hops. A model with a limit of hops and with
 * more flows is refused before its classes are formed.
 */
#define MOST_FLOWS_PER_HOP 64

static int
allocate(struct fluid_net *net)
{
	const struct topology *t = net->scenario->topology;
	uint32_t n = net->n_flows;

	net->flows = calloc(n, sizeof(*net->flows));
	net->params_of = calloc(n, sizeof(*net->params_of));
	net->pair_of = calloc(n, sizeof(*net->pair_of));
	net->senders = calloc(n, sizeof(*net->senders));
	net->receivers = calloc(n, sizeof(*net->receivers));
	net->n_flows_at_host = calloc(t->n_hosts + 1u, sizeof(*net->n_flows_at_host));
	net->uplink_rates_bps = calloc(t->n_hosts, sizeof(*net->uplink_rates_bps));
	net->sent_before = calloc(n, sizeof(*net->sent_before));
	net->sent_at_window = calloc(n, sizeof(*net->sent_at_window));
	return net->flows && net->params_of && net->pair_of && net->senders && net->receivers &&
			       net->n_flows_at_host && net->uplink_rates_bps && net->sent_before &&
			       net->sent_at_window
		       ? 0
		       : -ENOMEM;
}

static int
set_params(struct fluid_net *net)
{
	const struct scenario *s = net->scenario;
	struct fluid_params *p = &net->params;
	int rc = fluid_net_add_flows(net);

	if (rc < 0)
		return rc;
	p->rp = s->nic.rp;
	p->np_min_time_between_cnps_us = s->nic.np.np_min_time_between_cnps_us;
	p->n_uplinks = s->topology->n_hosts;
	p->uplink_rates_bps = net->uplink_rates_bps;
	p->queues = net->queue_params;
	p->classes = net->classes;
	p->hops = net->hops;
	net->points = calloc(p->n_classes, sizeof(*net->points));
	net->queue_points = calloc(p->n_queues, sizeof(*net->queue_points));
	net->area_at_window = calloc(p->n_queues, sizeof(*net->area_at_window));
	if (net->points == NULL || net->queue_points == NULL || net->area_at_window == NULL)
		return -ENOMEM;
	net->model = fluid_create(p);
	return net->model != NULL ? 0 : -ENOMEM;
}

/* Sums of rates over a flow's QPs, and their mean alpha. */
static struct fluid_class_point
flow_point(const struct fluid_net *net, const struct fluid_net_flow *flow)
{
	struct fluid_class_point sum = {0};

	for (uint32_t i = flow->first_part; i < flow->first_part + flow->n_parts; i++) {
		const struct fluid_class_point *point = &net->points[net->parts[i].class];

		sum.rate_bps += net->parts[i].qps * point->rate_bps;
		sum.target_rate_bps += net->parts[i].qps * point->target_rate_bps;
		sum.alpha += point->alpha * net->parts[i].qps / flow->qps;
	}
	return sum;
}

/*
 * Bytes that one cut withholds, of the flow through a queue that withholds most. A cut lowers the
 * rate by alpha / 2. Fast recovery halves the gap every T, so that the flow withholds
 * rate x alpha / 2 x 2 T in all.
 */
static double
largest_cut_bytes(const struct fluid_net *net, uint32_t queue)
{
	double seconds = net->params.rp.rp_time_reset_us / 1e6;
	double largest_bytes = 0;

	for (uint32_t c = 0; c < net->params.n_classes; c++) {
		const struct fluid_class_params *class = &net->classes[c];
		const struct fluid_class_point *point = &net->points[c];
		bool passes = false;

		for (uint32_t h = 0; h < class->n_hops; h++)
			passes |= net->hops[class->first_hop + h].queue == queue;
		if (!passes)
			continue;
		largest_bytes = fmax(largest_bytes, point->alpha * point->rate_bps / 8 * seconds);
	}
	return largest_bytes;
}

/*
 * In the packet simulation, flows are cut one by one and at random. So the queue oscillates: it
 * reaches Kmax even if its mean is far below, and is empty if one cut is a large part of it.
 */
static enum fluid_net_end
end_of(const struct fluid_net *net, uint32_t queue)
{
	const struct fluid_point *point = &net->queue_points[queue];
	const struct wred_params *wred = net->queue_params[queue].wred;

	if (point->mark <= 0)
		return FLUID_NET_ON_SLOPE;
	if (!point->interior)
		return FLUID_NET_BEYOND_SLOPE;
	if (point->mark > NEAR_END_SHARE * fluid_curve(wred).most)
		return FLUID_NET_NEAR_END;
	return largest_cut_bytes(net, queue) > LARGE_CUT_SHARE * point->queue_bytes
		       ? FLUID_NET_LARGE_CUT
		       : FLUID_NET_ON_SLOPE;
}

static int
find_points(struct fluid_net *net)
{
	if (fluid_fixed_point(&net->params, net->queue_points, net->points) < 0)
		return -ENOMEM;
	for (uint32_t q = 0; q < net->params.n_queues; q++) {
		net->queues[q].point = net->queue_points[q];
		net->queues[q].end = end_of(net, q);
		net->queues[q].has_margin = fluid_phase_margin(
			&net->params, net->queue_points, net->points, q, &net->queues[q].margin);
	}
	for (uint32_t i = 0; i < net->n_flows; i++)
		net->flows[i].point = flow_point(net, &net->flows[i]);
	return 0;
}

static int
refuse_paths(const struct fluid_net *net, int rc, struct scenario_fault *fault)
{
	snprintf(fault->section, sizeof(fault->section), "fabric");
	fault->key = "topology";
	if (rc == -ELOOP)
		snprintf(fault->expected, sizeof(fault->expected),
			 "paths of at most 64 hops, without a loop of static routes");
	else
		snprintf(fault->expected, sizeof(fault->expected),
			 "at most %u queues, summed over the paths of all classes of equal flows, "
			 "and %u flows; --fluid alone has no limit",
			 net->most_hops, MOST_FLOWS_PER_HOP * net->most_hops);
	return -ENOTSUP;
}

struct fluid_net *
fluid_net_create(const struct scenario *s, uint32_t most_hops, struct scenario_fault *fault)
{
	struct fluid_net *net;
	int rc;

	if (fluid_net_check(s, fault) < 0) {
		errno = ENOTSUP;
		return NULL;
	}
	net = calloc(1, sizeof(*net));
	if (net == NULL)
		return NULL;
	net->scenario = s;
	net->n_flows = scenario_flow_pairs(s);
	net->most_hops = most_hops;
	rc = most_hops > 0 && net->n_flows > MOST_FLOWS_PER_HOP * most_hops ? -E2BIG
									    : allocate(net);
	if (rc == 0)
		rc = set_params(net);
	if (rc == 0)
		rc = find_points(net);
	if (rc == -E2BIG || rc == -ELOOP)
		rc = refuse_paths(net, rc, fault);
	if (rc < 0) {
		fluid_net_destroy(net);
		errno = -rc;
		return NULL;
	}
	return net;
}

void
fluid_net_destroy(struct fluid_net *net)
{
	if (net == NULL)
		return;
	fluid_destroy(net->model);
	routes_destroy(net->bridge_routes);
	free(net->flows);
	free(net->params_of);
	free(net->pair_of);
	free(net->senders);
	free(net->receivers);
	free(net->n_flows_at_host);
	free(net->uplink_rates_bps);
	free(net->parts);
	free(net->classes);
	free(net->hops);
	free(net->points);
	free(net->sent_before);
	free(net->sent_at_window);
	free(net->queues);
	free(net->queue_params);
	free(net->queue_points);
	free(net->area_at_window);
	free(net);
}

uint32_t
fluid_net_flow_count(const struct fluid_net *net)
{
	return net->n_flows;
}

const struct fluid_net_flow *
fluid_net_flow(const struct fluid_net *net, uint32_t index)
{
	return &net->flows[index];
}

uint32_t
fluid_net_queue_count(const struct fluid_net *net)
{
	return net->params.n_queues;
}

const struct fluid_net_queue *
fluid_net_queue(const struct fluid_net *net, uint32_t index)
{
	return &net->queues[index];
}

uint64_t
fluid_net_step_ns(const struct fluid_net *net)
{
	return fluid_step_ns(net->model);
}
