/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One program that hangs, ends or lies costs the metrics of no other. The exporter is as patient as
 * meson.build says: 0.5 s for a reply, 0.02 s for a text, 1 s for a reading.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "quenchctl/metrics/exporter.h"
#include "quenchctl/socket/sockets.h"
#include "quenchctl/socket/utf8.h"
#include "fake_program.h"

#define N 3
/* Of 10 ms: many seconds, which only a hang needs. */
#define MOST_LOOKS 6000

static struct fake_program programs[N];
static char *paths[N];
static const char *names[N];
static struct exporter *exporter;

/* In place of ctl/sockets.c: the sockets of this test. */
void
sockets_find(const char *prefix, struct sockets *found)
{
	(void)prefix;
	*found = (struct sockets){.path = paths, .n = N};
}

void
sockets_find_one(const char *prefix, struct sockets *found)
{
	sockets_find(prefix, found);
}

void
sockets_free(struct sockets *found)
{
	*found = (struct sockets){0};
}

void
socket_path(const char *prefix, char *path, size_t size)
{
	snprintf(path, size, "%s", prefix);
}

void
socket_name(const char *path, char *name, size_t size)
{
	for (unsigned int i = 0; i < N; i++)
		if (strcmp(path, paths[i]) == 0)
			snprintf(name, size, "%s", names[i]);
}

const struct http_counts *
http_counts(const struct http_server *s)
{
	(void)s;
	return NULL;
}

static int
setup(void **state)
{
	static const char *const letters[N] = {"A", "B", "C"};
	const struct metrics_bounds bounds = {0};

	(void)state;
	for (unsigned int i = 0; i < N; i++) {
		fake_start(&programs[i], "quench-switch");
		paths[i] = programs[i].path;
		names[i] = letters[i];
	}
	exporter = exporter_new(NULL, NULL, &bounds, true);
	return exporter == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	(void)state;
	exporter_free(exporter);
	for (unsigned int i = 0; i < N; i++)
		fake_stop(&programs[i]);
	return 0;
}

/* To be freed. */
static char *
text_now(void)
{
	size_t bytes = 0;
	char *at = exporter_text(exporter, METRICS_OPENMETRICS, &bytes, NULL);

	at = realloc(at, bytes + 1);
	at[bytes] = '\0';
	return at;
}

/* The value of a sample of a program's; -1: there is none. */
static double
value_in(const char *text, const char *metric, const char *prefix, const char *more)
{
	char series[256];
	const char *at;

	snprintf(series, sizeof(series), "\n%s{program=\"quench-switch\",prefix=\"%s\"%s} ", metric,
		 prefix, more);
	at = strstr(text, series);
	return at != NULL ? strtod(at + strlen(series), NULL) : -1;
}

static double
value_now(const char *metric, const char *prefix, const char *more)
{
	char *text = text_now();
	double value = value_in(text, metric, prefix, more);

	free(text);
	return value;
}

static void
wait_for(const char *metric, const char *prefix, const char *more, double least, double most)
{
	double value = -2;

	for (unsigned int i = 0; i < MOST_LOOKS; i++) {
		value = value_now(metric, prefix, more);
		if (value >= least && value <= most)
			return;
		usleep(10000);
	}
	fail_msg("%s of %s: %g, expected %g to %g", metric, prefix, value, least, most);
}

static void
wait_all_up(void)
{
	for (unsigned int i = 0; i < N; i++)
		wait_for("quench_up", names[i], "", 1, 1);
}

#define VALUE "quench_port_rx_packets_total"
#define PORT ",port=\"1\""

TEST(a_program_that_hangs_costs_its_own_metrics_alone)
{
	double before;
	char *text;

	wait_all_up();
	text = text_now();
	for (unsigned int i = 0; i < N; i++) {
		assert_true(value_in(text, VALUE, names[i], PORT) == 101);
		assert_true(value_in(text, "quench_exporter_reading_age_seconds", names[i], "") >=
			    0);
	}
	free(text);
	atomic_store(&programs[1].hangs, true);
	wait_for("quench_up", "B", "", 0, 0);
	before = value_now("quench_exporter_readings_total", "A", "");
	/* It hangs all the time, and the others are read again and again. */
	wait_for("quench_exporter_readings_total", "A", "", before + 3, 1e9);
	wait_for("quench_exporter_readings_total", "C", "", before + 3, 1e9);
	wait_for(VALUE, "A", PORT, 101, 101);
	wait_for(VALUE, "C", PORT, 101, 101);
	text = text_now();
	assert_true(value_in(text, VALUE, "B", PORT) == -1);
	assert_true(value_in(text, "quench_exporter_reading_age_seconds", "B", "") == -1);
	assert_true(value_in(text, "quench_exporter_failures_total", "B", "") >= 1);
	free(text);
	atomic_store(&programs[1].hangs, false);
	wait_for("quench_up", "B", "", 1, 1);
	wait_for(VALUE, "B", PORT, 101, 101);
}

