/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of a run on a terminal: simulated time, speed and estimated end. */
#ifndef QUENCH_APP_QUENCH_LAB_PROGRESS_H
#define QUENCH_APP_QUENCH_LAB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool enabled; /* show a progress line */
	double started_s, shown_s;
};

struct progress_state {
	uint64_t now_ns, duration_ns; /* simulated */
	uint64_t packet_hops;         /* so far */
	double wall_seconds;          /* so far */
};

#define PROGRESS_CHARS 128

/** Format a line without newline: bar, simulated time, packet-hops/s, speed, ETA. */
void progress_line(char line[static PROGRESS_CHARS], const struct progress_state *s);

/** Replace the line on the terminal, at most ten times a second and at the end of the run. */
void progress_show(struct progress *p, const struct progress_state *s);

/** The same for the fluid model after the packets. */
void progress_show_fluid(struct progress *p, uint64_t now_ns, uint64_t end_ns);

/** Monotonic real time, in seconds. */
double progress_clock(void);

#endif
