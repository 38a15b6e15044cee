/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/port_probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_ethdev.h>

#include "base/units.h"
#include "common/ports.h"
#include "common/say.h"

#define MOST_XSTATS 1024

/* What a driver is known to do, with what to do about it. NULL: nothing is in the way. */
struct driver_facts {
	const char *driver;
	const char *receive;    /* pause frames towards software */
	const char *send;       /* pause frames from software */
	const char *roce;       /* who else takes UDP 4791 */
	const char *link_pause; /* when the device cannot be asked */
};

#define FIRMWARE_LLDP                                                                              \
	"; firmware LLDP re-splits queues: ethtool --set-priv-flags IF fw-lldp-agent off"

static const struct driver_facts nics[] = {
	{
		.driver = "mlx5_pci",
		.receive = "hidden: the MAC obeys them by itself where the host's PFC is on, and "
			   "has no switch to pass them up. Let it obey (mlnx_qos or dcb), or leave "
			   "PFC off and rely on ECN",
		.send = "not known: look at the peer's counters",
		.roce = "kept by the NIC while RoCE is on: devlink dev param set pci/ADDRESS name "
			"enable_roce value false cmode driverinit, then devlink dev reload",
		.link_pause = "not known: ethtool -a, and -A IF rx off tx off",
	},
	{
		.driver = "net_ice",
		.receive = "may be hidden: send some from the peer and look at rx_pause_frames",
		.send = "may be filtered by firmware: look at the peer's counters" FIRMWARE_LLDP,
		.link_pause = "not known, DPDK has no call for it: ethtool -A IF rx off tx off "
			      "before the port is bound",
	},
	{
		.driver = "net_i40e",
		.receive = "may be hidden: send some from the peer and look at rx_pause_frames",
		.send = "dropped by a filter on EtherType 0x8808 that the driver installs: this "
			"port cannot pause its peer" FIRMWARE_LLDP,
		.link_pause = "not known: ethtool -A IF rx off tx off before the port is bound",
	},
	{
		.driver = "net_bnxt",
		.receive = "may be hidden: compare rx_pause_frames with the device's counters, "
			   "which are per priority",
		.send = "not known: look at the peer's counters",
		.roce = "kept by the NIC while its RoCE driver is loaded: rmmod bnxt_re",
		.link_pause = "not known: ethtool -A IF rx off tx off before the port is bound",
	},
	{.driver = "net_ixgbe"},
};

/* Tried: frames pass both ways. */
static const struct virtual_device {
	const char *driver;
	const char *link_pause;
} virtual_devices[] = {
	{"net_null", "no link pause"},
	{"net_ring", "no link pause"},
	{"net_pcap", "no link pause"},
	{"net_memif", "no link pause"},
	{"net_af_packet", "link pause is the Linux interface's (ethtool -a)"},
};

static const struct virtual_device *
find_virtual(const char *driver)
{
	for (unsigned int i = 0; i < RTE_DIM(virtual_devices); i++)
		if (strcmp(driver, virtual_devices[i].driver) == 0)
			return &virtual_devices[i];
	return NULL;
}

/* @return true if that was all that there is to say. */
static bool
say_virtual(uint16_t ethdev, const char *driver)
{
	const struct virtual_device *v = find_virtual(driver);

	if (v != NULL)
		say("%s: virtual: pause frames pass both ways, %s, UDP 4791 is free",
		    port_name(ethdev), v->link_pause);
	return v != NULL;
}

static const struct driver_facts *
find_facts(const char *driver)
{
	static const struct driver_facts unknown = {
		.receive = "not known: send some from the peer and look at rx_pause_frames",
		.send = "not known: look at the peer's counters",
		.roce = "not known: if nothing arrives, unload the NIC's RDMA driver",
		.link_pause = "not known: ethtool -a before the port is bound",
	};

	for (unsigned int i = 0; i < RTE_DIM(nics); i++)
		if (strcmp(driver, nics[i].driver) == 0)
			return &nics[i];
	return &unknown;
}

static void
say_fact(uint16_t ethdev, const char *what, const char *trouble, const char *fine)
{
	if (trouble != NULL)
		say_warning("%s: %s: %s (untried)", port_name(ethdev), what, trouble);
	else
		say("%s: %s: %s (untried)", port_name(ethdev), what, fine);
}

/*
 * Link pause stalls the whole port without a counter, and PFC frames must reach us rather than the
 * MAC. @return false if the device cannot be asked.
 */
