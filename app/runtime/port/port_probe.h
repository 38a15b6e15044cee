/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device does with pause frames, link pause and UDP port 4791, and what to do about it: a
 * line for each, from what the device answers and what its driver is known to do. Virtual devices
 * have been tried and need one line, NICs have not (doc/ports.md): their lines say so.
 */
#ifndef QUENCH_APP_RUNTIME_PORT_PORT_PROBE_H
#define QUENCH_APP_RUNTIME_PORT_PORT_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* What a device answered when asked about link pause, and to turn it off. */
enum link_pause {
	LINK_PAUSE_UNKNOWN, /* it cannot be asked */
	LINK_PAUSE_OFF,
	LINK_PAUSE_TURNED_OFF,
	LINK_PAUSE_STAYS_ON,
};

#define PROBE_LINES 4

struct probe_line {
	const char *what; /* NULL: all */
	const char *text;
	bool warning;
	bool certain; /* tried by us, or the device's own word */
};

/** What there is to say about a driver's device. @return the number of lines. */
unsigned int probe_lines(const char *driver, enum link_pause pause,
			 struct probe_line lines[PROBE_LINES]);

/** Turn link pause off where it is on, ask for pause frames, and say all of it. Started device. */
void port_probe(uint16_t ethdev);

/** Warn if the bus is slower than the port. Devices that are not on PCIe pass. */
void port_check_pcie(uint16_t ethdev, uint64_t link_speed_bps);

/**
 * After a run: warn if the device has counted more received pause frames than it showed.
 * @param seen  That software received.
 */
void port_check_hidden_pause(uint16_t ethdev, uint64_t seen);

/**
 * What PCIe carries one way, before packet headers: from sysfs's current_link_speed ("8.0 GT/s
 * PCIe") and current_link_width ("8"). @return bits/s; 0 if the texts say nothing.
 */
uint64_t pcie_rate_bps(const char *speed, const char *width);

#endif
