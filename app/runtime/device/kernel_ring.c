/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/kernel_ring.h"

#include <dirent.h>
#include <linux/if_packet.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/threads/counter.h"
#include "runtime/device/device_args.h"
#include "runtime/device/port_device.h"
#include "runtime/notice/say.h"

/* One socket for each pair of queues; the programs have at most one pair per lcore. */
#define MOST_SOCKETS 64

static struct ring {
	unsigned int n;
	int sockets[MOST_SOCKETS];
	uint64_t drops;       /* read so far: the kernel counts from 0 again after each read */
	uint32_t whole_bytes; /* of the longest frame that a slot holds */
	uint64_t cut[MOST_SOCKETS]; /* by queue: one writer each */
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

static int
set_option(int fd, int level, int option, const void *value, socklen_t len)
{
	return (int)syscall(SYS_setsockopt, fd, level, option, value, len);
}

/* A word of PACKET_FANOUT is the group's number, and from bit 16 on its type and flags. */
#define FANOUT_NUMBER 0xFFFF

/*
 * The group that the driver asked for last, and the first socket in it: all queues of a device ask
 * for the same one, one after the other.
 */
static struct {
	int asked, socket;
} group = {.socket = -1};

/*
 * The word of a socket's group, or 0: it is in none. The driver's flags are in it: the number alone
 * may be 0, as that of the first group since the kernel booted is.
 */
static int
group_of(int fd)
{
	int fanout = 0;
	socklen_t len = sizeof(fanout);

	if (getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &fanout, &len) != 0)
		return 0;
	return fanout;
}

static int
join_group(int fd, int asked)
{
	int flags = asked & (int)~(PACKET_FANOUT_FLAG_DEFRAG * 0x10000u | FANOUT_NUMBER);
	int joined = asked == group.asked ? group_of(group.socket) : 0;
	int wanted =
		flags | (joined != 0 ? joined & FANOUT_NUMBER : PACKET_FANOUT_FLAG_UNIQUEID << 16);

	if (set_option(fd, SOL_PACKET, PACKET_FANOUT, &wanted, sizeof(wanted)) != 0)
		return -1;
	if (joined == 0) {
		group.asked = asked;
		group.socket = fd;
	}
	return 0;
}

int
setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	int asked;

	if (level != SOL_PACKET || option != PACKET_FANOUT || len != sizeof(asked))
		return set_option(fd, level, option, value, len);
	memcpy(&asked, value, sizeof(asked));
	return join_group(fd, asked);
}

/* Drop frames that fill their slot: the kernel may have cut them. */
static uint16_t
drop_cut(uint16_t ethdev, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t most,
	 void *arg)
{
	struct ring *r = arg;
	uint16_t kept = 0;

	(void)ethdev;
	(void)most;
	for (uint16_t i = 0; i < n; i++) {
		uint32_t tag = pkts[i]->ol_flags & RTE_MBUF_F_RX_VLAN ? RTE_VLAN_HLEN : 0;

		if (likely(pkts[i]->pkt_len <= r->whole_bytes + tag)) {
			pkts[kept++] = pkts[i];
			continue;
		}
		counter_inc(&r->cut[queue]);
		rte_pktmbuf_free(pkts[i]);
	}
	return kept;
}

static void
watch_cut(uint16_t ethdev, struct ring *r, const struct rte_eth_dev_info *info)
{
	r->whole_bytes = device_whole_frame(device_slots(device_args(info)).framesz);
	for (uint16_t q = 0; q < info->nb_rx_queues && q < MOST_SOCKETS; q++)
		if (rte_eth_add_rx_callback(ethdev, q, drop_cut, r) == NULL)
			say_warning("%s: this DPDK has no receive callbacks: frames of more than "
				    "%u bytes arrive cut",
				    port_name(ethdev), r->whole_bytes);
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
	watch_cut(ethdev, r, &info);
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

uint64_t
kernel_ring_cut(uint16_t ethdev)
{
	uint64_t cut = 0;

	for (unsigned int q = 0; q < MOST_SOCKETS; q++)
		cut += counter_read(&rings[ethdev].cut[q]);
	return cut;
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
