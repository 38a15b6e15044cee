/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/port/ports.h"

#include <inttypes.h>
#include <numa.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mempool.h>

#include "base/numbers/units.h"
#include "runtime/device/device_args.h"
#include "runtime/device/kernel_interface.h"
#include "runtime/device/kernel_ring.h"
#include "runtime/device/port_device.h"
#include "runtime/port/data_room.h"
#include "runtime/port/port_probe.h"
#include "runtime/port/port_rss.h"
#include "runtime/device/port_removal.h"
#include "runtime/device/port_start.h"
#include "runtime/notice/say.h"

#define TOO_MANY_PORTS                                                                             \
	"%s has %u ports, but this DPDK is built for %u devices at most (RTE_MAX_ETHPORTS)"

void
ports_warn_of_count(uint16_t n, const char *config)
{
	if (n > RTE_MAX_ETHPORTS)
		say_warning(TOO_MANY_PORTS ": quench-switch does not start with it", config, n,
			    RTE_MAX_ETHPORTS);
}

/* @return 0, or APP_BAD_USAGE after an error line: EAL did not find n devices. */
static int
check_count(uint16_t n, const char *config)
{
	uint16_t found = rte_eth_dev_count_avail();

	if (found == n)
		return 0;
	if (n > RTE_MAX_ETHPORTS)
		say_error(TOO_MANY_PORTS, config, n, RTE_MAX_ETHPORTS);
	else
		say_error("%s has %u port%s, but EAL found %u device%s (give one --vdev or -a for "
			  "each port before \"--\")",
			  config, n, n == 1 ? "" : "s", found, found == 1 ? "" : "s");
	return APP_BAD_USAGE;
}

/* @return the port whose device this is, or n. */
static uint16_t
owner_of(const uint16_t *ethdevs, uint16_t n, uint16_t ethdev)
{
	uint16_t i = 0;

	while (i < n && ethdevs[i] != ethdev)
		i++;
	return i;
}

static int
find_named(uint16_t *ethdevs, uint16_t port, const char *name, const char *config)
{
	uint16_t ethdev, other;

	if (rte_eth_dev_get_port_by_name(name, &ethdev) != 0) {
		say_error("%s: [port %u] device = %s: expected one that EAL found, or %s", config,
			  port, name, PORT_ANY_DEVICE);
		return APP_BAD_USAGE;
	}
	other = owner_of(ethdevs, port, ethdev);
	if (other < port) {
		say_error("%s: [port %u] device = %s is the device of port %u", config, port, name,
			  other);
		return APP_BAD_USAGE;
	}
	ethdevs[port] = ethdev;
	return 0;
}

int
ports_find(uint16_t *ethdevs, uint16_t n, const char *const *names, const char *config)
{
	uint16_t ethdev;
	int rc = check_count(n, config);

	for (uint16_t i = 0; i < n; i++)
		ethdevs[i] = RTE_MAX_ETHPORTS;
	for (uint16_t i = 0; rc == 0 && names != NULL && i < n; i++)
		if (strcmp(names[i], PORT_ANY_DEVICE) != 0)
			rc = find_named(ethdevs, i, names[i], config);
	if (rc != 0)
		return rc;
	RTE_ETH_FOREACH_DEV(ethdev)
	{
		/* The first port without a device. */
		if (owner_of(ethdevs, n, ethdev) == n)
			ethdevs[owner_of(ethdevs, n, RTE_MAX_ETHPORTS)] = ethdev;
	}
	return 0;
}

/* Data room for a slot of net_af_packet's ring; 0: another driver, or no mbuf has this room. */
static uint32_t
slot_room(const struct rte_eth_dev_info *info)
{
	uint32_t room;

	if (strcmp(info->driver_name, "net_af_packet") != 0)
		return 0;
	room = device_slot_room(device_slots(device_args(info)).framesz);
	return room <= DATA_ROOM_MOST_BYTES - 2 * VLAN_TAG_BYTES ? room : 0;
}

uint16_t
ports_data_room(const uint16_t *ethdevs, uint16_t n, uint32_t frame_bytes)
{
	struct rte_eth_dev_info info;
	bool doubles = false;

	for (uint16_t i = 0; i < n; i++) {
		if (rte_eth_dev_info_get(ethdevs[i], &info) != 0)
			continue;
		doubles = doubles || data_room_doubles(info.driver_name);
		frame_bytes = RTE_MAX(frame_bytes, slot_room(&info));
	}
	return data_room_bytes(frame_bytes, doubles);
}

