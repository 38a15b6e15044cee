/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/poll/port_queues.h"

#include <errno.h>
#include <string.h>
#include <rte_ethdev.h>

#include "runtime/device/port_device.h"

/*
 * True for virtual devices, and for virtio, whose queues are pairs although it is on a hardware
 * bus.
 */
static bool
is_joined(const struct rte_eth_dev_info *info)
{
	return port_is_virtual(info) ||
	       strncmp(info->driver_name, "net_virtio", strlen("net_virtio")) == 0;
}

int
port_offer_of(uint16_t ethdev, struct port_offer *offer)
{
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(ethdev, &info);

	if (rc != 0)
		return rc;
	*offer = (struct port_offer){
		.rx_queues = info.max_rx_queues,
		.tx_queues = info.max_tx_queues,
		.joined = is_joined(&info),
	};
	return 0;
}

/* Are there queues for n lcores with two transmit queues each? */
static bool
has_control_queues(const struct port_offer *offer, uint16_t n)
{
	return offer->tx_queues / 2 >= n && (!offer->joined || offer->rx_queues / 2 >= n);
}

int
port_plan(const struct port_offer *offer, int wish, uint16_t n, struct port_plan *plan)
{
	uint16_t rx;

	n = n < offer->tx_queues ? n : offer->tx_queues;
	if (wish == NIC_CONTROL_TX_QUEUE_ON) {
		while (n > 1 && !has_control_queues(offer, n))
			n--;
		if (!has_control_queues(offer, n))
			return -EINVAL;
	}
	plan->n_lcores = n;
	plan->control_apart =
		wish == NIC_CONTROL_TX_QUEUE_ON || (wish == NIC_CONTROL_TX_QUEUE_AUTO &&
						    !offer->joined && has_control_queues(offer, n));
	plan->tx_queues = plan->control_apart ? 2 * n : n;
	rx = offer->joined ? plan->tx_queues : n;
	plan->rx_queues = offer->rx_queues >= rx ? rx : 1;
	return 0;
}

struct poll_queues
port_plan_queues(const struct port_plan *plan, uint16_t lcore)
{
	struct poll_queues q = {
		.rx_first = lcore,
		.rx_step = plan->n_lcores,
		.rx_end = plan->rx_queues,
		.data = lcore,
		.control = plan->n_lcores + lcore,
		.control_apart = plan->control_apart,
	};

	return q;
}
