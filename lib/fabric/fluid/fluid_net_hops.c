/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues and delays on a flow's path. */
#include <errno.h>
#include <stdlib.h>

#include "fabric/scenario/scenario_path.h"
#include "fabric/fluid/fluid_net_state.h"

void *
fluid_net_grow(void *array, uint32_t n, size_t item_bytes)
{
	/* The array has room for the next power of two, so it grows only when n is one. */
	if ((n & (n - 1)) != 0)
		return array;
	return realloc(array, (n == 0 ? 1 : 2 * (size_t)n) * item_bytes);
}

/* Time of these bytes over a cable: serialization and propagation. */
static uint64_t
over_ns(const struct fabric_cable *cable, double bytes)
{
	return (uint64_t)(bytes * 8e9 / (double)cable->rate_bps) + cable->delay_ns;
}

static const struct fabric_cable *
cable_of(const struct topology *t, const struct path_hop *hop)
{
	return &t->links[t->switches[hop->sw].link[hop->port]].cable;
}

static const struct fabric_cable *
uplink_of(const struct topology *t, uint32_t host)
{
	return &t->links[t->hosts[host - 1].link].cable;
}

/* Number of the queue, which is added if new; or -ENOMEM. */
static int64_t
queue_at(struct fluid_net *net, const struct path_hop *hop, const struct flow_params *flow)
{
	const struct scenario *s = net->scenario;
	const struct sw_params *sw = scenario_switch_params(s, hop->sw);
	uint32_t n = net->params.n_queues;
	struct fluid_queue_params *params;
	struct fluid_net_queue *queues;

	for (uint32_t i = 0; i < n; i++)
		if (net->queues[i].sw == hop->sw && net->queues[i].port == hop->port)
			return i;
	queues = fluid_net_grow(net->queues, n, sizeof(*queues));
	if (queues == NULL)
		return -ENOMEM;
	net->queues = queues;
	params = fluid_net_grow(net->queue_params, n, sizeof(*params));
	if (params == NULL)
		return -ENOMEM;
	net->queue_params = params;
	queues[n] = (struct fluid_net_queue){
		.sw = hop->sw, .port = hop->port, .queue = fluid_net_queue_of(s, sw, flow)};
	params[n] = (struct fluid_queue_params){
		.link_rate_bps = cable_of(s->topology, hop)->rate_bps,
		.wred = &sw->wred,
		.mark_at_enqueue = sw->mark_at == SW_MARK_AT_ENQUEUE,
	};
	return net->params.n_queues++;
}

static int
add_hop(struct fluid_net *net, const struct path_hop *at, const struct flow_params *flow)
{
	struct fluid_hop *hops;
	int64_t queue;

	if (net->most_hops > 0 && net->params.n_hops >= net->most_hops)
		return -E2BIG;
	queue = queue_at(net, at, flow);
	hops = fluid_net_grow(net->hops, net->params.n_hops, sizeof(*hops));
	if (hops != NULL)
		net->hops = hops;
	if (hops == NULL || queue < 0)
		return -ENOMEM;
	net->hops[net->params.n_hops++] = (struct fluid_hop){.queue = (uint32_t)queue};
	return 0;
}

/* Delay from the receiver's NIC until the sender's next packet is in its first queue. */
static int64_t
return_path_ns(const struct fluid_net *net, const struct routes *routes,
	       const struct fluid_net_ends *ends, double packet_bytes)
{
	const struct topology *t = net->scenario->topology;
	struct path_hop back[PATH_MAX_HOPS];
	int n = path_find(net->scenario, routes, ends->receiver, ends->sender, ends->udp_sport,
			  back);
	uint64_t ns = net->scenario->nic.np.np_cnp_delay_ns +
		      over_ns(uplink_of(t, ends->receiver), CNP_WIRE_BYTES) +
		      over_ns(uplink_of(t, ends->sender), packet_bytes);

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		ns += over_ns(cable_of(t, &back[i]), CNP_WIRE_BYTES);
	return (int64_t)ns;
}

static const struct routes *
routes_of(struct fluid_net *net)
{
	if (net->scenario->routes != NULL)
		return net->scenario->routes;
	if (net->bridge_routes == NULL)
		net->bridge_routes = routes_create(net->scenario->topology, NULL);
	return net->bridge_routes;
}

int
fluid_net_add_path(struct fluid_net *net, struct fluid_class_params *class,
		   const struct fluid_net_ends *ends)
{
	const struct topology *t = net->scenario->topology;
	const struct routes *routes = routes_of(net);
	struct path_hop way[PATH_MAX_HOPS];
	int64_t loop_ns;
	int n, rc = 0;

	if (routes == NULL)
		return -ENOMEM;
	n = path_find(net->scenario, routes, ends->sender, ends->receiver, ends->udp_sport, way);
	loop_ns = return_path_ns(net, routes, ends, class->wire_bytes);
	if (n < 0 || loop_ns < 0)
		return n < 0 ? n : (int)loop_ns;
	class->first_hop = net->params.n_hops;
	class->n_hops = (uint32_t)n;
	for (int i = 0; rc == 0 && i < n; i++)
		rc = add_hop(net, &way[i], ends->params);
	for (int i = n; rc == 0 && i-- > 0;) {
		struct fluid_hop *hop = &net->hops[class->first_hop + (uint32_t)i];
		uint64_t over = over_ns(cable_of(t, &way[i]), class->wire_bytes);

		loop_ns += (int64_t)over;
		hop->loop_delay_ns = (uint64_t)loop_ns;
		if (i + 1 < n)
			hop[1].from_last_ns = over;
	}
	return rc;
}

bool
fluid_net_same_path(const struct fluid_net *net, const struct fluid_class_params *a,
		    const struct fluid_class_params *b)
{
	if (a->n_hops != b->n_hops)
		return false;
	for (uint32_t i = 0; i < a->n_hops; i++) {
		const struct fluid_hop *x = &net->hops[a->first_hop + i];
		const struct fluid_hop *y = &net->hops[b->first_hop + i];

		if (x->queue != y->queue || x->from_last_ns != y->from_last_ns ||
		    x->loop_delay_ns != y->loop_delay_ns)
			return false;
	}
	return true;
}
