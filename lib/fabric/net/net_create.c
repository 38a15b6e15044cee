/* SPDX-License-Identifier: BSD-3-Clause */
/* Building a net, and taking it down. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_common.h>
#include <rte_mempool.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "fabric/net/net_state.h"
#include "fabric/topology/host_list.h"
#include "node/pkt_pool.h"

#define CLONE_MBUFS 4096

static uint16_t
largest_mtu(const struct scenario *s)
{
	uint16_t mtu = 256;

	for (uint32_t i = 0; i < s->n_flows; i++)
		if (s->flows[i].mtu_bytes > mtu)
			mtu = s->flows[i].mtu_bytes;
	return mtu;
}

/*
 * Mbufs in the cache of one thread are not available to the others: add room for each further
 * thread.
 */
static struct pkt_pool_params
pool_params(const struct net *net, const char *name, uint64_t n, uint16_t largest_frame)
{
	uint64_t cached = (net->threads - 1) * PKT_POOL_CACHED_MBUFS;

	return (struct pkt_pool_params){.name = name,
					.n_mbufs = (uint32_t)(n + cached),
					.largest_frame = largest_frame,
					.socket = SOCKET_ID_ANY,
					.threads = net->threads > 1,
					.grows = true};
}

static struct rte_mempool *
plain_pool(const struct net *net, const char *name, uint64_t n, uint16_t largest_frame, bool rare)
{
	struct pkt_pool_params params = pool_params(net, name, n, largest_frame);

	params.rare = rare;
	return pkt_pool_create(&params);
}

static int
create_pools(struct net *net, char *why, unsigned int why_size)
{
	const struct scenario *s = net->scenario;
	uint16_t mtu = largest_mtu(s), frame = nic_largest_frame(mtu);
	uint64_t n = scenario_backing_frames(s);
	struct pkt_pool_params data = pool_params(net, "lab_data", n, 0);
	bool sends = s->n_streams > 0;

	for (uint32_t i = 0; i < s->n_streams; i++)
		frame = (uint16_t)RTE_MAX(frame, s->streams[i].frame_bytes);

	for (uint32_t i = 0; i < s->n_events; i++) {
		sends |= s->events[i].action == EVENT_SEND || s->events[i].action == EVENT_CORRUPT;
		for (uint32_t k = 0; k < s->events[i].send.n; k++)
			frame = (uint16_t)RTE_MAX(frame, s->events[i].send.frames[k].n_bytes);
	}
	net->data = nic_data_pool_create(&data, mtu);
	net->control = plain_pool(net, "lab_control", n, 128, false);
	net->frames = plain_pool(net, "lab_frames", CLONE_MBUFS + (sends ? n : 0), frame, !sends);
	net->clones = plain_pool(net, "lab_clones", CLONE_MBUFS, 0, true);
	net->payloads = nic_payloads_create();
	if (!net->data || !net->control || !net->frames || !net->clones || !net->payloads ||
	    (net->ranks != NULL && net_create_pool_of_ranks(net) < 0))
		return net_fail(why, why_size, "no memory for %" PRIu64 " packets", 2 * n);
	nic_payloads_mark_frames(net->payloads);
	return 0;
}

/* Number of QPs of each host, by host number. @return owned by the caller, or NULL. */
static uint32_t *
count_qps(const struct scenario *s)
{
	uint32_t *n = calloc(s->topology->n_hosts + 1, sizeof(*n));

	for (uint32_t i = 0; n != NULL && i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		for (uint32_t k = 0; k < flow->n_pairs; k++) {
			n[flow->pairs[k].src] += scenario_pair_qps(flow, k);
			n[flow->pairs[k].dst] += scenario_pair_qps(flow, k);
		}
	}
	return n;
}

static int
create_switches(struct net *net, char *why, unsigned int why_size)
{
	const struct scenario *s = net->scenario;
	struct sw_pools pools = {.frames = net->frames,
				 .clones = net->clones,
				 .mbufs = net->data->size + net->control->size + net->frames->size};
	struct sw_params *params = malloc(sizeof(*params));
	int rc = 0;

	if (params == NULL)
		return net_fail(why, why_size, "no memory");
	for (uint32_t i = 0; rc == 0 && i < s->topology->n_switches; i++) {
		if (!net_has(net, i))
			continue;
		if (scenario_switch_build(s, i, params) < 0) {
			rc = net_fail(why, why_size, "switch %s: no memory for its tables",
				      s->topology->switches[i].name);
			break;
		}
		net->switches[i] = sw_create(params, &pools);
		if (net->switches[i] == NULL)
			rc = net_fail(why, why_size, "switch %s: %s", s->topology->switches[i].name,
				      strerror(errno));
		scenario_switch_release(s, params);
	}
	free(params);
	return rc;
}