TEST(a_program_that_ends_at_any_message_costs_its_own_metrics_alone)
{
	wait_all_up();
	for (int end_at = 0; end_at < 40; end_at++) {
		double before = value_now("quench_exporter_failures_total", "B", "");
		char *text;

		atomic_store(&programs[1].messages, 0);
		atomic_store(&programs[1].end_at, end_at);
		wait_for("quench_exporter_failures_total", "B", "", before + 1, 1e9);
		wait_for(VALUE, "A", PORT, 101, 101);
		wait_for(VALUE, "C", PORT, 101, 101);
		text = text_now();
		assert_string_equal(text + strlen(text) - 6, "# EOF\n");
		free(text);
	}
}

/* As many ports as there are numbers: each is answered. */
static void
endless_ports(struct fake_program *p, const char *command, char *text, size_t size)
{
	fake_reply(p, command, text, size);
	if (strcmp(command, "/quench/info") == 0)
		snprintf(text, size,
			 "{\"/quench/info\":{\"program\":\"quench-switch\","
			 "\"ports\":9000000000000000000}}");
}

TEST(a_reading_without_end_is_given_up)
{
	programs[1].reply = endless_ports;
	wait_for("quench_up", "A", "", 1, 1);
	/* It has never been read: nobody knows its program. */
	for (unsigned int i = 0; i < MOST_LOOKS; i++) {
		char *text = text_now();
		bool said = strstr(text, "quench_up{program=\"\",prefix=\"B\"} 0") != NULL;

		free(text);
		if (said)
			return;
		usleep(10000);
	}
	fail_msg("the program is never given up");
}

/* Names and values that would break the text of all. */
static void
hostile_names(struct fake_program *p, const char *command, char *text, size_t size)
{
	if (strcmp(command, "/quench/counters") == 0)
		snprintf(text, size,
			 "{\"/quench/counters\":{\"object\":[\"port\",\"port\",\"port\",\"drop\"],"
			 "\"name\":[\"rx_packets\",\"x} 1\\nquench_up 5\\n#\",\"\",\"drop_a\"],"
			 "\"help\":[\"%0255d\xc3\xa9\",\"b\",\"c\",\"d\\n# EOF\"]}}",
			 0);
	else if (strcmp(command, "/quench/ports") == 0)
		snprintf(text, size,
			 "{\"/quench/ports\":{\"port\":[1,\"\\\"} 1\\n# EOF\\n\",3,4],"
			 "\"device\":[\"a\\\\\",\"b\",\"c\",\"d\"],"
			 "\"rx_packets\":[101,2,-3,\"nan\"]}}");
	else
		fake_reply(p, command, text, size);
}

/* A line of OpenMetrics 1.0, as strictly as a scraper reads it. */
static void
assert_line(const char *line)
{
	bool quoted = false;
	const char *at;

	for (at = line; *at != '\0'; at += utf8_char_bytes(at))
		if (utf8_char_bytes(at) == 0)
			fail_msg("no UTF-8: %s", line);
	if (strncmp(line, "# ", 2) == 0)
		return;
	at = line + strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789_");
	if (strncmp(line, "quench_", 7) != 0 || (*at != '{' && *at != ' '))
		fail_msg("no sample: %s", line);
	for (; *at != '\0' && (quoted || *at != ' '); at++) {
		if (*at == '\\' && quoted)
			at++;
		else if (*at == '"')
			quoted = !quoted;
	}
	if (*at != ' ' || at[1] == '\0' || strspn(at + 1, "0123456789.") != strlen(at + 1))
		fail_msg("no value: %s", line);
}

TEST(what_a_program_says_cannot_break_the_text_of_all)
{
	char *text, *at;

	programs[1].reply = hostile_names;
	names[2] = "b\"\n\xff\xfe";
	wait_for("quench_up", "B", "", 1, 1);
	wait_for("quench_up", "b\\\"???", "", 1, 1);
	text = text_now();
	assert_true(value_in(text, VALUE, "A", PORT) == 101);
	assert_true(value_in(text, VALUE, "B", ",port=\"1\",device=\"a\\\\\"") == 101);
	/* A counter below 0 is none. */
	assert_true(value_in(text, VALUE, "B", ",port=\"3\",device=\"c\"") == -1);
	at = strstr(text, "\n# EOF") + 1;
	assert_string_equal(at, "# EOF\n");
	for (at = strtok(text, "\n"); at != NULL; at = strtok(NULL, "\n"))
		assert_line(at);
	free(text);
}

static void
clashing_gauge(struct fake_program *p, const char *command, char *text, size_t size)
{
	if (strncmp(command, "/quench/counters", 16) == 0)
		snprintf(text, size, "{\"/quench/counters\":{}}");
	else
		fake_reply(p, command, text, size);
}

TEST(a_family_that_is_a_counter_and_a_gauge_is_left_out_and_counted)
{
	char *text;

	programs[1].reply = clashing_gauge;
	wait_all_up();
	text = text_now();
	assert_true(value_in(text, VALUE, "A", PORT) == 101);
	assert_null(strstr(text, "quench_port_rx_packets{"));
	assert_non_null(strstr(text, "\nquench_exporter_clashes 1\n"));
	free(text);
}

TEST(two_programs_of_one_name_are_told_apart)
{
	names[1] = names[0];
	wait_for("quench_up", "A", "", 1, 1);
	wait_for("quench_up", paths[1], "", 1, 1);
}

TEST(it_ends_beside_a_program_that_hangs)
{
	atomic_store(&programs[0].hangs, true);
	free(text_now());
}

TEST_MAIN(.before_each = setup, .after_each = teardown)
