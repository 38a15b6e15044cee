/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/cases.h"
#include "ctl/output/json.h"

struct stats {
	uint64_t rx, tx;
};

static const struct counter_field counters[] = {
	COUNTER_FIELD(struct stats, rx, "frames received"),
	COUNTER_FIELD(struct stats, tx, "frames sent"),
};

static json_t *
document(void)
{
	const struct stats s = {.rx = 1, .tx = INT64_MAX};
	struct json_walk j = json_walk(json_object());

	walk_counters(&j.walk, WALK_COUNTER, counters, 2, &s);
	return j.at;
}

static const char written[] = "{\n  \"rx\": 1,\n  \"tx\": 9223372036854775807\n}\n";

static void
slurp(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
}

static int
files_here(void)
{
	DIR *dir = opendir(".");
	int n = 0;

	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

TEST(a_file_appears_whole_and_alone)
{
	json_t *o = document();
	char text[256];
	struct stat st;

	assert_int_equal(json_write(o, "out.json"), 0);
	slurp("out.json", text, sizeof(text));
	assert_string_equal(text, written);
	assert_int_equal(files_here(), 1);
	assert_int_equal(stat("out.json", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644); /* the umask of this test is 022 */
	unlink("out.json");
	json_decref(o);
}

TEST(a_write_that_fails_leaves_the_old_file_and_no_other)
{
	struct rlimit was, small;
	json_t *o = document();
	char text[256];

	assert_int_equal(json_write(o, "out.json"), 0);
	json_object_set_new(o, "long", json_string("0123456789012345678901234567890123456789"));
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	small = was;
	small.rlim_cur = 60; /* bytes: less than the new document */
	setrlimit(RLIMIT_FSIZE, &small);
	assert_int_equal(json_write(o, "out.json"), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &was);
	slurp("out.json", text, sizeof(text));
	assert_string_equal(text, written);
	assert_int_equal(files_here(), 1);
	unlink("out.json");
	json_decref(o);
}

TEST(a_write_that_fails_says_why)
{
	json_t *o = document();

	assert_int_equal(json_write(o, "/dev/full"), -ENOSPC);
	assert_int_equal(json_write(o, "no/out.json"), -ENOENT);
	assert_int_equal(json_write(o, "."), -EISDIR);
	assert_int_equal(files_here(), 0);
	json_decref(o);
}

TEST(a_dash_is_standard_output)
{
	int saved = dup(STDOUT_FILENO), fd = open("stdout", O_CREAT | O_TRUNC | O_WRONLY, 0600);
	json_t *o = document();
	char text[256];
	int rc;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	rc = json_write(o, "-");
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fd);
	assert_int_equal(rc, 0);
	slurp("stdout", text, sizeof(text));
	assert_string_equal(text, written);
	unlink("stdout");
	json_decref(o);
}

static int
enter_folder(void **state)
{
	static char folder[] = "/tmp/quench-json-XXXXXX";

	umask(022);
	*state = mkdtemp(folder);
	return *state ? chdir(*state) : -1;
}

static int
leave_folder(void **state)
{
	return chdir("/") || rmdir(*state);
}

TEST(parameters_of_a_table_become_numbers_switches_and_text)
{
	static const char *const words[] = {"red", "green", NULL};
	struct params {
		bool on;
		uint8_t small;
		uint64_t rate_bps, time_ns;
		int colour;
	};
	static const struct field fields[] = {
		{.name = "on", .type = FIELD_BOOL, .offset = offsetof(struct params, on)},
		{.name = "small", .type = FIELD_U8, .offset = offsetof(struct params, small)},
		{.name = "rate_bps",
		 .type = FIELD_U64,
		 .unit = UNIT_BPS,
		 .offset = offsetof(struct params, rate_bps)},
		{.name = "time_ns",
		 .type = FIELD_U64,
		 .unit = UNIT_NS,
		 .max = UINT64_MAX,
		 .offset = offsetof(struct params, time_ns)},
		{.name = "colour",
		 .type = FIELD_ENUM,
		 .choices = words,
		 .offset = offsetof(struct params, colour)},
	};
	const struct params p = {true, 200, 40000000000, UINT64_MAX, 1};
	struct json_walk j = json_walk(json_object());
	char *text;

	walk_fields(&j.walk, WALK_PARAM, fields, 5, &p);
	text = json_dumps(j.at, JSON_COMPACT | JSON_PRESERVE_ORDER);
	assert_string_equal(text, "{\"on\":true,\"small\":200,\"rate_bps\":40000000000,"
				  "\"time_ns\":\"never\",\"colour\":\"green\"}");
	free(text);
	json_decref(j.at);
}

TEST_MAIN(.begin = enter_folder, .end = leave_folder)
