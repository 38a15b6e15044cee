/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes that follow the links: the result to which a routing protocol would converge. All routers
 * change at one instant, so there are no transient loops; addresses and neighbours stay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/net/net_state.h"

static int
change_switch(const struct scenario *s, uint32_t i, struct node *sw, struct sw_params *params)
{
	int rc = scenario_switch_build(s, i, params);

	if (rc < 0)
		return rc;
	rc = sw_set_routes(sw, &params->tables);
	scenario_switch_release(s, params);
	return rc;
}

int
net_reroute(struct net *net, const uint8_t *down)
{
	struct scenario changed = *net->scenario;
	struct sw_params *params = malloc(sizeof(*params));
	int rc = 0;

	changed.routes = scenario_routes(net->scenario, down);
	if (net->down == NULL)
		net->down = malloc(net->scenario->topology->n_links);
	if (params == NULL || changed.routes == NULL || net->down == NULL)
		rc = -ENOMEM;
	if (net->down != NULL)
		memcpy(net->down, down, net->scenario->topology->n_links);
	for (uint32_t i = 0; rc == 0 && i < changed.topology->n_switches; i++)
		if (net_has(net, i))
			rc = change_switch(&changed, i, net->switches[i], params);
	routes_destroy(changed.routes);
	free(params);
	return rc;
}
