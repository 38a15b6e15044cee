/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of a net: their params and their ports. */
#include "fabric/net/net_state.h"
#include "fabric/topology/host_list.h"

uint64_t
net_drain_rate(const struct scenario *s, uint32_t host)
{
	uint32_t slow[TOPOLOGY_MAX_HOSTS];
	int32_t n = host_list_parse(s->topology, s->fabric.slow_hosts, slow);

	for (int32_t i = 0; i < n; i++)
		if (slow[i] == host)
			return s->nic.receiver.drain_rate_bps;
	return 0;
}

struct nic_params
net_host_params(const struct scenario *s, uint32_t host)
{
	const struct topology *t = s->topology;
	struct nic_params p = s->nic;

	scenario_host_mac(host, p.mac);
	scenario_set_nic_ip(s, host, &p);
	p.link_speed_bps = t->links[t->hosts[host - 1].link].cable.rate_bps;
	p.first_qpn = SCENARIO_FIRST_QPN;
	/* The limit of auto spares memory bandwidth, which virtual time does not have. */
	if (p.measure_times == NIC_MEASURE_AUTO)
		p.measure_times = NIC_MEASURE_ON;
	p.table_key = half_sip_key(s->fabric.seed + ((uint64_t)host << 32));
	return p;
}

void
net_poke_host(struct net *net, uint32_t host, uint64_t now_ns)
{
	const struct topology_end at = {topology_host_node(net->scenario->topology, host), 0};

	if (!net_owns_host(net, host))
		return;
	if (net->servers != NULL)
		server_wake(net->servers[scenario_server_of(net->scenario, host)],
			    scenario_nic_of(net->scenario, host));
	else if (net->testers[host - 1] != NULL)
		tester_wake(net->testers[host - 1]);
	fabric_poke(net->fabric, net_end_at(net, at).node, now_ns);
}

void
net_watch_pauses(struct net *net, struct topology_end at, struct pfc_tx_watch watch)
{
	const struct topology *t = net->scenario->topology;

	if (!net_owns(net, at.node))
		return;
	if (topology_is_switch(t, at.node))
		sw_watch_pauses(net->switches[at.node], at.port, watch);
	else
		nic_watch_pauses(net->hosts[at.node - t->n_switches], watch);
}

const struct node *
net_tester(const struct net *net, uint32_t h)
{
	return net->testers[h - 1];
}

struct net_memory
net_memory(const struct net *net)
{
	return net->memory;
}

const struct scenario *
net_in_force(const struct net *net)
{
	return net->in_force;
}

const struct scenario *
net_scenario(const struct net *net)
{
	return net->scenario;
}

uint64_t
net_skipped_ns(const struct net *net)
{
	return net->skipped_ns;
}

uint64_t
net_clock_ns(const struct net *net, uint64_t ns)
{
	return ns - net->skipped_ns;
}

struct fabric *
net_fabric(struct net *net)
{
	return net->fabric;
}

const struct node *
net_switch(const struct net *net, uint32_t i)
{
	return net->switches[i];
}

void
net_watch_drops(struct net *net, uint32_t i, struct node_drops *drops)
{
	if (net_owns(net, i))
		net->switches[i]->ops->watch_drops(net->switches[i], drops);
}

const struct node *
net_host(const struct net *net, uint32_t h)
{
	return net->hosts[h - 1];
}

uint64_t
net_cable_drops(const struct net *net, struct topology_end e, enum cable_drop why)
{
	return fabric_cable_drops(net->fabric, net_end_at(net, e), why);
}

struct cable_stats
net_cable_stats(const struct net *net, struct topology_end e)
{
	return fabric_cable_stats(net->fabric, net_end_at(net, e));
}
