/* SPDX-License-Identifier: BSD-3-Clause */
/* quenchctl's readers beside a program that ends, hangs or lies at any message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"
#include "quenchctl/socket/client.h"
#include "quenchctl/metrics/metrics.h"
#include "quenchctl/top/snapshot.h"
#include "quenchctl/show/trace_rows.h"
#include "fake_program.h"

#define MOST_MESSAGES 200

static struct fake_program program;

static int
start_switch(void **state)
{
	(void)state;
	fake_start(&program, "quench-switch");
	return 0;
}

static int
start_nic(void **state)
{
	(void)state;
	fake_start(&program, "quench-nic");
	return 0;
}

static int
stop(void **state)
{
	(void)state;
	fake_stop(&program);
	return 0;
}

/* Not NULL, so that what is not set shows. */
static json_t *
junk(void)
{
	return (json_t *)(uintptr_t)8;
}

/* A reply after an error is no pointer to what was freed. @return rc. */
static int
whole_or_null(int rc, json_t *reply)
{
	if (rc != 0)
		assert_null(reply);
	else
		assert_int_equal(json_array_size(json_object_get(reply, "rows")), FAKE_PAGES);
	json_decref(reply);
	return rc;
}

static int
ask_all(struct client *c)
{
	json_t *reply = junk();
	int rc = client_ask(c, "/quench/counters", &reply);

	return whole_or_null(rc, reply);
}

static int
ask_first(struct client *c)
{
	json_t *reply = junk();
	int rc = client_ask_first(c, "/quench/flows", 3, &reply);

	return whole_or_null(rc, reply);
}

static int
read_trace(struct client *c)
{
	json_t *reply = junk();
	int rc = trace_read_all(c, "5", &reply);

	return whole_or_null(rc, reply);
}

static int
take_reading(struct client *c)
{
	struct snapshot r;
	int rc = snapshot_take(c, &r);

	if (rc != 0)
		assert_null(r.replies);
	snapshot_free(&r);
	return rc;
}

static int
collect(struct client *c)
{
	const struct metrics_bounds bounds = {.flows = 3, .qps = 3};
	struct metrics *m = metrics_new();
	struct meanings meanings;
	int rc = meanings_read(c, &meanings);

	if (rc == 0)
		rc = metrics_collect(m, c, &meanings, "a=\"b\"", &bounds);
	/* After an error there is nothing to free, and freeing it is harmless. */
	meanings_free(&meanings);
	metrics_free(m);
	return rc;
}

/* A client that asks a program which hangs up in place of each message in turn. */
static void
assert_survives_each_end(int (*ask)(struct client *))
{
	int end_at = 0, rc = APP_FAILED;

	for (; rc != 0 && end_at < MOST_MESSAGES; end_at++) {
		struct client c = {.quiet = true};

		atomic_store(&program.messages, 0);
		atomic_store(&program.end_at, end_at);
		rc = client_open(&c, program.path, NULL);
		if (rc == 0)
			rc = ask(&c);
		if (rc != 0)
			assert_string_not_equal(c.error, "");
		client_close(&c);
	}
	assert_int_equal(rc, 0);
	/* The hello, the question who it is, and the pages. */
	assert_in_range(end_at, 2 + FAKE_PAGES, MOST_MESSAGES);
}

TEST(a_program_may_end_inside_any_paged_reply)
{
	assert_survives_each_end(ask_all);
	assert_survives_each_end(ask_first);
	assert_survives_each_end(read_trace);
}

static void
assert_survives_each_end_of_a_reading(void)
{
	assert_survives_each_end(take_reading);
	assert_survives_each_end(collect);
}

TEST(a_switch_may_end_inside_any_reading)
{
	assert_survives_each_end_of_a_reading();
}

TEST_WITH(a_nic_may_end_inside_any_reading, start_nic, stop)
{
	assert_survives_each_end_of_a_reading();
}

static void
assert_open(struct client *c)
{
	*c = (struct client){.quiet = true};
	assert_int_equal(client_open(c, program.path, NULL), 0);
}

