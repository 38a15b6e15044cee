/* SPDX-License-Identifier: BSD-3-Clause */
/* show times: the histograms of a flow's times, since its start or since a clear. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "runtime/notice/scaled.h"
#include "quenchctl/show/baseline.h"
#include "quenchctl/show/show.h"

/* Most lines of one histogram, and the length of its longest bar. */
#define MOST_LINES 20
#define BAR_CHARS 40

static const struct measure {
	const char *key, *name, *unit; /* unit NULL: a time */
} measures[] = {
	{"completion_ns", "completion time", NULL},   {"slowdown_milli", "slowdown", "x"},
	{"rtt_ns", "round-trip time", NULL},          {"jitter_ns", "jitter of the pacing", NULL},
	{"burst_gap_ns", "gap between bursts", NULL}, {"one_way_ns", "one-way time", NULL},
};

static const struct {
	const char *key, *name;
	double pct;
} quantiles[] = {
	{"p50", "p50", 50},      {"p95", "p95", 95},  {"p99", "p99", 99},
	{"p999", "p99.9", 99.9}, {"max", "max", 100},
};

static bool
is_of(const json_t *row, const struct measure *m)
{
	return strcmp(json_string_value(json_object_get(row, "measure")), m->key) == 0;
}

/* The buckets of one measure, in ascending order, without empty ones. */
static json_t *
buckets_of(const json_t *rows, const struct measure *m)
{
	json_t *buckets = json_array(), *row;
	size_t i;

	json_array_foreach (rows, i, row)
		if (is_of(row, m) && client_u64(row, "count") > 0)
			json_array_append(buckets, row);
	return buckets;
}

static uint64_t
count_of(const json_t *buckets)
{
	uint64_t count = 0;
	json_t *bucket;
	size_t i;

	json_array_foreach (buckets, i, bucket)
		count += client_u64(bucket, "count");
	return count;
}

/* The smallest bucket at or below which at least pct percent of the samples lie. */
static uint64_t
quantile(const json_t *buckets, double pct)
{
	uint64_t below = 0, wanted = (uint64_t)ceil((double)count_of(buckets) * pct / 100);
	json_t *bucket;
	size_t i;

	json_array_foreach (buckets, i, bucket) {
		below += client_u64(bucket, "count");
		if (below >= wanted)
			return client_u64(bucket, "at_most");
	}
	return 0;
}

static const char *
value_text(char text[SCALED_CHARS], const struct measure *m, uint64_t value)
{
	if (m->unit == NULL)
		return scaled_time(text, value);
	snprintf(text, SCALED_CHARS, "%.3g%s", (double)value / 1000, m->unit);
	return text;
}

/* Lines per factor of ten, so that the histogram takes at most MOST_LINES. */
static double
lines_per_decade(const json_t *buckets)
{
	static const double steps[] = {320, 160, 80, 40, 20, 10, 5, 2};
	size_t n = json_array_size(buckets);
	uint64_t low = max_u64(client_u64(json_array_get(buckets, 0), "at_most"), 1);
	uint64_t high = max_u64(client_u64(json_array_get(buckets, n - 1), "at_most"), 1);
	double decades = log10((double)high) - log10((double)low);

	for (unsigned int i = 0; i < ARRAY_LEN(steps); i++)
		if (decades * steps[i] + 2 <= MOST_LINES)
			return steps[i];
	return 1;
}

static int
line_of(const json_t *bucket, double per_decade)
{
	return (int)ceil(log10((double)max_u64(client_u64(bucket, "at_most"), 1)) * per_decade -
			 1e-9);
}

/* The samples of the buckets from *i on that belong to one line; *i is then the next line's. */
static uint64_t
sum_line(const json_t *buckets, double per_decade, size_t *i)
{
	int line = line_of(json_array_get(buckets, *i), per_decade);
	uint64_t count = 0;

	for (; *i < json_array_size(buckets); (*i)++) {
		const json_t *bucket = json_array_get(buckets, *i);

		if (line_of(bucket, per_decade) != line)
			break;
		count += client_u64(bucket, "count");
	}
	return count;
}

static uint64_t
longest_line(const json_t *buckets, double per_decade)
{
	uint64_t most = 1;

	for (size_t i = 0; i < json_array_size(buckets);)
		most = max_u64(most, sum_line(buckets, per_decade, &i));
	return most;
}

static void
print_lines(const struct measure *m, const json_t *buckets)
{
	double per_decade = lines_per_decade(buckets);
	uint64_t most = longest_line(buckets, per_decade), total = count_of(buckets), below = 0;
	char value[SCALED_CHARS];

	printf("%12s %12s %10s\n", "at most", "count", "cumulative");
	for (size_t i = 0; i < json_array_size(buckets);) {
		uint64_t count = sum_line(buckets, per_decade, &i);
		uint64_t top = client_u64(json_array_get(buckets, i - 1), "at_most");
		int bar = (int)ceil((double)count * BAR_CHARS / (double)most);

		below += count;
		printf("%12s %12" PRIu64 " %9.2f%% %.*s\n", value_text(value, m, top), count,
		       100.0 * (double)below / (double)total, bar,
		       "########################################");
	}
}

static void
print_measure(const struct measure *m, const json_t *buckets)
{
	char value[SCALED_CHARS];

	printf("%s: %" PRIu64 " samples", m->name, count_of(buckets));
	for (unsigned int i = 0; i < ARRAY_LEN(quantiles); i++)
		printf(", %s %s", quantiles[i].name,
		       value_text(value, m, quantile(buckets, quantiles[i].pct)));
	putchar('\n');
	print_lines(m, buckets);
	putchar('\n');
}

static json_t *
measure_object(const struct measure *m, const json_t *buckets)
{
	json_t *o =
		json_pack("{s:s, s:I}", "measure", m->key, "count", (json_int_t)count_of(buckets));

	for (unsigned int i = 0; i < ARRAY_LEN(quantiles); i++)
		json_object_set_new(o, quantiles[i].key,
				    json_integer((json_int_t)quantile(buckets, quantiles[i].pct)));
	return o;
}

static void
print_times(const struct ctl_options *o, const json_t *reply)
{
	json_t *sums = json_array(), *kept = json_array();

	for (unsigned int i = 0; i < ARRAY_LEN(measures); i++) {
		json_t *buckets = buckets_of(json_object_get(reply, "rows"), &measures[i]);

		if (json_array_size(buckets) > 0 && !o->json)
			print_measure(&measures[i], buckets);
		if (json_array_size(buckets) > 0)
			json_array_append_new(sums, measure_object(&measures[i], buckets));
		json_array_extend(kept, buckets);
		json_decref(buckets);
	}
	if (o->json) {
		json_t *all = json_pack("{s:O, s:O, s:O}", "flow", json_object_get(reply, "flow"),
					"times", sums, "rows", kept);

		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	} else if (json_array_size(kept) == 0) {
		printf("nothing was measured yet\n");
	}
	json_decref(sums);
	json_decref(kept);
}

int
command_show_times(const struct command *command, struct client *c, const struct ctl_options *o,
		   const char *const params[COMMAND_PARAMS])
{
	char text[CLIENT_REQUEST_CHARS];
	json_t *baseline, *reply;
	int rc = check_params(params);

	if (rc != 0)
		return rc;
	snprintf(text, sizeof(text), "%s,%s", command->path, params[0]);
	rc = client_ask(c, text, &reply);
	if (rc != 0)
		return rc;
	baseline = o->since_start ? NULL : baseline_load(c);
	baseline_subtract(baseline, text, reply);
	print_times(o, reply);
	json_decref(baseline);
	json_decref(reply);
	return 0;
}
