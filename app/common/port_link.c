/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/port_link.h"

#include <rte_ethdev.h>

#include "base/units.h"
#include "common/ports.h"
#include "common/say.h"

bool
port_link_saw(struct port_link *link, bool up, uint64_t now_ns)
{
	bool was_down = port_link_is_down(link);

	if (was_down)
		link->down_ns += now_ns - link->looked_ns;
	link->looked_ns = now_ns;
	if (was_down == !up)
		return false;
	link->down_events += was_down ? 0 : 1;
	atomic_store_explicit(&link->down, !up, memory_order_relaxed);
	return true;
}

void
port_link_look(struct port_link *link, uint16_t ethdev, bool waits, uint64_t now_ns)
{
	struct rte_eth_link seen;

	if (rte_eth_link_get_nowait(ethdev, &seen) != 0 ||
	    !port_link_saw(link, seen.link_status != RTE_ETH_LINK_DOWN, now_ns))
		return;
	if (port_link_is_down(link))
		say_warning("%s: link is down%s", port_name(ethdev),
			    waits ? ": what is to be sent waits for it" : "");
	else
		say("%s: link is up, after %.3f s in all without", port_name(ethdev),
		    (double)link->down_ns / (double)NS_PER_SEC);
}