static int
create_host(struct net *net, uint32_t h, uint32_t qps, bool slow, char *why, unsigned int why_size)
{
	struct nic_pools pools = {
		.data = net->data, .control = net->control, .payloads = net->payloads};
	struct nic_params p = net_host_params(net->scenario, h);

	if (!slow)
		p.receiver.drain_rate_bps = 0;
	p.max_qps = qps > 0 ? qps : 1;
	net->hosts[h - 1] = nic_create(&p, &pools);
	if (net->hosts[h - 1] == NULL)
		return net_fail(why, why_size, "host %u: %s", h, strerror(errno));
	return 0;
}

static uint32_t
all_streams(const struct scenario *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_streams; i++)
		n += s->streams[i].n_from;
	return n;
}

/* Put testers around the NICs of the hosts that have streams. */
static int
create_testers(struct net *net, char *why, unsigned int why_size)
{
	const struct scenario *s = net->scenario;
	const struct topology *t = s->topology;

	for (uint32_t h = 1; s->n_streams > 0 && h <= t->n_hosts; h++) {
		uint32_t n = scenario_streams_of(s, h, NULL);
		struct tester_stream *streams;
		struct tester_params p;

		if (!net_has_host(net, h))
			continue;
		streams = calloc(n + 1, sizeof(*streams));
		p = (struct tester_params){
			.nic = net->hosts[h - 1],
			.frames = net->frames,
			.link_speed_bps = t->links[t->hosts[h - 1].link].cable.rate_bps,
			.streams = streams,
			.n_streams = n,
			.all_streams = all_streams(s),
			.seed = s->fabric.seed,
		};
		if (streams != NULL)
			scenario_streams_of(s, h, streams);
		if (streams != NULL && scenario_is_tester(s, h))
			net->testers[h - 1] = tester_create(&p);
		free(streams);
		if (streams == NULL || (scenario_is_tester(s, h) && net->testers[h - 1] == NULL))
			return net_fail(why, why_size, "no memory");
	}
	return 0;
}

static int
create_hosts(struct net *net, char *why, unsigned int why_size)
{
	const struct scenario *s = net->scenario;
	uint32_t slow[TOPOLOGY_MAX_HOSTS];
	int32_t n_slow = host_list_parse(s->topology, s->fabric.slow_hosts, slow), next = 0;
	uint32_t *qps = count_qps(s);
	int rc = 0;

	if (qps == NULL)
		return net_fail(why, why_size, "no memory");
	for (uint32_t h = 1; rc == 0 && h <= s->topology->n_hosts; h++) {
		bool is_slow = next < n_slow && slow[next] == h;

		next += is_slow;
		if (net_has_host(net, h))
			rc = create_host(net, h, qps[h], is_slow, why, why_size);
	}
	free(qps);
	return rc;
}

static uint32_t
end_nodes(const struct scenario *s)
{
	return scenario_has_servers(s) ? scenario_n_servers(s) : s->topology->n_hosts;
}

/*
 * Places for nodes are in the topology's order (switches, then hosts), so a node has the same
 * number in the fabric as in the topology, unless servers take the place of hosts (net_end_at()).
 */
static int
connect_all(struct net *net, char *why, unsigned int why_size)
{
	const struct topology *t = net->scenario->topology;
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < t->n_switches + end_nodes(net->scenario); i++)
		rc = fabric_add_node(net->fabric, NULL);
	for (uint32_t i = 0; rc >= 0 && i < t->n_links; i++) {
		const struct topology_link *l = &t->links[i];

		rc = fabric_connect(net->fabric, net_end_at(net, l->a), net_end_at(net, l->b),
				    &l->cable);
	}
	return rc < 0 ? net_fail(why, why_size, "the fabric does not connect: %s", strerror(-rc))
		      : 0;
}

static void
place_nodes(struct net *net)
{
	uint32_t n_switches = net->scenario->topology->n_switches;

	for (uint32_t i = 0; i < n_switches; i++)
		fabric_set_node(net->fabric, i, net->switches[i]);
	for (uint32_t i = 0; i < end_nodes(net->scenario); i++) {
		struct node *node = net->servers != NULL ? net->servers[i] : net->testers[i];

		fabric_set_node(net->fabric, n_switches + i,
				node == NULL && net->servers == NULL ? net->hosts[i] : node);
	}
}

