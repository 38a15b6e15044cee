/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_dev_event_callback_register() is experimental in DPDK 22.11. */
#define ALLOW_EXPERIMENTAL_API
#include "runtime/device/port_removal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "runtime/device/kernel_ring.h"
#include "runtime/device/port_device.h"
#include "runtime/device/port_stop.h"
#include "runtime/notice/say.h"

static struct removal {
	atomic_bool requested;
	bool closed; /* under the lock */
	struct rte_eth_stats last;
} removals[RTE_MAX_ETHPORTS];

/* A device's registers disappear when it is closed, while another thread may read its counters. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
request(struct removal *r)
{
	atomic_store_explicit(&r->requested, true, memory_order_release);
}

static void
on_device_event(const char *name, enum rte_dev_event_type type, void *arg)
{
	(void)name;
	if (type == RTE_DEV_EVENT_REMOVE)
		request(arg);
}

static int
on_port_event(uint16_t ethdev, enum rte_eth_event_type type, void *arg, void *result)
{
	(void)ethdev;
	(void)type;
	(void)result;
	request(arg);
	return 0;
}

void
port_removal_ask(const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	conf->intr_conf.rmv = (*info->dev_flags & RTE_ETH_DEV_INTR_RMV) != 0;
}

int
port_removal_watch(uint16_t ethdev)
{
	struct removal *r = &removals[ethdev];
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(ethdev, &info);

	if (rc != 0)
		return rc;
	port_keep_name(ethdev);
	if (info.device != NULL)
		rc = rte_dev_event_callback_register(rte_dev_name(info.device), on_device_event, r);
	if (rc == 0)
		rc = rte_eth_dev_callback_register(ethdev, RTE_ETH_EVENT_INTR_RMV, on_port_event,
						   r);
	return rc;
}

bool
port_removal_requested(uint16_t ethdev)
{
	return atomic_load_explicit(&removals[ethdev].requested, memory_order_acquire);
}

/* A device may have several ports: the last one releases it. */
static int
release(struct rte_device *device)
{
	uint16_t other;

	RTE_ETH_FOREACH_DEV_OF(other, device)
	{
		return 0;
	}
	return rte_dev_remove(device);
}

static int
get_stats(uint16_t ethdev, struct rte_eth_stats *stats)
{
	int rc = rte_eth_stats_get(ethdev, stats);

	if (rc == 0) {
		stats->imissed += kernel_ring_drops(ethdev);
		stats->ierrors += kernel_ring_cut(ethdev);
	}
	return rc;
}

void
port_removal_close(uint16_t ethdev)
{
	struct removal *r = &removals[ethdev];
	struct rte_eth_dev_info info;
	int rc;

	pthread_mutex_lock(&lock);
	(void)get_stats(ethdev, &r->last);
	rc = rte_eth_dev_info_get(ethdev, &info);
	if (rc == 0)
		rc = port_stop(ethdev);
	if (rc == 0)
		rc = rte_eth_dev_close(ethdev);
	if (rc == 0 && info.device != NULL)
		rc = release(info.device);
	r->closed = true;
	pthread_mutex_unlock(&lock);
	if (rc != 0)
		say_warning("%s: the device cannot be released: %s", port_name(ethdev),
			    rte_strerror(-rc));
}

int
port_device_stats(uint16_t ethdev, struct rte_eth_stats *stats)
{
	const struct removal *r = &removals[ethdev];
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (r->closed)
		*stats = r->last;
	else
		rc = get_stats(ethdev, stats);
	pthread_mutex_unlock(&lock);
	return rc;
}
