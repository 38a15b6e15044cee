/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/report/job_report.h"

#include <inttypes.h>

#include "job/job_graph.h"

/* ---- terminal ---- */

#define TABLE_NAME "%-20s %6s %9s %10s %10s %10s %7s %9s %9s %8s %8s %8s %8s %10s\n"

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
	fputc('\n', out);
	fprintf(out, TABLE_NAME, "job", "ranks", "iterat.", "mean", "p99", "max", "varia-",
		"of bound", "alg.", "bus", "CNPs", "CE", "resent", "paused");
	fprintf(out, TABLE_NAME, "", ranks, "ended", "us", "us", "us", "tion", "", "Gb/s", "Gb/s",
		"", "packets", "packets", "us");
}

void
job_table_line(FILE *out, const char *name, uint32_t n_ranks, const struct job_result *r)
{
	const struct nic_job_counts *c = &r->counts;
	char of_bound[16] = "-", alg[16], bus[16];

	if (r->bound_ns > 0 && r->ended > 0)
		snprintf(of_bound, sizeof(of_bound), "%.3f",
			 (double)r->mean_ns / (double)r->bound_ns);
	fprintf(out,
		"%-20s %6u %9u %10.1f %10.1f %10.1f %5.1f %% %9s %9s %8s %8" PRIu64 " %8" PRIu64
		" %8" PRIu64 " %10.1f\n",
		name, n_ranks, r->ended, us(r->mean_ns), us(r->spread.p99_ns), us(r->spread.max_ns),
		r->spread.cv_ppm / 1e4, of_bound, gbps(alg, r->alg_bps), gbps(bus, r->bus_bps),
		c->cnps, c->ce_packets, c->retransmitted_packets, us(c->paused_ns));
}

void
job_table_waits(FILE *out, const char *name, const struct job_result *r)
{
	if (r->waits_rank != JOB_NONE)
		fprintf(out, "job %s: iteration %u has not ended: rank %u: %s\n", name,
			r->ended + 1, r->waits_rank, r->waits_for);
}

/* ---- values ---- */

void
job_walk_keys(struct walk *w, const struct job_keys *keys)
{
	bool file = keys != NULL && job_keys_has_file(keys),
	     stages = keys != NULL && !file && job_keys_has_stages(keys),
	     one = keys != NULL && !file && !stages;

	walk_maybe_text(w, WALK_KEY, "goal", "its GOAL file; null: it has none",
			file ? keys->goal : NULL);
	walk_maybe_text(w, WALK_KEY, "stages", "key of [job NAME]; null: it has none",
			stages ? keys->stages : NULL);
	walk_maybe_text(w, WALK_KEY, "collective",
			"key of [job NAME]; null with a GOAL file or stages",
			one ? collective_words[keys->collective] : NULL);
	walk_maybe_text(w, WALK_KEY, "algorithm",
			"algorithm in use; null with a GOAL file or stages",
			one ? job_keys_algorithm(keys) : NULL);
	walk_maybe(w, WALK_GAUGE, "bytes",
		   "size of the collective; null with a GOAL file or stages",
		   one ? job_keys_bytes(keys) : 0, !one);
	WALK(number, w, GAUGE, "iterations", "iterations that each rank takes", keys->iterations);
}

/* Of the times of ranks, in all iterations or in one. */
static void
walk_ranks(struct walk *w, const struct job_spread *s)
{
	WALK(number, w, GAUGE, "rank_p50_ns",
	     "median time from when a rank begins an iteration until it ends it", s->p50_ns);
	WALK(number, w, GAUGE, "rank_p99_ns", "99th percentile of these times", s->p99_ns);
	WALK(number, w, GAUGE, "rank_max_ns", "longest of these times", s->max_ns);
	WALK(real, w, GAUGE, "rank_cv", "coefficient of variation of these times", s->cv_ppm / 1e6);
	WALK(real, w, GAUGE, "rank_jain", "Jain's index of these times", s->jain_ppm / 1e6);
}

/* Gauges: a reset of the job returns them to 0. */
static void
walk_counts(struct walk *w, const struct nic_job_counts *c)
{
	WALK(number, w, GAUGE, "rp_cnp_handled", "CNPs of the ranks' QPs in these iterations",
	     c->cnps);
	WALK(number, w, GAUGE, "ce_packets",
	     "packets that arrived with CE; 0 without measure_times", c->ce_packets);
	WALK(number, w, GAUGE, "retransmitted_packets", "packets sent again",
	     c->retransmitted_packets);
	WALK(number, w, GAUGE, "out_of_sequence",
	     "packets that arrived out of sequence; 0 without measure_times", c->out_of_sequence);
	WALK(number, w, GAUGE, "paused_ns",
	     "sum over the ranks of the time for which a priority of their NIC was paused",
	     c->paused_ns);
}

