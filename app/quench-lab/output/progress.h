/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a run is, on a terminal: simulated time, speed, and when it will be done. */
#ifndef QUENCH_APP_QUENCH_LAB_OUTPUT_PROGRESS_H
#define QUENCH_APP_QUENCH_LAB_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown; /* is there to be one? */
	double started_s, shown_s;
};

struct progress_state {
	uint64_t now_ns, duration_ns; /* simulated */
	uint64_t packet_hops;         /* so far */
	double wall_seconds;          /* so far */
};

#define PROGRESS_CHARS 128

/** One line without its end: bar, simulated time, packet-hops/s, simulated over real time, ETA. */
void progress_line(char line[static PROGRESS_CHARS], const struct progress_state *s);

/** Show it in place of the one before, a few times in a second and at the end of the run. */
void progress_show(struct progress *p, const struct progress_state *s);

/** Real time, in seconds since some moment. */
double progress_clock(void);

#endif