/* The kernel may end a sleep that much later (timerslack_ns of a thread). */
#define TIMER_SLACK_NS (50 * NS_PER_US)
/* A late poll is that many times as late as one on an idle CPU; measured on a shared one. */
#define LATE_FACTOR 4u
/* The largest shaper_burst_ns. */
#define MOST_BURST_NS (10 * NS_PER_MS)

uint32_t
ports_burst_ns(const uint16_t *ethdevs, uint16_t n, uint32_t on_nic_ns, uint64_t idle_sleep_ns)
{
	struct rte_eth_dev_info info;

	for (uint16_t i = 0; i < n; i++)
		if (rte_eth_dev_info_get(ethdevs[i], &info) != 0 || !port_is_virtual(&info))
			return on_nic_ns;
	return (uint32_t)RTE_MIN(LATE_FACTOR *
					 (RTE_MIN(idle_sleep_ns, MOST_BURST_NS) + TIMER_SLACK_NS),
				 MOST_BURST_NS);
}

static int
refuse(uint16_t ethdev, const char *what, int rc)
{
	say_error("%s: %s: %s", port_name(ethdev), what, rte_strerror(-rc));
	return APP_FAILED;
}

/* The wanted MTU, or the nearest that the device allows. */
static uint16_t
choose_mtu(const struct rte_eth_dev_info *info, uint16_t largest_frame)
{
	uint32_t want = largest_frame - RTE_ETHER_HDR_LEN;
	/* Overhead as ethdev computes it: bytes of a frame beyond the MTU. */
	uint32_t overhead = info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu
				    ? info->max_rx_pktlen - info->max_mtu
				    : RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
	uint32_t most = info->max_rx_pktlen - overhead;

	if (most > info->max_mtu)
		most = info->max_mtu;
	if (want > most)
		return (uint16_t)most;
	return (uint16_t)(want < info->min_mtu ? info->min_mtu : want);
}

/* net_af_packet reports 1514 bytes; its interface's MTU counts. */
static void
warn_of_mtu(uint16_t ethdev, const char *name, uint32_t largest_frame)
{
	uint32_t mtu = kernel_interface_mtu(name);

	if (mtu != 0 && mtu + RTE_ETHER_HDR_LEN < largest_frame)
		say_warning("%s: %s has an MTU of %u, and the kernel sends no frame of more than "
			    "%u bytes, but the configuration has %u bytes",
			    port_name(ethdev), name, mtu, mtu + RTE_ETHER_HDR_LEN, largest_frame);
}

/* @return 0, or APP_BAD_USAGE: the device cannot carry the configuration's frames. */
static int
set_mtu(uint16_t ethdev, const struct port_params *params, const struct rte_eth_dev_info *info,
	struct rte_eth_conf *conf)
{
	char name[IF_NAMESIZE];
	uint32_t most;

	conf->rxmode.mtu = choose_mtu(info, params->largest_frame);
	most = conf->rxmode.mtu + RTE_ETHER_HDR_LEN;
	if (most >= params->largest_frame)
		return 0;
	if (kernel_interface_name(ethdev, name)) {
		warn_of_mtu(ethdev, name, params->largest_frame);
		return 0;
	}
	/* It reports 1514, and takes what fits into its buffers. */
	if (device_memif_frame(info) >= params->largest_frame)
		return 0;
	if (device_memif_frame(info) > 0) {
		if (!params->must_fit)
			return 0; /* longer frames are dropped as device_mtu */
		say_error(
			"%s: bsize = %u: expected at least %u at both ends, since the "
			"configuration has frames of %u bytes: the driver repeats and loses frames "
			"of several buffers",
			port_name(ethdev), device_memif_frame(info) + RTE_VLAN_HLEN,
			params->largest_frame + RTE_VLAN_HLEN, params->largest_frame);
		return APP_BAD_USAGE;
	}
	if (!params->must_fit || port_is_virtual(info)) {
		say_warning("%s: the device reports a largest frame of %u bytes, but the "
			    "configuration has %u bytes",
			    port_name(ethdev), most, params->largest_frame);
		return 0;
	}
	say_error("%s: the device takes frames of at most %u bytes, but the configuration has %u "
		  "bytes: use a smaller mtu_bytes",
		  port_name(ethdev), most, params->largest_frame);
	return APP_BAD_USAGE;
}

