/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/results/ways.h"

#include <assert.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "fabric/scenario/scenario_path.h"
#include "wire/roce/roce.h"

static_assert(WAYS_MOST_ENDS > PATH_MAX_HOPS, "the host and a port of each switch");

struct ways {
	const struct net *net;
	struct topology_end *ends; /* of all QPs: the sender, then a port for each switch */
	uint32_t n, room;
	uint32_t *first; /* by QP, of all flows in order: index in ends */
	uint32_t *qp;    /* by flow: its first QP */
};

static bool
add(struct ways *w, struct topology_end end)
{
	if (w->n == w->room) {
		uint32_t room = w->room == 0 ? 1024 : 2 * w->room;
		struct topology_end *more = realloc(w->ends, room * sizeof(*more));

		if (more == NULL)
			return false;
		w->ends = more;
		w->room = room;
	}
	w->ends[w->n++] = end;
	return true;
}

static bool
add_path(struct ways *w, const struct routes *routes, const struct net_flow *flow, uint32_t qp)
{
	const struct scenario *s = net_scenario(w->net);
	uint16_t udp_sport = roce_udp_sport(roce_flow_label(
		SCENARIO_FIRST_QPN + flow->src_qp + qp, SCENARIO_FIRST_QPN + flow->dst_qp + qp));
	uint32_t from = net_flow_sender(flow).host, to = net_flow_receiver(flow).host;
	struct path_hop hops[PATH_MAX_HOPS];
	int n = path_find(s, routes, from, to, udp_sport, hops);
	bool ok = add(w, (struct topology_end){topology_host_node(s->topology, from), 0});

	for (int i = 0; ok && i < n; i++)
		ok = add(w, (struct topology_end){hops[i].sw, hops[i].port});
	return ok;
}

static bool
fill(struct ways *w, const struct routes *routes)
{
	uint32_t qps = 0;

	for (uint32_t i = 0; i < net_flow_count(w->net); i++) {
		const struct net_flow *flow = net_flow(w->net, i);

		w->qp[i] = qps;
		for (uint32_t k = 0; k < flow->qps; k++) {
			w->first[qps++] = w->n;
			if (!add_path(w, routes, flow, k))
				return false;
		}
	}
	w->qp[net_flow_count(w->net)] = qps;
	w->first[qps] = w->n;
	return true;
}

struct ways *
ways_create(const struct net *net)
{
	const struct scenario *s = net_scenario(net);
	struct routes *own = NULL;
	struct ways *w;
	uint64_t qps = 0;
	bool ok;

	for (uint32_t i = 0; i < net_flow_count(net); i++)
		qps += net_flow(net, i)->qps;
	if (qps > WAYS_MOST_QPS)
		return NULL;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->net = net;
	w->first = malloc((qps + 1) * sizeof(*w->first));
	w->qp = malloc((net_flow_count(net) + 1ull) * sizeof(*w->qp));
	if (s->routes == NULL)
		own = routes_create(s->topology, NULL);
	ok = w->first != NULL && w->qp != NULL && (own != NULL || s->routes != NULL) &&
	     fill(w, own != NULL ? own : s->routes);
	routes_destroy(own);
	if (ok)
		return w;
	ways_destroy(w);
	return NULL;
}

void
ways_destroy(struct ways *w)
{
	if (w == NULL)
		return;
	free(w->ends);
	free(w->first);
	free(w->qp);
	free(w);
}

uint32_t
ways_through(const struct ways *w, uint32_t flow, struct topology_end end)
{
	uint32_t n = 0;

	for (uint32_t qp = w->qp[flow]; qp < w->qp[flow + 1]; qp++)
		for (uint32_t i = w->first[qp]; i < w->first[qp + 1]; i++)
			if (w->ends[i].node == end.node && w->ends[i].port == end.port) {
				n++;
				break;
			}
	return n;
}

uint32_t
ways_ends(const struct ways *w, uint32_t flow, uint32_t qp, const struct topology_end **ends)
{
	uint32_t at = w->qp[flow] + qp;

	*ends = &w->ends[w->first[at]];
	return w->first[at + 1] - w->first[at];
}

bool
ways_obeys(const struct ways *w, uint32_t flow, uint8_t prio)
{
	const struct scenario *s = net_scenario(w->net);
	int dscp = net_flow(w->net, flow)->params->dscp;

	return s->nic.flow_control == NIC_FLOW_PAUSE ||
	       qos_map_classify(&s->nic.qos, dscp >= 0 ? dscp : s->nic.data_dscp, -1).pg == prio;
}

/* Keep the list in falling order. */
static uint32_t
insert(struct way_share *list, uint32_t n, uint32_t most, struct way_share share)
{
	uint32_t at = n;

	for (; at > 0 && list[at - 1].ppm < share.ppm; at--)
		if (at < most)
			list[at] = list[at - 1];
	if (at < most)
		list[at] = share;
	return n < most ? n + 1 : n;
}

uint32_t
ways_shares(const struct ways *w, struct topology_end end, struct way_share *out, uint32_t most)
{
	uint64_t sum = 0;
	uint32_t n = 0;

	for (unsigned int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < net_flow_count(w->net); i++) {
			const struct net_flow *flow = net_flow(w->net, i);
			uint32_t qps = ways_through(w, i, end);
			struct nic_qp_info at_sender, at_receiver;
			uint64_t bytes;

			if (qps == 0)
				continue;
			net_flow_info(w->net, i, &at_sender, &at_receiver);
			bytes = mul_div(at_sender.tx_wire_bytes, qps, flow->qps);
			if (pass == 0)
				sum += bytes;
			else if (bytes > 0)
				n = insert(out, n, most,
					   (struct way_share){
						   i, (uint32_t)mul_div(bytes, 1000000, sum)});
		}
	return n;
}
