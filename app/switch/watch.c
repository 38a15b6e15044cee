/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/watch.h"

#include <rte_ethdev.h>

#include "common/run.h"
#include "common/say.h"
#include "switch/sw.h"
#include "switch/sw_event.h"

void
switch_watch(const struct run_app *app, uint64_t now_ns)
{
	struct sw_event event;
	char text[128];

	for (uint16_t port = 0; port < app->n_ports; port++) {
		struct rte_eth_link link;

		/* A device that cannot tell counts as up. */
		if (rte_eth_link_get_nowait(app->ethdevs[port], &link) == 0)
			sw_set_link(app->node, port, link.link_status == RTE_ETH_LINK_UP, now_ns);
	}
	while (sw_event_next(app->node, &event)) {
		sw_event_text(&event, text, sizeof(text));
		say("%s", text);
	}
}