/* The same page for ever, or one before it. */
static void
same_page(struct fake_program *p, const char *command, char *text, size_t size)
{
	if (strncmp(command, "/quench/trace,", 14) == 0)
		snprintf(text, size,
			 "{\"/quench/trace\":{\"trace\":7,\"traced\":1,\"end\":1,\"written\":9,"
			 "\"time_ns\":[1]}}");
	else if (strncmp(command, "/quench/counters", 16) == 0 ||
		 strncmp(command, "/quench/flows", 13) == 0)
		snprintf(text, size, "{\"%.*s\":{\"x\":[1],\"next\":1}}",
			 (int)strcspn(command, ","), command);
	else
		fake_reply(p, command, text, size);
}

TEST(pages_that_do_not_get_on_are_an_error)
{
	struct client c;

	program.reply = same_page;
	assert_open(&c);
	assert_int_equal(ask_all(&c), APP_FAILED);
	assert_non_null(strstr(c.error, "/quench/counters: expected a next page"));
	assert_int_equal(ask_first(&c), APP_FAILED);
	assert_int_equal(read_trace(&c), APP_FAILED);
	client_close(&c);
}

/* Two pages of a command with a parameter, which the second request repeats. */
static void
pages_of_flow(struct fake_program *p, const char *command, char *text, size_t size)
{
	if (strcmp(command, "/quench/times,a") == 0)
		snprintf(text, size, "{\"/quench/times\":{\"x\":[1],\"next\":5}}");
	else if (strcmp(command, "/quench/times,a,5") == 0)
		snprintf(text, size, "{\"/quench/times\":{\"x\":[2]}}");
	else
		fake_reply(p, command, text, size);
}

TEST(pages_keep_the_parameters_of_their_command)
{
	struct client c;
	json_t *reply;

	program.reply = pages_of_flow;
	assert_open(&c);
	assert_int_equal(client_ask(&c, "/quench/times,a", &reply), 0);
	assert_int_equal(json_array_size(json_object_get(reply, "rows")), 2);
	json_decref(reply);
	client_close(&c);
}

/* Another row, again and again. */
static void
endless_pages(struct fake_program *p, const char *command, char *text, size_t size)
{
	if (strncmp(command, "/quench/counters", 16) == 0)
		snprintf(text, size, "{\"/quench/counters\":{\"x\":[1],\"next\":%lu}}",
			 fake_first(command) + 1);
	else
		fake_reply(p, command, text, size);
}

TEST(pages_without_end_meet_each_limit)
{
	const struct client_limits none = {.deadline_ns = UINT64_MAX,
					   .most_bytes = UINT64_MAX,
					   .most_rows = SIZE_MAX,
					   .cancel_fd = -1};
	struct client_limits limits = none;
	struct client c;

	program.reply = endless_pages;
	assert_open(&c);
	c.limits = &limits;
	limits.most_rows = 100;
	assert_int_equal(ask_all(&c), APP_FAILED);
	assert_non_null(strstr(c.error, "/quench/counters: expected at most 100 rows"));
	limits = none;
	limits.most_bytes = 10000;
	assert_int_equal(ask_all(&c), APP_FAILED);
	assert_non_null(strstr(c.error, "expected a reading of at most 10000 bytes"));
	client_close(&c);
	assert_open(&c);
	limits = none;
	limits.deadline_ns = monotonic_ns() + 50000000;
	c.limits = &limits;
	assert_int_equal(ask_all(&c), APP_FAILED);
	assert_true(c.silent);
	client_close(&c);
}

TEST(who_hangs_is_given_up_at_the_deadline_and_not_asked_again)
{
	struct client_limits limits = {
		.most_bytes = UINT64_MAX, .most_rows = SIZE_MAX, .cancel_fd = -1};
	struct client c;
	int messages;

	assert_open(&c);
	atomic_store(&program.hangs, true);
	limits.deadline_ns = monotonic_ns() + 20000000;
	c.limits = &limits;
	assert_int_equal(ask_all(&c), APP_FAILED);
	assert_true(c.silent);
	assert_non_null(strstr(c.error, "the program does not answer"));
	/* Its late reply would pass for the reply to the next question. */
	atomic_store(&program.hangs, false);
	limits.deadline_ns = UINT64_MAX;
	messages = atomic_load(&program.messages);
	assert_int_equal(ask_all(&c), APP_FAILED);
	assert_non_null(strstr(c.error, "the program does not answer"));
	assert_in_range(atomic_load(&program.messages), messages, messages + 1);
	client_close(&c);
}

