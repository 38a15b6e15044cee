/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints lines that tell users how a device treats pause frames, link pause and UDP port 4791, and
 * how to change that. They are derived from the device's replies and the known behaviour of its
 * driver. Virtual devices were tested and need one line. NICs were not tested (doc/ports.md), and
 * their lines say so.
 */
#ifndef QUENCH_APP_RUNTIME_PORT_PORT_PROBE_H
#define QUENCH_APP_RUNTIME_PORT_PORT_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* Result of reading a device's link pause and turning it off. */
enum link_pause {
	LINK_PAUSE_UNKNOWN, /* the device does not report it */
	LINK_PAUSE_OFF,
	LINK_PAUSE_TURNED_OFF,
	LINK_PAUSE_STAYS_ON,
};

#define PROBE_LINES 4

struct probe_line {
	const char *what; /* the topic; NULL: all */
	const char *text;
	bool warning;
	bool certain; /* tested by us, or reported by the device */
};

/** Fill in the lines about a device of this driver. @return their number. */
unsigned int probe_lines(const char *driver, enum link_pause pause,
			 struct probe_line lines[PROBE_LINES]);

/** On a started device: turn link pause off, have pause frames passed up, print the lines. */
void port_probe(uint16_t ethdev);

/** Warn if the bus is slower than the port. Ignores devices that are not on PCIe. */
void port_check_pcie(uint16_t ethdev, uint64_t link_speed_bps);

/**
 * After a run: warn if the device has counted more received pause frames than it passed up.
 * @param seen  Pause frames that software received.
 */
void port_check_hidden_pause(uint16_t ethdev, uint64_t seen);

/**
 * Rate of a PCIe link one way, packet headers included, from sysfs's current_link_speed ("8.0 GT/s
 * PCIe") and current_link_width ("8"). @return bits/s; 0 if the texts are not numbers.
 */
uint64_t pcie_rate_bps(const char *speed, const char *width);

#endif
