/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of flows, as quench-nic and quench-lab write them: rows of flows.csv and times.csv, and
 * keys of a JSON object (doc/interface.md).
 */
#ifndef QUENCH_CTL_RESULTS_FLOW_RESULTS_H
#define QUENCH_CTL_RESULTS_FLOW_RESULTS_H

#include <stdint.h>
#include <stdio.h>

#include "base/field/walk.h"
#include "nic/observe/flow_info.h"

#define SLOWDOWN_CHARS 24

/* A row of flows.csv: one interval of a flow. */
struct flow_row {
	uint64_t time_ns;
	const char *flow;
	/* of the interval */
	uint64_t wire_rate_bps, goodput_bps;
	const struct nic_times *times; /* NULL: not measured */
	/* at the end of the interval */
	uint64_t rp_rate_bps, rp_target_rate_bps;
	/* since the start */
	uint64_t cnps_handled, cnps_sent, cnps_ignored, ce_packets;
	uint64_t messages, retransmitted_packets, rate_cuts;
	uint64_t paused_ns;
};

/** Print the heading of flows.csv; print a row. */
void flow_csv_head(FILE *out);
void flow_csv_row(FILE *out, const struct flow_row *row);

/** Print the heading of times.csv; print a flow's histograms, of which either may be NULL. */
void times_csv_head(FILE *out);
void times_csv_rows(FILE *out, const char *flow, const struct nic_times *times,
		    const struct nic_pacing *pacing);

/**
 * completions, completion_*_ns, slowdowns, ideal_from, slowdown_*, rtt_samples, rtt_*_ns; all
 * numbers are zero if times is NULL. Without samples a quantile is 0.
 */
void walk_times(struct walk *w, const struct nic_times *times);

/** A quantile of the slowdown in two digits, or "-" if there is none. @return text. */
const char *slowdown_text(const struct nic_times *times, double pct, char text[SLOWDOWN_CHARS]);

/** Source of the ideal time in the slowdown, in the words of ideal_from. */
const char *slowdown_base(const struct nic_times *times);

/**
 * What is measured of paced_gaps, paced_rate_error_ppm, jitter_*_ns; burst_gaps, burst_gap_*_ns;
 * one_way_samples, one_way_*_ns. Nothing if pacing is NULL.
 */
void walk_pacing(struct walk *w, const struct nic_pacing *pacing);

#endif
