/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers: several hosts of the scenario as one node of the fabric. */
#include <errno.h>
#include <stdlib.h>

#include "fabric/net/net_state.h"

struct fabric_end
net_end_at(const struct net *net, struct topology_end at)
{
	return end_at(net->scenario, at);
}

const struct node *
net_server(const struct net *net, uint32_t server)
{
	return net->servers == NULL ? NULL : net->servers[server];
}

/* What the ranks of all jobs need on each server. */
static void
count_ranks(const struct scenario *s, struct server_params *params)
{
	for (uint32_t i = 0; i < s->n_jobs; i++) {
		const struct job_section *job = &s->jobs[i];

		for (uint32_t rank = 0; rank < job->graph.n_ranks; rank++) {
			struct server_params *p = &params[scenario_server_of(s, job->hosts[rank])];
			const struct job_rank *r = &job->graph.ranks[rank];

			p->n_ranks++;
			/* A rank begins an iteration when all its messages have ended. */
			for (uint32_t k = 0; k < r->n_peers; k++)
				if (scenario_is_inside(s, job, rank, r->peers[k].rank))
					p->n_messages += r->peers[k].n_sends;
		}
	}
}

static struct node *
create_server(const struct net *net, uint32_t number, struct server_params *params)
{
	const struct scenario *s = net->scenario;
	struct server_nic nics[SCENARIO_MAX_NICS];

	params->nics = nics;
	params->n_nics = s->fabric.nics_per_server;
	params->rate_bps = s->fabric.server_rate_bps;
	params->delay_ns = s->fabric.server_delay_ns;
	params->seed = s->fabric.seed + ((uint64_t)number << 32);
	for (uint16_t i = 0; i < params->n_nics; i++) {
		uint32_t host = number * s->fabric.nics_per_server + i;

		nics[i].nic = net->hosts[host];
		nics[i].node = net->testers[host] != NULL ? net->testers[host] : net->hosts[host];
	}
	return server_create(params);
}

int
net_create_servers(struct net *net)
{
	const struct scenario *s = net->scenario;
	uint32_t n = scenario_n_servers(s);
	struct server_params *params;
	int rc = 0;

	if (!scenario_has_servers(s))
		return 0;
	params = calloc(n, sizeof(*params));
	net->servers = calloc(n, sizeof(struct node *));
	if (params == NULL || net->servers == NULL)
		rc = -ENOMEM;
	else
		count_ranks(s, params);
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		if (!net_has_host(net, i * s->fabric.nics_per_server + 1))
			continue;
		net->servers[i] = create_server(net, i, &params[i]);
		rc = net->servers[i] == NULL ? -ENOMEM : 0;
	}
	free(params);
	return rc;
}

void
net_free_servers(struct net *net)
{
	for (uint32_t i = 0; net->servers != NULL && i < scenario_n_servers(net->scenario); i++)
		server_destroy(net->servers[i]);
	free(net->servers);
}
