/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Change of parameters during a run, like a reload of running programs: all parameters change at
 * one instant, before anything else happens at it.
 */
#include <errno.h>
#include <stdlib.h>

#include "fabric/net/net_state.h"

/* Keep the changes that events have made to ports, but for keys that this change sets. */
static void
keep_ports(const struct node *sw, const struct sw_params *before, struct sw_params *params)
{
	for (uint16_t i = 0; i < params->n_ports; i++) {
		const struct sw_port_params *was = &before->ports[i];
		struct sw_port_params *port = &params->ports[i];

		if (port->tx_disabled == was->tx_disabled)
			port->tx_disabled = sw_tx_disabled(sw, i);
		if (port->pfc_delay_quanta == was->pfc_delay_quanta)
			port->pfc_delay_quanta = sw_pfc_delay(sw, i);
	}
}

static int
change_switch(struct net *net, const struct scenario *next, uint32_t i, struct sw_params *params,
	      uint64_t now_ns)
{
	struct node *sw = net->switches[i];
	struct sw_forwarding *forwarding = NULL;
	char why[256];
	int rc = scenario_switch_build(next, i, params);

	if (rc < 0)
		return rc;
	keep_ports(sw, scenario_switch_params(net->in_force, i), params);
	rc = sw_reload_prepare(sw, params, &forwarding, why, sizeof(why));
	if (rc == 0) {
		sw_reload(sw, params, forwarding, now_ns);
		/* A call of rx() without frames is enough for the node to serve the request. */
		sw->ops->rx(sw, 0, NULL, 0, now_ns);
		if (net_owns(net, i))
			fabric_control(net->fabric, i, now_ns);
		rc = sw_reload_settle(sw) ? 0 : -EBUSY;
	}
	scenario_switch_release(next, params);
	return rc;
}

/*
 * Rank 0 changes also its copies of the switches of others, so that these have the same pieces
 * (net_gather()).
 */
static int
change_switches(struct net *net, const struct scenario_change *change, uint64_t now_ns)
{
	struct sw_params *params = malloc(sizeof(*params));
	struct scenario next = *change->next;
	int rc = params == NULL ? -ENOMEM : 0;

	/* Keep the routes in force, which use the links that are up. */
	if (net->down != NULL)
		next.routes = scenario_routes(change->next, net->down);
	if (net->down != NULL && next.routes == NULL)
		rc = -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < next.topology->n_switches; i++)
		if (change->switches[i] && net_has(net, i))
			rc = change_switch(net, &next, i, params, now_ns);
	if (net->down != NULL)
		routes_destroy(next.routes);
	free(params);
	return rc;
}

/* Live parameters by flow_id: both scenarios have the same flows. */
static struct nic_flow_update *
live_flows(const struct net *net, const struct scenario *next)
{
	struct nic_flow_update *live = calloc(net->n_flows + 1u, sizeof(*live));
	uint32_t n = 0;

	for (uint32_t i = 0; live != NULL && i < next->n_flows; i++) {
		const struct flow_params *flow = &next->flows[i];

		for (uint32_t k = 0; k < flow->n_pairs; k++)
			live[n++] = (struct nic_flow_update){.stopped = flow->stopped,
							     .rate_cap_bps = flow->rate_cap_bps,
							     .load_bps = flow->load_bps};
	}
	return live;
}

static int
change_hosts(struct net *net, const struct scenario *next, uint64_t now_ns)
{
	const struct topology *t = net->scenario->topology;
	struct nic_reload reload = {.n_flows = net->n_flows, .flows = live_flows(net, next)};

	if (reload.flows == NULL)
		return -ENOMEM;
	for (uint32_t h = 1; h <= t->n_hosts; h++) {
		struct node *host = net->hosts[h - 1];

		if (!net_owns_host(net, h))
			continue;
		reload.params = net_host_params(next, h);
		nic_reload(host, &reload);
		while (!nic_reload_is_done(host))
			host->ops->rx(host, 0, NULL, 0, now_ns);
		net_poke_host(net, h, now_ns);
	}
	net_change_jobs(net, next, now_ns);
	free((void *)(uintptr_t)reload.flows);
	return 0;
}

int
net_change(struct net *net, const struct scenario_change *change, uint64_t now_ns)
{
	int rc = change_switches(net, change, now_ns);

	if (rc == 0 && change->hosts)
		rc = change_hosts(net, change->next, now_ns);
	if (rc == 0)
		net->in_force = change->next;
	return rc;
}
