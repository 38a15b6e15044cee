/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/port/port_probe.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_ethdev.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "runtime/device/port_device.h"
#include "runtime/notice/say.h"

#define MOST_XSTATS 1024

/*
 * Known obstacles of a driver to pause frames, link pause and UDP 4791, with their remedies. NULL:
 * there is none.
 */
struct driver_facts {
	const char *driver;
	const char *receive;    /* pause frames towards software */
	const char *send;       /* pause frames from software */
	const char *link_pause; /* if the device does not report it */
	const char *roce;       /* what else consumes UDP 4791 */
	const char *all;        /* one line that replaces the others */
	bool tried;
};

#define FIRMWARE_LLDP                                                                              \
	"; firmware LLDP re-splits the queues; to turn it off: ethtool --set-priv-flags IF "       \
	"fw-lldp-agent off"
#define BEFORE_BOUND "ethtool -A IF rx off tx off before the port is bound"
#define ECN_ALONE "rely on ECN (flow_control = off)"
#define PASS "virtual: pause frames pass in both directions, no link pause, UDP 4791 is free"

/* clang-format off */
static const struct driver_facts drivers[] = {
	{
		.driver = "mlx5_pci",
		.receive = "hidden: the MAC obeys pause frames if PFC is on in the host, and "
			   "never passes them to software. Let the MAC obey them (mlnx_qos or "
			   "dcb), or leave PFC off and rely on ECN",
		.send = "not known: look at the peer's counters",
		.link_pause = "not known: check with ethtool -a IF, turn off with ethtool -A IF "
			      "rx off tx off",
		.roce = "taken by the NIC while RoCE is on; to turn RoCE off: devlink dev param "
			"set pci/ADDRESS name enable_roce value false cmode driverinit, then "
			"devlink dev reload",
	},
	{
		.driver = "net_ice",
		.receive = "may be hidden: send some from the peer and look at rx_pause_frames",
		.send = "may be filtered by firmware: look at the peer's counters" FIRMWARE_LLDP,
		.link_pause = "not known, DPDK has no call for it: " BEFORE_BOUND,
	},
	{
		.driver = "net_i40e",
		.receive = "may be hidden: send some from the peer and look at rx_pause_frames",
		.send = "dropped by the driver's filter on EtherType 0x8808: this port cannot "
			"pause its peer" FIRMWARE_LLDP,
		.link_pause = "not known: " BEFORE_BOUND,
	},
	{
		.driver = "net_bnxt",
		.receive = "may be hidden: compare rx_pause_frames with the device's counters "
			   "per priority",
		.send = "not known: look at the peer's counters",
		.link_pause = "not known: " BEFORE_BOUND,
		.roce = "taken by the NIC while its RoCE driver is loaded; to unload it: rmmod "
			"bnxt_re",
	},
	{ .driver = "net_ixgbe", .link_pause = "not known: " BEFORE_BOUND },
	/* rte_eth_dev_flow_ctrl_set() sets PMCF of RCTL, which passes MAC control frames. */
	{ .driver = "net_e1000_em", .link_pause = "not known: " BEFORE_BOUND },
	{ .driver = "net_e1000_igb", .link_pause = "not known: " BEFORE_BOUND },
	/* Paravirtual: someone else's switch is between the guest and the wire. */
	{
		.driver = "net_virtio",
		.all = "paravirtual: the host's bridge never forwards pause frames (802.1D), no "
		       "link pause, UDP 4791 is free; " ECN_ALONE,
	},
	{
		.driver = "net_vmxnet3",
		.all = "paravirtual: the virtual switch does not forward pause frames, no link "
		       "pause, UDP 4791 is free; " ECN_ALONE,
	},
	{
		.driver = "net_ena",
		.all = "paravirtual: the cloud network carries IP only, so no pause frames; no "
		       "link pause, UDP 4791 if the security group permits it; " ECN_ALONE,
	},
	/* Virtual: their link speed is made up. */
	{ .driver = "net_null", .all = PASS, .tried = true },
	{ .driver = "net_ring", .all = PASS, .tried = true },
	{ .driver = "net_pcap", .all = PASS, .tried = true },
	{ .driver = "net_memif", .all = PASS, .tried = true },
	{
		.driver = "net_af_packet",
		.all = "virtual: pause frames pass in both directions unless a NIC behind the "
		       "interface keeps them; ethtool -a IF shows link pause; the kernel "
		       "receives UDP 4791 too, so no interface should have our address",
		.tried = true,
	},
	{
		.driver = "net_tap",
		.all = "virtual: pause frames pass to and from the kernel, whose bridges never "
		       "forward them; no link pause; the kernel receives UDP 4791 too, so no "
		       "interface should have our address",
		.tried = true,
	},
};
/* clang-format on */

