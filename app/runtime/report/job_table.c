/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/report/job_table.h"

#include "job/job_graph.h"

static double
us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static const char *
gbps(char text[16], uint64_t bps)
{
	if (bps == 0)
		return "-";
	snprintf(text, 16, "%.2f", (double)bps / 1e9);
	return text;
}

void
job_table_head(FILE *out, const char *ranks)
{
	fprintf(out, "\n%-20s %6s %9s %10s %10s %10s %9s %9s %8s\n", "job", "ranks", "iterat.",
		"mean", "p99", "max", "of bound", "alg.", "bus");
	fprintf(out, "%-20s %6s %9s %10s %10s %10s %9s %9s %8s\n", "", ranks, "ended", "us", "us",
		"us", "", "Gb/s", "Gb/s");
}

void
job_table_line(FILE *out, const struct job_line *l)
{
	char of_bound[16] = "-", alg[16], bus[16];

	if (l->bound_ns > 0 && l->ended > 0)
		snprintf(of_bound, sizeof(of_bound), "%.3f",
			 (double)l->mean_ns / (double)l->bound_ns);
	fprintf(out, "%-20s %6u %9u %10.1f %10.1f %10.1f %9s %9s %8s\n", l->name, l->n_ranks,
		l->ended, us(l->mean_ns), us(l->jct.p99_ns), us(l->jct.max_ns), of_bound,
		gbps(alg, l->alg_bps), gbps(bus, l->bus_bps));
}

void
job_table_waits(FILE *out, const struct job_line *l)
{
	if (l->waits_rank != JOB_NONE)
		fprintf(out, "job %s: iteration %u has not ended: rank %u: %s\n", l->name,
			l->ended + 1, l->waits_rank, l->waits_for);
}
