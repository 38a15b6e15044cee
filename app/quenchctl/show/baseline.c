/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/show/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "runtime/notice/say.h"

#define PATH_CHARS 512

/* Keys that identify a row of a list. */
static const char *const row_keys[] = {"port",      "queue", "pg",        "prio",    "flow",
				       "local_qpn", "pool",  "interface", "measure", "at_most"};

/* Objects whose members are all counters. */
static const char *const counter_objects[] = {"drops", "malformed", "device_stats"};

static bool
is_in(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

static bool
has_row_key(const char *key)
{
	return is_in(key, row_keys, ARRAY_LEN(row_keys));
}

static bool
is_counter_object(const char *key)
{
	return is_in(key, counter_objects, ARRAY_LEN(counter_objects));
}

/* @return false: neither XDG_CACHE_HOME nor HOME is set. */
static bool
folder(char path[PATH_CHARS])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache != NULL && *cache == '/')
		snprintf(path, PATH_CHARS, "%s/quenchctl", cache);
	else if (home != NULL && *home == '/')
		snprintf(path, PATH_CHARS, "%s/.cache/quenchctl", home);
	else
		return false;
	return true;
}

static bool
file_of(const struct client *c, char path[PATH_CHARS])
{
	size_t n;

	if (!folder(path))
		return false;
	n = strlen(path);
	return snprintf(path + n, PATH_CHARS - n, "/%" PRIu64 ".json", c->pid) <
	       (int)(PATH_CHARS - n);
}

/* Start time of a process, in clock ticks since boot (proc(5)); 0: unknown. */
static uint64_t
start_of(uint64_t pid)
{
	char path[64], line[1024];
	const char *at;
	uint64_t start = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	at = fgets(line, sizeof(line), f);
	fclose(f);
	/* Field 22. Field 2 is a name, which may contain blanks and ends at the last bracket. */
	at = at == NULL ? NULL : strrchr(line, ')');
	for (unsigned int field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at != NULL)
		start = strtoull(at + 1, NULL, 10);
	return start;
}

json_t *
baseline_load(const struct client *c)
{
	char path[PATH_CHARS];
	json_t *b = file_of(c, path) ? json_load_file(path, 0, NULL) : NULL;
	const json_t *start = json_object_get(b, "start");

	if (b != NULL && (!json_is_object(json_object_get(b, "replies")) ||
			  !json_is_object(json_object_get(b, "times_ns")) ||
			  !json_is_array(json_object_get(b, "counters")) ||
			  (uint64_t)json_integer_value(start) != start_of(c->pid))) {
		json_decref(b);
		b = NULL;
	}
	return b;
}

/* Create the folder, and also ~/.cache if that is missing. */
static int
make_folder(void)
{
	char dir[PATH_CHARS], *slash;

	if (!folder(dir)) {
		say_error("no place for the baseline: expected HOME or XDG_CACHE_HOME to be set");
		return APP_FAILED;
	}
	slash = strrchr(dir, '/');
	*slash = '\0';
	mkdir(dir, 0700);
	*slash = '/';
	if (mkdir(dir, 0700) == 0 || errno == EEXIST)
		return 0;
	say_error("%s: %s", dir, strerror(errno));
	return APP_FAILED;
}

int
baseline_keep(const struct client *c, json_t *replies, json_t *counters, json_t *elapsed_ns)
{
	char path[PATH_CHARS], temporary[PATH_CHARS + 4];
	json_t *b = baseline_load(c), *reply;
	int rc = make_folder();
	const char *command;

	if (rc == 0 && b == NULL)
		b = json_pack("{s:I, s:{}, s:{}}", "start", (json_int_t)start_of(c->pid), "replies",
			      "times_ns");
	if (rc == 0) {
		json_object_foreach (replies, command, reply) {
			json_object_set(json_object_get(b, "replies"), command, reply);
			json_object_set(json_object_get(b, "times_ns"), command, elapsed_ns);
		}
		json_object_set(b, "counters", counters);
		file_of(c, path);
		snprintf(temporary, sizeof(temporary), "%s.new", path);
		if (json_dump_file(b, temporary, JSON_COMPACT) != 0 ||
		    rename(temporary, path) != 0) {
			say_unwritten(path, errno);
			remove(temporary);
			rc = APP_FAILED;
		}
	}
	json_decref(b);
	return rc;
}

