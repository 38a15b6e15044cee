/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/port_link.h"

#include <rte_ethdev.h>

#include "base/numbers/units.h"
#include "runtime/device/device_args.h"
#include "runtime/device/kernel_interface.h"
#include "runtime/device/port_device.h"
#include "runtime/notice/say.h"

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

/* net_af_packet (DPDK 22.11) always reports a link, so ask the kernel. */
static bool
kernel_knows_better(struct port_link *link, uint16_t ethdev, bool *up)
{
	char name[IF_NAMESIZE];

	if (!kernel_interface_name(ethdev, name))
		return false;
	atomic_store_explicit(&link->most_bytes, kernel_interface_most_bytes(ethdev, name),
			      memory_order_relaxed);
	return kernel_interface_running(name, up);
}

static void
limit_memif(struct port_link *link, uint16_t ethdev)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(ethdev, &info) == 0)
		atomic_store_explicit(&link->most_bytes, device_memif_frame(&info),
				      memory_order_relaxed);
}

/* @return 0, or -errno: the device cannot tell. */
static int
ask(struct port_link *link, uint16_t ethdev, bool *up)
{
	struct rte_eth_link seen;
	int rc;

	if (kernel_knows_better(link, ethdev, up))
		return 0;
	limit_memif(link, ethdev);
	rc = rte_eth_link_get_nowait(ethdev, &seen);
	*up = seen.link_status != RTE_ETH_LINK_DOWN;
	return rc;
}

void
port_link_look(struct port_link *link, uint16_t port, uint16_t ethdev, bool waits, uint64_t now_ns)
{
	bool up;

	if (ask(link, ethdev, &up) != 0 || !port_link_saw(link, up, now_ns))
		return;
	if (port_link_is_down(link))
		say_event(true, "link_down", "port %s (%s): link is down%s; port=%u device=%s",
			  port_word(ethdev, port), port_name(ethdev),
			  waits ? ": frames to send wait for it" : "", port, port_name(ethdev));
	else
		say_event(false, "link_up",
			  "port %s (%s): link is up, after %.3f s down in all; port=%u device=%s",
			  port_word(ethdev, port), port_name(ethdev),
			  (double)link->down_ns / (double)NS_PER_SEC, port, port_name(ethdev));
}