static uint16_t
queues(uint16_t n)
{
	return n == 0 ? 1 : n;
}

/*
 * Check the arguments of a net_af_packet device: all of its queues are polled, as the kernel
 * spreads frames over them; its slots fit into mbufs, are whole in their blocks (the driver takes
 * them for one array), and hold the longest frame that may arrive.
 *
 * @return 0, or APP_BAD_USAGE.
 */
static int
check_af_packet(uint16_t ethdev, const struct port_params *params,
		const struct rte_eth_dev_info *info)
{
	uint32_t room = rte_pktmbuf_data_room_size(params->pool) - RTE_PKTMBUF_HEADROOM;
	const struct device_slots s = device_slots(device_args(info));
	char name[IF_NAMESIZE];
	struct device_slots fit;
	uint32_t longest;

	if (!kernel_interface_name(ethdev, name))
		return 0;
	if (info->max_rx_queues > queues(params->rx_queues)) {
		say_error("%s: qpairs = %u: expected %u: frames in other queues would be lost",
			  port_name(ethdev), info->max_rx_queues, queues(params->rx_queues));
		return APP_BAD_USAGE;
	}
	if (device_slot_room(s.framesz) > room) {
		say_error("%s: framesz = %u: expected at most %u", port_name(ethdev), s.framesz,
			  DATA_ROOM_MOST_BYTES);
		return APP_BAD_USAGE;
	}
	if (s.blocksz % s.framesz != 0) {
		say_error("%s: blocksz = %u: expected a multiple of framesz = %u",
			  port_name(ethdev), s.blocksz, s.framesz);
		return APP_BAD_USAGE;
	}
	longest = kernel_interface_longest(name, params->largest_frame);
	if (longest <= device_whole_frame(s.framesz))
		return 0;
	fit = device_slots_for(longest);
	say_error("%s: framesz = %u: expected framesz=%u,blocksz=%u, since %s has an MTU of %u: "
		  "the kernel would cut frames of more than %u bytes; or give neither",
		  port_name(ethdev), s.framesz, fit.framesz, fit.blocksz, name,
		  kernel_interface_mtu(name), device_whole_frame(s.framesz));
	return APP_BAD_USAGE;
}

static int
set_up_queues(uint16_t ethdev, const struct port_params *params, struct rte_eth_dev_info *info)
{
	uint16_t rx_desc = PORT_RX_DESCRIPTORS;
	uint16_t tx_desc = PORT_TX_DESCRIPTORS;
	int socket = rte_eth_dev_socket_id(ethdev);
	int rc = rte_eth_dev_adjust_nb_rx_tx_desc(ethdev, &rx_desc, &tx_desc);

	if (rc != 0)
		return refuse(ethdev, "ring sizes", rc);
	if (tx_desc > 2 * PORT_TX_DESCRIPTORS)
		say_warning("%s: the transmit ring holds at least %u frames, which marking, "
			    "pause and scheduling cannot reach",
			    port_name(ethdev), tx_desc);
	info->default_txconf.offloads = 0;
	info->default_rxconf.offloads = 0;
	for (uint16_t q = 0; rc == 0 && q < queues(params->rx_queues); q++)
		rc = rte_eth_rx_queue_setup(ethdev, q, rx_desc, (unsigned int)socket,
					    &info->default_rxconf, params->pool);
	if (rc != 0)
		return refuse(ethdev, "receive queue", rc);
	for (uint16_t q = 0; rc == 0 && q < queues(params->tx_queues); q++)
		rc = rte_eth_tx_queue_setup(ethdev, q, tx_desc, (unsigned int)socket,
					    &info->default_txconf);
	return rc != 0 ? refuse(ethdev, "transmit queue", rc) : 0;
}