static bool
take_over_pause(uint16_t ethdev)
{
	struct rte_eth_fc_conf fc = {0};
	bool was_on;
	int rc;

	if (rte_eth_dev_flow_ctrl_get(ethdev, &fc) != 0)
		return false;
	was_on = fc.mode != RTE_ETH_FC_NONE;
	fc.mode = RTE_ETH_FC_NONE;
	fc.mac_ctrl_frame_fwd = 1;
	rc = rte_eth_dev_flow_ctrl_set(ethdev, &fc);
	if (!was_on)
		say("%s: link pause (802.3x): off", port_name(ethdev));
	else if (rc == 0)
		say("%s: link pause (802.3x): was on and is off now", port_name(ethdev));
	else
		say_warning("%s: link pause (802.3x): on, and cannot be turned off: it stops all "
			    "priorities without a count",
			    port_name(ethdev));
	return true;
}

void
port_probe(uint16_t ethdev)
{
	struct rte_eth_dev_info info;
	const struct driver_facts *facts;

	if (rte_eth_dev_info_get(ethdev, &info) != 0)
		return;
	if (say_virtual(ethdev, info.driver_name))
		return;
	facts = find_facts(info.driver_name);
	say_fact(ethdev, "pause frames received", facts->receive, "passed up to software");
	say_fact(ethdev, "pause frames sent", facts->send, "sent");
	if (!take_over_pause(ethdev))
		say_fact(ethdev, "link pause (802.3x)", facts->link_pause, "none");
	say_fact(ethdev, "UDP port 4791", facts->roce, "ours");
}

uint64_t
pcie_rate_bps(const char *speed, const char *width)
{
	double gt = strtod(speed, NULL);
	long lanes = strtol(width, NULL, 10);

	if (!(gt > 0 && gt <= 256) || lanes <= 0 || lanes > 32)
		return 0;
	/* 8b/10b up to 5 GT/s, 128b/130b above (PCIe 3.0 4.2.2). */
	return (uint64_t)(gt * (gt > 5 ? 128.0 / 130 : 0.8) * 1e9 * (double)lanes);
}

static bool
read_sysfs(const char *device, const char *file, char *text, size_t size)
{
	char path[256];
	FILE *f;
	bool good;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", device, file);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	good = fgets(text, (int)size, f) != NULL;
	fclose(f);
	return good;
}

void
port_check_pcie(uint16_t ethdev, uint64_t link_speed_bps)
{
	/* A PCI device's name is its address. */
	const char *name = port_name(ethdev);
	char speed[64], width[64];
	uint64_t bus_bps;

	if (!read_sysfs(name, "current_link_speed", speed, sizeof(speed)) ||
	    !read_sysfs(name, "current_link_width", width, sizeof(width)))
		return;
	bus_bps = pcie_rate_bps(speed, width);
	if (bus_bps != 0 && bus_bps < link_speed_bps)
		say_warning("%s: its PCIe link carries %.1f Gb/s, less than the port's %.0f: "
			    "another slot",
			    name, (double)bus_bps / 1e9, (double)link_speed_bps / 1e9);
}

/* Names differ: rx_xoff_packets, rx_priority3_xoff_packets, rx_pfc_frames, rx_pause_frames. */
static bool
counts_pause(const char *name)
{
	return strncmp(name, "rx", 2) == 0 &&
	       (strstr(name, "xoff") != NULL || strstr(name, "pfc") != NULL ||
		strstr(name, "pause") != NULL) &&
	       strstr(name, "duration") == NULL && strstr(name, "transition") == NULL;
}

void
port_check_hidden_pause(uint16_t ethdev, uint64_t seen)
{
	static struct rte_eth_xstat_name names[MOST_XSTATS];
	static struct rte_eth_xstat values[MOST_XSTATS];
	uint64_t most = 0;
	int n = rte_eth_xstats_get_names(ethdev, names, MOST_XSTATS);

	if (n <= 0 || n > MOST_XSTATS || rte_eth_xstats_get(ethdev, values, MOST_XSTATS) != n)
		return;
	/* A frame may be in more than one of them: the largest is certain. */
	for (int i = 0; i < n; i++)
		if (counts_pause(names[values[i].id].name) && values[i].value > most)
			most = values[i].value;
	if (most > seen)
		say_warning("%s: the device received %" PRIu64 " pause frames and showed %" PRIu64
			    ": it hides them",
			    port_name(ethdev), most, seen);
}