static json_t *
names_of(const json_t *baseline)
{
	json_t *names = json_object(), *name;
	size_t i;

	json_array_foreach (json_object_get(baseline, "counters"), i, name)
		json_object_set_new(names, json_string_value(name), json_true());
	return names;
}

static void
subtract_object(json_t *now, const json_t *then, const json_t *names, bool all)
{
	const char *key;
	json_t *v;

	json_object_foreach (now, key, v) {
		const json_t *old = json_object_get(then, key);

		if (json_is_object(v) && json_is_object(old))
			subtract_object(v, old, names, is_counter_object(key));
		else if (json_is_integer(v) && json_is_integer(old) && !has_row_key(key) &&
			 (all || json_object_get(names, key) != NULL))
			json_integer_set(v, json_integer_value(v) - json_integer_value(old));
	}
}

/* Name of a row: the values of its row keys. */
static void
row_name(const json_t *row, char name[PATH_CHARS])
{
	size_t used = 0;

	name[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(row_keys); i++) {
		const json_t *v = json_object_get(row, row_keys[i]);
		int n = 0;

		if (json_is_integer(v))
			n = snprintf(name + used, PATH_CHARS - used, "%" JSON_INTEGER_FORMAT "/",
				     json_integer_value(v));
		else if (json_is_string(v))
			n = snprintf(name + used, PATH_CHARS - used, "%s/", json_string_value(v));
		used += n > 0 && used + (size_t)n < PATH_CHARS ? (size_t)n : 0;
	}
}

/* An object with the rows by name. */
static json_t *
by_name(const json_t *rows)
{
	json_t *o = json_object(), *row;
	char name[PATH_CHARS];
	size_t i;

	json_array_foreach (rows, i, row) {
		row_name(row, name);
		json_object_set(o, name, row);
	}
	return o;
}

static void
subtract_rows(json_t *now, const json_t *then, const json_t *names, bool all)
{
	json_t *rows = by_name(then), *row;
	char name[PATH_CHARS];
	size_t i;

	json_array_foreach (now, i, row) {
		row_name(row, name);
		subtract_object(row, json_object_get(rows, name), names, all);
	}
	json_decref(rows);
}

void
baseline_subtract(const json_t *baseline, const char *command, json_t *reply)
{
	const json_t *then = json_object_get(json_object_get(baseline, "replies"), command);
	json_t *names, *v;
	const char *key;
	/* In rows of drops and of histograms all members but their keys are counters. */
	bool all = strcmp(command, "/quench/drops") == 0 ||
		   strncmp(command, "/quench/times,", strlen("/quench/times,")) == 0;

	if (then == NULL)
		return;
	names = names_of(baseline);
	subtract_object(reply, then, names, false);
	json_object_foreach (reply, key, v) {
		if (json_is_array(v))
			subtract_rows(v, json_object_get(then, key), names, all);
	}
	json_decref(names);
}

static void
set_mean(json_t *row, const char *rate, const char *bytes, uint64_t ns)
{
	double bps = (double)client_u64(row, bytes) * 8e9 / (double)ns;

	json_object_set_new(row, rate, json_integer((json_int_t)(bps + 0.5)));
}

void
baseline_mean_rates(const json_t *baseline, const char *command, json_t *reply, uint64_t elapsed_ns)
{
	const json_t *then = json_object_get(json_object_get(baseline, "replies"), command);
	uint64_t cleared_ns = client_u64(json_object_get(baseline, "times_ns"), command);
	json_t *rows = by_name(json_object_get(then, "rows")), *row;
	char name[PATH_CHARS];
	size_t i;

	json_array_foreach (json_object_get(reply, "rows"), i, row) {
		uint64_t from_ns = max_u64(cleared_ns, client_u64(row, "started_ns"));

		row_name(row, name);
		if (json_object_get(rows, name) == NULL || elapsed_ns <= from_ns)
			continue;
		set_mean(row, "wire_rate_bps", "wire_bytes", elapsed_ns - from_ns);
		set_mean(row, "goodput_bps", "payload_bytes", elapsed_ns - from_ns);
	}
	json_decref(rows);
}