/* Skips virtual devices, which report made-up speeds. */
static void
check_speed(uint16_t ethdev, const struct rte_eth_dev_info *info, uint64_t configured_bps)
{
	struct rte_eth_link link;

	if (port_is_virtual(info) || rte_eth_link_get_nowait(ethdev, &link) != 0)
		return;
	if (link.link_speed != RTE_ETH_SPEED_NUM_NONE &&
	    link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN &&
	    link.link_speed * MBPS != configured_bps)
		say_warning("%s: device says %u Mb/s, link_speed_bps %" PRIu64
			    " Mb/s, which counts",
			    port_name(ethdev), link.link_speed, (uint64_t)(configured_bps / MBPS));
}

/* Try RSS if it is wanted. A device that refuses RSS may work without it. */
static int
configure(uint16_t ethdev, const struct port_params *params, const struct rte_eth_dev_info *info,
	  struct rte_eth_conf *conf)
{
	const struct rte_eth_conf without = *conf;
	uint16_t rx = queues(params->rx_queues), tx = queues(params->tx_queues);
	int rc;

	if (params->rss == NULL || rx < 2)
		return rte_eth_dev_configure(ethdev, rx, tx, conf);
	port_rss_ask(params->rss, info, conf);
	rc = rte_eth_dev_configure(ethdev, rx, tx, conf);
	if (rc == 0 || !params->rss->asked)
		return rc;
	params->rss->asked = false;
	return rte_eth_dev_configure(ethdev, rx, tx, &without);
}

int
port_open(uint16_t ethdev, const struct port_params *params)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(ethdev, &info);

	if (rc != 0)
		return refuse(ethdev, "device information", rc);
	rc = check_af_packet(ethdev, params, &info);
	if (rc == 0)
		rc = set_mtu(ethdev, params, &info, &conf);
	if (rc != 0)
		return rc;
	port_removal_ask(&info, &conf);
	rc = configure(ethdev, params, &info, &conf);
	if (rc != 0)
		return refuse(ethdev, "configure", rc);
	rc = set_up_queues(ethdev, params, &info);
	if (rc != 0)
		return rc;
	rc = port_removal_watch(ethdev);
	if (rc != 0)
		return refuse(ethdev, "removal events", rc);
	rc = port_start(ethdev);
	if (rc != 0)
		return refuse(ethdev, "start", rc);
	if (params->rss != NULL)
		port_rss_learn(params->rss, ethdev);
	/* Devices without promiscuous mode receive all frames anyway. */
	rc = rte_eth_promiscuous_enable(ethdev);
	if (rc != 0 && rc != -ENOTSUP)
		return refuse(ethdev, "promiscuous mode", rc);
	kernel_ring_open(ethdev);
	port_probe(ethdev);
	kernel_interface_check(ethdev);
	port_check_pcie(ethdev, params->link_speed_bps);
	check_speed(ethdev, &info, params->link_speed_bps);
	return 0;
}

int
port_address(uint16_t ethdev, uint8_t mac[6])
{
	struct rte_ether_addr address;
	int rc;

	memcpy(&address, mac, sizeof(address));
	if (!rte_is_zero_ether_addr(&address))
		return 0;
	rc = rte_eth_macaddr_get(ethdev, &address);
	if (rc != 0)
		return refuse(ethdev, "MAC address", rc);
	/* net_ring has no address: choose a locally administered one, different for each port. */
	if (rte_is_zero_ether_addr(&address)) {
		address =
			(struct rte_ether_addr){{0x02, 0x71, 0x75, 0, ethdev >> 8, ethdev & 0xff}};
		say("%s: has no MAC address, gets " RTE_ETHER_ADDR_PRT_FMT, port_name(ethdev),
		    RTE_ETHER_ADDR_BYTES(&address));
	}
	memcpy(mac, &address, sizeof(address));
	return 0;
}

void
port_check_numa(uint16_t ethdev, unsigned int lcore, const struct rte_mempool *pool)
{
	int device = rte_eth_dev_socket_id(ethdev);
	int core = numa_available() < 0 ? 0 : numa_node_of_cpu(rte_lcore_to_cpu_id((int)lcore));

	/* Virtual devices are on no node. */
	if (device == SOCKET_ID_ANY)
		device = core;
	if (device != core || (pool->socket_id != SOCKET_ID_ANY && pool->socket_id != core))
		say_warning("%s is on NUMA node %d, its lcore %u on node %d and its pool %s on "
			    "node %d: each frame crosses between nodes",
			    port_name(ethdev), device, lcore, core, pool->name, pool->socket_id);
}