static const struct driver_facts *
find_facts(const char *driver)
{
	static const struct driver_facts unknown = {
		.receive = "not known: send some from the peer and look at rx_pause_frames",
		.send = "not known: look at the peer's counters",
		.link_pause = "not known: check with ethtool -a IF before the port is bound",
		.roce = "not known: if nothing arrives, unload the NIC's RDMA driver",
	};

	for (unsigned int i = 0; i < ARRAY_LEN(drivers); i++)
		if (strcmp(driver, drivers[i].driver) == 0)
			return &drivers[i];
	return &unknown;
}

/* Set one line of a probe: the text `trouble` or, if it is NULL, the text `fine`. */
static struct probe_line
line(const char *what, const char *trouble, const char *fine)
{
	return (struct probe_line){what, trouble != NULL ? trouble : fine, trouble != NULL, false};
}

static struct probe_line
link_pause_line(const struct driver_facts *facts, enum link_pause pause)
{
	static const char *const found[] = {
		[LINK_PAUSE_OFF] = "off",
		[LINK_PAUSE_TURNED_OFF] = "was on and is off now",
	};
	static const char what[] = "link pause (802.3x)";

	if (pause == LINK_PAUSE_UNKNOWN)
		return line(what, facts->link_pause, "none");
	if (pause == LINK_PAUSE_STAYS_ON)
		return line(what,
			    "on, and cannot be turned off: it stops all priorities, and no "
			    "counter shows it",
			    NULL);
	/* Certain: reported by the device. */
	return (struct probe_line){what, found[pause], false, true};
}

unsigned int
probe_lines(const char *driver, enum link_pause pause, struct probe_line lines[PROBE_LINES])
{
	const struct driver_facts *f = find_facts(driver);
	unsigned int n = 0;

	if (f->all != NULL) {
		lines[n++] = (struct probe_line){NULL, f->all, !f->tried, f->tried};
		if (pause == LINK_PAUSE_STAYS_ON)
			lines[n++] = link_pause_line(f, pause);
		return n;
	}
	lines[n++] = line("pause frames received", f->receive, "passed up to software");
	lines[n++] = line("pause frames sent", f->send, "sent");
	lines[n++] = link_pause_line(f, pause);
	lines[n++] = line("UDP port 4791", f->roce, "ours");
	return n;
}

/*
 * Turn off link pause, which stalls the whole port without a counter, and make the device pass PFC
 * frames to us, so that the MAC does not obey them.
 */
static enum link_pause
take_over_pause(uint16_t ethdev)
{
	struct rte_eth_fc_conf fc = {0};
	bool was_on;
	int rc;

	if (rte_eth_dev_flow_ctrl_get(ethdev, &fc) != 0)
		return LINK_PAUSE_UNKNOWN;
	was_on = fc.mode != RTE_ETH_FC_NONE;
	fc.mode = RTE_ETH_FC_NONE;
	fc.mac_ctrl_frame_fwd = 1;
	rc = rte_eth_dev_flow_ctrl_set(ethdev, &fc);
	if (!was_on)
		return LINK_PAUSE_OFF;
	return rc == 0 ? LINK_PAUSE_TURNED_OFF : LINK_PAUSE_STAYS_ON;
}

void
port_probe(uint16_t ethdev)
{
	struct probe_line lines[PROBE_LINES];
	struct rte_eth_dev_info info;
	unsigned int n;

	if (rte_eth_dev_info_get(ethdev, &info) != 0)
		return;
	n = probe_lines(info.driver_name, take_over_pause(ethdev), lines);
	for (unsigned int i = 0; i < n; i++) {
		const struct probe_line *l = &lines[i];

		(l->warning ? say_warning : say)(
			"%s: %s%s%s%s", port_name(ethdev), l->what == NULL ? "" : l->what,
			l->what == NULL ? "" : ": ", l->text, l->certain ? "" : " (untried)");
	}
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
		say_warning("%s: its PCIe link carries %.1f Gb/s, less than the port's %.0f "
			    "Gb/s: move it to a faster slot",
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
	int n;

	/* Not if it was removed. */
	if (!rte_eth_dev_is_valid_port(ethdev))
		return;
	n = rte_eth_xstats_get_names(ethdev, names, MOST_XSTATS);
	if (n <= 0 || n > MOST_XSTATS || rte_eth_xstats_get(ethdev, values, MOST_XSTATS) != n)
		return;
	/* Several counters may include the same frame, so the largest is a lower bound. */
	for (int i = 0; i < n; i++)
		if (counts_pause(names[values[i].id].name) && values[i].value > most)
			most = values[i].value;
	if (most > seen)
		say_warning("%s: the device received %" PRIu64 " pause frames and passed %" PRIu64
			    " to this program: the device hides some",
			    port_name(ethdev), most, seen);
}
