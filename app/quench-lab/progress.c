/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/progress.h"

#include <stdio.h>
#include <time.h>

#include "base/numbers/units.h"

#define BAR_CHARS 24
#define BETWEEN_S 0.1 /* a shorter interval is unreadable, and writing to a terminal takes time */

double
progress_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* "7 s", "3 min 20 s", "2 h 05 min" */
static void
print_span(char *text, size_t size, double seconds)
{
	unsigned int s = seconds < 1e6 ? (unsigned int)(seconds + 0.5) : 1000000;

	if (s < 60)
		snprintf(text, size, "%u s", s);
	else if (s < 3600)
		snprintf(text, size, "%u min %02u s", s / 60, s % 60);
	else
		snprintf(text, size, "%u h %02u min", s / 3600, s / 60 % 60);
}

void
progress_line(char line[static PROGRESS_CHARS], const struct progress_state *s)
{
	double part = s->duration_ns > 0 ? (double)s->now_ns / (double)s->duration_ns : 1;
	int filled = (int)(part * BAR_CHARS);
	char span[32], speed[64] = "";

	if (s->wall_seconds > 0)
		snprintf(speed, sizeof(speed), "  %.2f M hops/s  %.3g x real time",
			 (double)s->packet_hops / s->wall_seconds / 1e6,
			 (double)s->now_ns / 1e9 / s->wall_seconds);
	/* Estimate that the rest runs at the same speed. */
	print_span(span, sizeof(span),
		   s->now_ns > 0 && s->now_ns < s->duration_ns ? s->wall_seconds * (1 - part) / part
							       : s->wall_seconds);
	snprintf(line, PROGRESS_CHARS, "[%.*s%*s] %3d %%  %.1f of %.1f ms%s  %s %s", filled,
		 "########################", BAR_CHARS - filled, "", (int)(part * 100),
		 (double)s->now_ns / NS_PER_MS, (double)s->duration_ns / NS_PER_MS, speed,
		 s->now_ns < s->duration_ns ? "ETA" : "in", span);
}

/* Is it time to replace the line? */
static bool
is_due(struct progress *p, bool last)
{
	double now_s = progress_clock();

	if (!p->enabled || (!last && p->shown_s > 0 && now_s - p->shown_s < BETWEEN_S))
		return false;
	p->shown_s = now_s;
	return true;
}

void
progress_show_fluid(struct progress *p, uint64_t now_ns, uint64_t end_ns)
{
	bool last = now_ns >= end_ns;

	if (!is_due(p, last))
		return;
	fprintf(stderr, "\rfluid model: %.1f of %.1f ms\033[K%s", (double)now_ns / NS_PER_MS,
		(double)end_ns / NS_PER_MS, last ? "\n" : "");
	fflush(stderr);
}

void
progress_show(struct progress *p, const struct progress_state *s)
{
	char line[PROGRESS_CHARS];
	bool last = s->now_ns >= s->duration_ns;

	if (!is_due(p, last))
		return;
	progress_line(line, s);
	/* Clear to the end of the line: the previous one may have been longer. */
	fprintf(stderr, "\r%s\033[K%s", line, last ? "\n" : "");
	fflush(stderr);
}