/* Let bridges know all hosts, as if each had sent a frame. */
static int
teach_bridges(struct net *net, char *why, unsigned int why_size)
{
	const struct topology *t = net->scenario->topology;
	struct routes *routes = net->scenario->routes == NULL ? routes_create(t, NULL) : NULL;
	int rc = 0;

	if (net->scenario->routes != NULL)
		return 0;
	if (routes == NULL)
		return net_fail(why, why_size, "no memory");
	for (uint32_t sw = 0; sw < t->n_switches; sw++) {
		if (!net_has(net, sw))
			continue;
		for (uint32_t h = 1; rc == 0 && h <= t->n_hosts; h++) {
			uint16_t domain = scenario_host_domain(net->scenario, h);
			const struct topology_host *host = &t->hosts[h - 1];
			uint16_t port = t->links[host->link].b.port;
			uint8_t mac[6];

			if (host->sw != sw) {
				struct port_set ways =
					routes_ports(routes, sw, routes_subnet(routes, host->sw));

				port = port_set_next(&ways, 0);
			}
			scenario_host_mac(h, mac);
			/* A host without VLAN cannot be reached, and a routed port has no FDB. */
			if (domain >= SW_PORT_DOMAIN ||
			    (domain == 0 && net->scenario->sw.vlan_filtering))
				continue;
			if (sw_learn(net->switches[sw], domain, mac, port, 0) < 0)
				rc = net_fail(why, why_size,
					      "forwarding table of %s is full at host %u",
					      t->switches[sw].name, h);
		}
	}
	routes_destroy(routes);
	return rc;
}

/* Memory taken since the last call with this `before`, which is updated. */
static uint64_t
grown_since(uint64_t *before)
{
	uint64_t was = *before;

	*before = pages_resident_bytes();
	return sub_sat(*before, was);
}

static int
build(struct net *net, char *why, unsigned int why_size)
{
	const struct topology *t = net->scenario->topology;
	uint64_t resident;

	net->switches = calloc(t->n_switches, sizeof(struct node *));
	net->hosts = calloc(t->n_hosts, sizeof(struct node *));
	net->testers = calloc(t->n_hosts, sizeof(struct node *));
	net->flows = calloc(scenario_flow_pairs(net->scenario), sizeof(*net->flows));
	net->fabric = fabric_create(t->n_switches + t->n_hosts, t->n_links, net->threads,
				    net->scenario->fabric.seed);
	if (net->switches == NULL || net->hosts == NULL || net->testers == NULL ||
	    net->flows == NULL || net->fabric == NULL)
		return net_fail(why, why_size, "no memory");
	resident = pages_resident_bytes();
	if (connect_all(net, why, why_size) < 0)
		return -1;
	if (net_divide(net) < 0)
		return net_fail(why, why_size, "no memory");
	net->memory.cables_bytes = grown_since(&resident);
	if (create_pools(net, why, why_size) < 0)
		return -1;
	resident = pages_resident_bytes();
	if (create_switches(net, why, why_size) < 0 || teach_bridges(net, why, why_size) < 0)
		return -1;
	net->memory.switches_bytes = grown_since(&resident);
	if (create_hosts(net, why, why_size) < 0 || create_testers(net, why, why_size) < 0)
		return -1;
	if (net_create_servers(net) < 0)
		return net_fail(why, why_size, "no memory for servers");
	place_nodes(net);
	net->memory.hosts_bytes = grown_since(&resident);
	if (net_create_flows(net, why, why_size) < 0)
		return -1;
	if (net_create_after(net) < 0 || net_create_rounds(net) < 0 || net_give_turns(net) < 0 ||
	    net_set_paths(net) < 0)
		return net_fail(why, why_size, "no memory");
	net->memory.flows_bytes = grown_since(&resident);
	return 0;
}

struct net *
net_create(const struct scenario *s, uint32_t threads, struct ranks *ranks, char *why,
	   unsigned int why_size)
{
	struct net *net = calloc(1, sizeof(*net));

	if (net == NULL) {
		net_fail(why, why_size, "no memory");
		return NULL;
	}
	net->scenario = net->in_force = s;
	net->threads = threads;
	net->ranks = ranks;
	if (build(net, why, why_size) < 0) {
		net_destroy(net);
		return NULL;
	}
	return net;
}

void
net_destroy(struct net *net)
{
	if (net == NULL)
		return;
	fabric_destroy(net->fabric);
	for (uint32_t i = 0; net->switches != NULL && i < net->scenario->topology->n_switches; i++)
		if (net->switches[i] != NULL)
			sw_destroy(net->switches[i]);
	for (uint32_t i = 0; net->hosts != NULL && i < net->scenario->topology->n_hosts; i++)
		if (net->hosts[i] != NULL)
			nic_destroy(net->hosts[i]);
	for (uint32_t i = 0; net->testers != NULL && i < net->scenario->topology->n_hosts; i++)
		tester_destroy(net->testers[i]);
	net_free_servers(net);
	net_free_paths(net);
	net_free_jobs(net);
	net_free_after(net);
	net_free_rounds(net);
	free(net->messages);
	nic_payloads_destroy(net->payloads);
	pkt_pool_destroy(net->from_ranks);
	pkt_pool_destroy(net->clones);
	pkt_pool_destroy(net->frames);
	pkt_pool_destroy(net->control);
	pkt_pool_destroy(net->data);
	free(net->down);
	free(net->by_qp);
	free(net->message_bytes);
	free(net->qps_of_host);
	free(net->flows);
	free(net->testers);
	free(net->hosts);
	free(net->switches);
	free(net);
}