void
job_walk_result(struct walk *w, const struct job_result *r)
{
	WALK(number, w, GAUGE, "iterations_ended", "iterations that all of these ranks have ended",
	     r->ended);
	WALK(number, w, GAUGE, "jct_min_ns",
	     "shortest completion time of an iteration: from the begin of the first of these ranks "
	     "to the end of the last one",
	     r->spread.min_ns);
	WALK(number, w, GAUGE, "jct_p50_ns", "median of these times", r->spread.p50_ns);
	WALK(number, w, GAUGE, "jct_p99_ns", "99th percentile of these times", r->spread.p99_ns);
	WALK(number, w, GAUGE, "jct_max_ns", "longest of these times", r->spread.max_ns);
	WALK(number, w, GAUGE, "jct_mean_ns", "mean of these times", r->mean_ns);
	WALK(real, w, GAUGE, "jct_cv",
	     "coefficient of variation of these times: standard deviation / mean",
	     r->spread.cv_ppm / 1e6);
	walk_ranks(w, r == NULL ? NULL : &r->ranks);
	walk_counts(w, r == NULL ? NULL : &r->counts);
	WALK(number, w, GAUGE, "bound_ns",
	     "lower bound of jct_mean_ns for links of this speed; 0 with a GOAL file", r->bound_ns);
	WALK(number, w, GAUGE, "algorithm_bandwidth_bps", "bytes / jct_mean_ns", r->alg_bps);
	WALK(number, w, GAUGE, "bus_bandwidth_bps",
	     "algorithm_bandwidth_bps x the factor of nccl-tests", r->bus_bps);
	WALK(number, w, COUNTER, "unknown_messages", "messages with a tag that nothing receives",
	     r->unknown);
	walk_maybe(w, WALK_KEY, "waits_rank",
		   "number of one of these ranks that is behind; null: none is",
		   r == NULL ? 0 : r->waits_rank, r == NULL || r->waits_rank == JOB_NONE);
	walk_maybe_text(
		w, WALK_KEY, "waits_for",
		"the operation, or the digest of another rank, that it waits for; null: none",
		r == NULL || r->waits_rank == JOB_NONE ? NULL : r->waits_for);
}

void
job_walk_iteration(struct walk *w, const struct job_iteration *it, uint32_t number)
{
	walk_number(w, WALK_KEY, "iteration", "number of the iteration, from 1 on", number + 1);
	WALK(number, w, GAUGE, "begin_ns", "begin of the first rank", it->begin_ns);
	WALK(number, w, GAUGE, "jct_ns", "time until the last rank has ended it",
	     it->end_ns - it->begin_ns);
	WALK(number, w, GAUGE, "last_rank", "the rank that ended it last", it->last_rank);
	walk_ranks(w, it == NULL ? NULL : &it->ranks);
	walk_counts(w, it == NULL ? NULL : &it->counts);
}

void
job_walk_rank(struct walk *w, const struct nic_job_info *info)
{
	WALK(number, w, GAUGE, "iterations_ended", "iterations that it has ended", info->ended);
	WALK(number, w, GAUGE, "compute_ns", "time during which it computed",
	     info->time_ns[NIC_JOB_COMPUTES]);
	WALK(number, w, GAUGE, "send_ns", "time during which it sent and did not compute",
	     info->time_ns[NIC_JOB_SENDS]);
	WALK(number, w, GAUGE, "wait_ns", "time during which it waited for messages",
	     info->time_ns[NIC_JOB_WAITS]);
	WALK(number, w, GAUGE, "messages_sent", "messages that it has begun to send", info->sent);
	WALK(number, w, GAUGE, "messages_received", "messages that it has received",
	     info->received);
}

/* ---- CSV ---- */

void
job_csv_counts(FILE *out, const struct nic_job_counts *c)
{
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", c->cnps,
		c->ce_packets, c->retransmitted_packets, c->out_of_sequence, c->paused_ns);
}

void
job_csv_iterations(FILE *out, const char *name, const struct job_result *r)
{
	for (uint32_t k = 0; k < r->ended; k++) {
		const struct job_iteration *it = &r->iterations[k];

		fprintf(out,
			"%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",%.6f,%.6f",
			name, k + 1, it->begin_ns, it->end_ns, it->end_ns - it->begin_ns,
			it->last_rank, it->ranks.p50_ns, it->ranks.p99_ns, it->ranks.max_ns,
			it->ranks.cv_ppm / 1e6, it->ranks.jain_ppm / 1e6);
		job_csv_counts(out, &it->counts);
	}
}