TEST(a_reading_can_be_given_up_at_once)
{
	struct client_limits limits = {
		.deadline_ns = UINT64_MAX, .most_bytes = UINT64_MAX, .most_rows = SIZE_MAX};
	struct client c;
	int fds[2];

	assert_open(&c);
	atomic_store(&program.hangs, true);
	assert_int_equal(pipe(fds), 0);
	close(fds[1]);
	limits.cancel_fd = fds[0];
	c.limits = &limits;
	assert_int_equal(ask_all(&c), APP_FAILED);
	client_close(&c);
	close(fds[0]);
}

/* What a program may say in place of a reply to /quench/counters; the error has these words. */
static const struct lie {
	const char *reply, *words;
} lies[] = {
	{"", "the program has ended"},
	{"\"", "got \""},
	{"[1]", "expected an answer to /quench/counters, got [1]"},
	{"{\"/quench/info\":{}}", "expected an answer to /quench/counters"},
	{"{\"/quench/counters\":{\"a\":NaN}}", "invalid token"},
	{"{\"/quench/counters\":{\"a\":1e999}}", "real number overflow"},
	{"{\"/quench/counters\":{\"a\":99999999999999999999}}", "too big integer"},
	{"{\"/quench/counters\":{\"next\":\"1\"}}", "expected a next page"},
	{"{\"/quench/counters\":{\"next\":-1}}", "expected a next page"},
	{"{\"/quench/counters\":{\"error\":\"\\u001b[2J\",\"expected\":\"x\"}}",
	 "?[2J: expected x"},
	{"\x1b]0;x\x07", "got ?]0;x?"},
};
static const struct lie *lie;

static void
tell_lie(struct fake_program *p, const char *command, char *text, size_t size)
{
	if (strcmp(command, "/quench/counters") == 0)
		snprintf(text, size, "%s", lie->reply);
	else
		fake_reply(p, command, text, size);
}

TEST(what_is_no_reply_is_said)
{
	program.reply = tell_lie;
	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		struct client c;

		lie = &lies[i];
		assert_open(&c);
		assert_int_not_equal(ask_all(&c), 0);
		if (strstr(c.error, lie->words) == NULL)
			fail_msg("%s: %s", lie->reply, c.error);
		client_close(&c);
	}
}

/* Its greeting has 16384 bytes for the longest. */
static void
long_reply(struct fake_program *p, const char *command, char *text, size_t size)
{
	fake_reply(p, command, text, size);
	if (strcmp(command, "/quench/counters") == 0) {
		size_t used = strlen(text);

		memset(text + used, ' ', 70000 - used);
		text[70000] = '\0';
	}
}

TEST(a_reply_longer_than_the_greeting_says_is_an_error)
{
	struct client c;

	program.reply = long_reply;
	assert_open(&c);
	assert_int_equal(ask_all(&c), APP_FAILED);
	assert_non_null(strstr(c.error, "at most 16384 bytes, got 70000"));
	client_close(&c);
}

TEST(a_greeting_with_a_length_beyond_all_memory_is_an_error)
{
	struct client c = {.quiet = true};

	program.hello = "{\"pid\":1,\"max_output_len\":9000000000000000000}";
	assert_int_equal(client_open(&c, program.path, NULL), APP_FAILED);
	assert_non_null(strstr(c.error, "max_output_len = 9000000000000000000"));
	client_close(&c);
	program.hello = "{\"max_output_len\":-5}";
	assert_int_equal(client_open(&c, program.path, NULL), 0);
	client_close(&c);
}

TEST(a_program_of_another_name_is_none_of_ours)
{
	struct client c = {.quiet = true};

	program.name = "evil\\\"\\n";
	assert_int_equal(client_open(&c, program.path, NULL), APP_BAD_USAGE);
	assert_non_null(strstr(c.error, "expected quench-switch or quench-nic, got evil\"?"));
	client_close(&c);
}

TEST_MAIN(.before_each = start_switch, .after_each = stop)
