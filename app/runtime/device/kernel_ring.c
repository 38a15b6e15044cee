/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/kernel_ring.h"

#include <dirent.h>
#include <linux/if_packet.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <rte_ethdev.h>

#include "runtime/device/port_device.h"
#include "runtime/notice/say.h"

/* One socket for each pair of queues; the programs have at most one pair per lcore. */
#define MOST_SOCKETS 64

static struct ring {
	unsigned int n;
	int sockets[MOST_SOCKETS];
	uint64_t drops; /* read so far: the kernel counts from 0 again after each read */
} rings[RTE_MAX_ETHPORTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool
is_taken(int fd)
{
	for (unsigned int e = 0; e < RTE_MAX_ETHPORTS; e++)
		for (unsigned int i = 0; i < rings[e].n; i++)
			if (rings[e].sockets[i] == fd)
				return true;
	return false;
}

static bool
is_bound_to(int fd, unsigned int interface)
{
	struct sockaddr_ll address;
	socklen_t len = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
	       address.sll_family == AF_PACKET && (unsigned int)address.sll_ifindex == interface;
}

static void
find_sockets(struct ring *r, const struct rte_eth_dev_info *info)
{
	DIR *files = opendir("/proc/self/fd");
	const struct dirent *file;

	while (files != NULL && r->n < info->max_rx_queues && r->n < MOST_SOCKETS &&
	       (file = readdir(files)) != NULL) {
		char *end;
		long fd = strtol(file->d_name, &end, 10);

		if (*end == '\0' && is_bound_to((int)fd, info->if_index) && !is_taken((int)fd))
			r->sockets[r->n++] = (int)fd;
	}
	if (files != NULL)
		closedir(files);
}

void
kernel_ring_open(uint16_t ethdev)
{
	struct rte_eth_dev_info info;
	struct ring *r = &rings[ethdev];

	if (rte_eth_dev_info_get(ethdev, &info) != 0 ||
	    strcmp(info.driver_name, "net_af_packet") != 0)
		return;
	pthread_mutex_lock(&lock);
	find_sockets(r, &info);
	pthread_mutex_unlock(&lock);
	if (r->n < info.max_rx_queues)
		say_warning("%s: found %u of its %u sockets in /proc/self/fd: frames that the "
			    "kernel drops in the others are not counted",
			    port_name(ethdev), r->n, info.max_rx_queues);
}

/* With the lock. */
static void
read_drops(struct ring *r)
{
	for (unsigned int i = 0; i < r->n; i++) {
		struct tpacket_stats stats;
		socklen_t len = sizeof(stats);

		if (getsockopt(r->sockets[i], SOL_PACKET, PACKET_STATISTICS, &stats, &len) == 0)
			r->drops += stats.tp_drops;
	}
}

uint64_t
kernel_ring_drops(uint16_t ethdev)
{
	struct ring *r = &rings[ethdev];
	uint64_t drops;

	pthread_mutex_lock(&lock);
	read_drops(r);
	drops = r->drops;
	pthread_mutex_unlock(&lock);
	return drops;
}

void
kernel_ring_close(uint16_t ethdev)
{
	struct ring *r = &rings[ethdev];

	pthread_mutex_lock(&lock);
	read_drops(r);
	r->n = 0;
	pthread_mutex_unlock(&lock);
}
