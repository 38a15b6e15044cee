/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/nodes/shards.h"

#include <stdio.h>
#include <rte_common.h>

#include "runtime/run/opts.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"

int
shards_plan(struct sw_params *params, const char *path)
{
	uint16_t lcores = run_poll_lcores();
	const char *fault;

	if (params->shards > lcores) {
		say_error("%s: [switch] shards = %u: there are %u lcores to poll, and each shard "
			  "needs one (-l or --lcores: one more, the first, does control work)",
			  path, params->shards, lcores);
		return APP_BAD_USAGE;
	}
	if (params->shards == 0)
		params->shards = RTE_MIN(lcores, params->n_ports);
	fault = sw_shards_fault(params);
	if (fault == NULL)
		return 0;
	say_error("%s: with %u shards: %s", path, params->shards, fault);
	return APP_BAD_USAGE;
}

unsigned int
shards_lcore(const struct sw_params *params, uint16_t port)
{
	uint8_t shard_of_port[SW_DEVICE_PORTS];

	sw_shards_deal(params, shard_of_port);
	return run_poll_lcore(shard_of_port[port]);
}

void
shards_find(struct shards *s, struct node *sw)
{
	uint16_t n = sw_shards(sw);

	for (uint16_t i = 0; i < n; i++) {
		char text[256] = "";
		int at = 0;

		s->node[i] = sw_shard(sw, i);
		s->ports[i] = sw_shard_ports(sw, i);
		for (uint64_t p = s->ports[i]; n > 1 && p != 0; p &= p - 1)
			at += snprintf(text + at, sizeof(text) - (size_t)at, " %d",
				       __builtin_ctzll(p));
		if (n > 1)
			say("lcore %u polls %s%s", run_poll_lcore(i),
			    s->ports[i] == 0 ? "no port" : "port", text);
	}
}
