/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said about a device: by its driver, and by what sysfs says about PCIe. */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "runtime/port/port_probe.h"
#include "runtime/device/port_start.h"

TEST(pcie_rates_are_those_of_the_generations)
{
	static const struct {
		const char *speed, *width;
		uint64_t mbps;
	} rows[] = {
		{"2.5 GT/s PCIe\n", "1\n", 2000},
		{"5.0 GT/s PCIe\n", "8\n", 32000},
		{"8.0 GT/s PCIe\n", "8\n", 63015},
		{"8.0 GT/s PCIe\n", "16\n", 126030},
		{"16.0 GT/s PCIe\n", "16\n", 252061},
		{"32.0 GT/s PCIe\n", "16\n", 504123},
		{"Unknown\n", "0\n", 0},
		{"8.0 GT/s PCIe\n", "0\n", 0},
		{"", "", 0},
		{"8.0 GT/s PCIe\n", "255\n", 0},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(pcie_rate_bps(rows[i].speed, rows[i].width) / MBPS, rows[i].mbps);
}

/* The table of facts/ports.md, sections 1 and 2: which line warns of what, and of what to do. */
TEST(each_driver_has_its_lines)
{
	static const struct {
		const char *driver;
		enum link_pause pause;
		unsigned int n;
		/* of each line: how many begin with a warning, and a word that must be in it */
		bool warning[PROBE_LINES];
		const char *word[PROBE_LINES];
	} rows[] = {
		{"mlx5_pci",
		 LINK_PAUSE_UNKNOWN,
		 4,
		 {1, 1, 1, 1},
		 {"hidden", "peer's counters", "-A IF rx off", "enable_roce"}},
		{"mlx5_pci",
		 LINK_PAUSE_TURNED_OFF,
		 4,
		 {1, 1, 0, 1},
		 {"mlnx_qos", "not known", "is off now", "devlink"}},
		{"net_ice",
		 LINK_PAUSE_UNKNOWN,
		 4,
		 {1, 1, 1, 0},
		 {"may be hidden", "fw-lldp-agent", "no call", "ours"}},
		{"net_i40e",
		 LINK_PAUSE_STAYS_ON,
		 4,
		 {1, 1, 1, 0},
		 {"may be hidden", "0x8808", "cannot be turned off", "ours"}},
		{"net_ixgbe",
		 LINK_PAUSE_OFF,
		 4,
		 {0, 0, 0, 0},
		 {"passed up", "sent", "off", "ours"}},
		{"net_bnxt",
		 LINK_PAUSE_TURNED_OFF,
		 4,
		 {1, 1, 0, 1},
		 {"per priority", "not known", "was on", "bnxt_re"}},
		{"net_virtio", LINK_PAUSE_UNKNOWN, 1, {1}, {"flow_control = off"}},
		{"net_vmxnet3", LINK_PAUSE_UNKNOWN, 1, {1}, {"virtual switch"}},
		{"net_ena", LINK_PAUSE_UNKNOWN, 1, {1}, {"IP only"}},
		{"net_null", LINK_PAUSE_UNKNOWN, 1, {0}, {"pass in both directions"}},
		{"net_ring", LINK_PAUSE_UNKNOWN, 1, {0}, {"pass in both directions"}},
		{"net_pcap", LINK_PAUSE_UNKNOWN, 1, {0}, {"pass in both directions"}},
		{"net_memif", LINK_PAUSE_UNKNOWN, 1, {0}, {"pass in both directions"}},
		{"net_af_packet", LINK_PAUSE_UNKNOWN, 1, {0}, {"ethtool -a"}},
		{"net_tap", LINK_PAUSE_OFF, 1, {0}, {"bridges"}},
		{"net_tap", LINK_PAUSE_STAYS_ON, 2, {0, 1}, {"bridges", "cannot be turned off"}},
		{"net_newest",
		 LINK_PAUSE_UNKNOWN,
		 4,
		 {1, 1, 1, 1},
		 {"rx_pause_frames", "peer", "ethtool", "RDMA driver"}},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct probe_line lines[PROBE_LINES];

		assert_int_equal(probe_lines(rows[i].driver, rows[i].pause, lines), rows[i].n);
		for (unsigned int l = 0; l < rows[i].n; l++) {
			assert_int_equal(lines[l].warning, rows[i].warning[l]);
			assert_non_null(strstr(lines[l].text, rows[i].word[l]));
		}
	}
}

/* What a device itself has answered is certain, what we know of its driver was not tried. */
TEST(lines_say_what_was_not_tried)
{
	struct probe_line lines[PROBE_LINES];

	probe_lines("net_ixgbe", LINK_PAUSE_OFF, lines);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(lines[i].certain, i == 2);
	probe_lines("net_ena", LINK_PAUSE_UNKNOWN, lines);
	assert_false(lines[0].certain);
	probe_lines("net_memif", LINK_PAUSE_UNKNOWN, lines);
	assert_true(lines[0].certain);
}

/* Only a client has to be started again until it is connected. */
TEST(memif_clients_are_told_from_servers)
{
	static const struct {
		const char *driver, *args;
		bool client;
	} rows[] = {
		{"net_memif", "role=client,id=0", true},
		{"net_memif", "id=0,role=server", false},
		{"net_memif", "id=0", true},
		{"net_memif", NULL, true},
		{"net_memif", "role=slave,id=1", true},
		{"net_memif", "role=master,id=1", false},
		{"net_ring", "role=client", false},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(port_is_memif_client(rows[i].driver, rows[i].args),
				 rows[i].client);
}

TEST_MAIN()
