/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands as a client of the socket sees them, and work for the main lcore. */
#include <errno.h>
#include <pthread.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <jansson.h>
#include <rte_eal.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "runtime/telemetry/telemetry.h"

#define REPLY_BYTES 16384
#define ROWS 1000u

static int client = -1;

static void
connect_client(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char hello[1024];

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dpdk_telemetry.v2",
		 rte_eal_get_runtime_dir());
	client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_return_code(connect(client, (struct sockaddr *)&addr, sizeof(addr)), errno);
	assert_true(recv(client, hello, sizeof(hello), 0) > 0);
}

/* What stands under the command's path; for the caller to json_decref(). */
static json_t *
ask(const char *command)
{
	static char text[2 * REPLY_BYTES];
	char path[64];
	json_t *whole, *reply;
	ssize_t n;

	assert_int_equal(send(client, command, strlen(command), 0), (ssize_t)strlen(command));
	n = recv(client, text, sizeof(text), 0);
	assert_in_range(n, 1, REPLY_BYTES);
	whole = json_loadb(text, (size_t)n, 0, NULL);
	assert_non_null(whole);
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(command, ","), command);
	reply = json_incref(json_object_get(whole, path));
	json_decref(whole);
	assert_non_null(reply);
	return reply;
}

/* Jansson's memory on the thread that answers: which allocation fails, counted from 0. */
static pthread_t asks;
static atomic_llong left = LLONG_MAX;

static void *
take_memory(size_t n)
{
	return pthread_equal(pthread_self(), asks) || atomic_fetch_sub(&left, 1) != 0 ? malloc(n)
										      : NULL;
}

static void
assert_reply(const char *command, const char *expected)
{
	json_t *reply = ask(command);
	char *text = json_dumps(reply, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY);

	assert_string_equal(text, expected);
	free(text);
	json_decref(reply);
}

static json_t *
shapes(struct telemetry_call *call)
{
	(void)call;
	return json_pack("{s:I, s:i, s:b, s:f, s:s, s:n, s:{s:i}, s:[{s:i,s:f},{s:i,s:n}], s:[]}",
			 "count", (json_int_t)1 << 62, "below", -3, "on", 1, "share", 0.25, "word",
			 "a \"b\"", "nothing", "drops", "mtu", 7, "queues", "queue", 0, "alpha",
			 0.5, "queue", 1, "alpha", "none");
}

static json_t *
pages(struct telemetry_call *call)
{
	uint64_t i = 0;
	struct telemetry_page page;
	json_t *o;

	if (!telemetry_optional_number(call, 0, "FIRST", 0, ROWS - 1, &i))
		return NULL;
	o = json_pack("{s:i}", "total", ROWS);
	telemetry_page_begin(&page, o);
	/* Text with a character that is escaped, a number, and a key that some rows have not. */
	for (; i < ROWS; i++) {
		json_t *row = json_pack("{s:I, s:s}", "number", (json_int_t)i, "name",
					i % 3 ? "a name" : "a longer\tname");

		for (unsigned int c = 0; c < 40; c++) {
			char key[32];

			snprintf(key, sizeof(key), "a_rather_long_key_%u", c);
			json_object_set_new(row, key, json_integer(i));
		}
		if (i % 2)
			json_object_set_new(row, "odd", json_integer(1));
		if (!telemetry_page_add(&page, row, i))
			break;
	}
	return o;
}

static json_t *
huge(struct telemetry_call *call)
{
	json_t *o = json_object();
	char key[32];

	(void)call;
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "a_rather_long_key_%u", i);
		json_object_set_new(o, key, json_integer(i));
	}
	return o;
}

static json_t *
numbers(struct telemetry_call *call)
{
	uint64_t a, b = 5;

	if (!telemetry_number(call, 0, "A", 1, 9, &a) ||
	    !telemetry_optional_number(call, 1, "B", 0, 9, &b))
		return NULL;
	return json_pack("{s:i, s:i}", "a", (int)a, "b", (int)b);
}

static void
add_seven(void *arg, uint64_t now_ns)
{
	*(uint64_t *)arg = now_ns + 7;
}

static json_t *
on_main(struct telemetry_call *call)
{
	uint64_t sum = 0;

	if (!telemetry_on_main(call, add_seven, &sum))
		return NULL;
	return json_pack("{s:i}", "sum", (int)sum);
}

static const struct telemetry_endpoint endpoints[] = {
	{"/quench/shapes", "", "Returns all kinds", 0, shapes},
	{"/quench/pages", "[,FIRST]", "Returns rows", 1, pages},
	{"/quench/huge", "", "Returns too much", 0, huge},
	{"/quench/numbers", ",A[,B]", "Returns its parameters", 2, numbers},
	{"/quench/on_main", "", "Returns what the main lcore says", 0, on_main},
};

static struct telemetry telemetry = {.endpoints = endpoints, .n_endpoints = ARRAY_LEN(endpoints)};

TEST(an_object_is_folded_into_paths_and_columns)
{
	assert_reply("/quench/shapes",
		     "{\"count\":4611686018427387904,\"below\":-3,\"on\":1,\"share\":\"0.250000\","
		     "\"word\":\"a \\\"b\\\"\",\"nothing\":\"\",\"drops/mtu\":7,"
		     "\"queues/queue\":[0,1],\"queues/alpha\":[\"0.500000\",\"\"]}");
}

TEST(pages_fit_and_give_every_row_once)
{
	unsigned int first = 0, n_pages = 0;
	char command[64] = "/quench/pages";

	for (bool more = true; more; n_pages++) {
		json_t *page = ask(command);
		const json_t *number = json_object_get(page, "number");
		const json_t *name = json_object_get(page, "name");
		const json_t *next = json_object_get(page, "next");

		assert_int_equal(json_integer_value(json_object_get(page, "total")), ROWS);
		assert_true(json_array_size(number) > 0);
		assert_int_equal(json_array_size(name), json_array_size(number));
		assert_int_equal(json_array_size(json_object_get(page, "odd")),
				 json_array_size(number));
		for (size_t i = 0; i < json_array_size(number); i++, first++)
			assert_int_equal(json_integer_value(json_array_get(number, i)), first);
		more = next != NULL;
		if (more)
			assert_int_equal(json_integer_value(next), first);
		snprintf(command, sizeof(command), "/quench/pages,%u", first);
		json_decref(page);
	}
	assert_int_equal(first, ROWS);
	assert_in_range(n_pages, 2, 40);
}

TEST(a_reply_that_does_not_fit_is_none)
{
	assert_reply("/quench/huge", "null");
}

static void
assert_wrong_number(const char *command, const char *error)
{
	char expected[256];

	snprintf(expected, sizeof(expected),
		 "{\"error\":\"%s\",\"expected\":\"a number from 1 to 9\","
		 "\"usage\":\"/quench/numbers,A[,B]\"}",
		 error);
	assert_reply(command, expected);
}

TEST(wrong_parameters_are_told_what_was_expected)
{
	assert_reply("/quench/numbers,3", "{\"a\":3,\"b\":5}");
	assert_reply("/quench/numbers,3,0", "{\"a\":3,\"b\":0}");
	assert_wrong_number("/quench/numbers", "A is missing");
	assert_wrong_number("/quench/numbers,0", "A = 0");
	assert_wrong_number("/quench/numbers,10", "A = 10");
	assert_wrong_number("/quench/numbers,x", "A = x");
	assert_wrong_number("/quench/numbers, 1", "A =  1");
	assert_wrong_number("/quench/numbers,+1", "A = +1");
	assert_wrong_number("/quench/numbers,\xff\t", "A = ??");
	assert_wrong_number("/quench/numbers,99999999999999999999999",
			    "A = 99999999999999999999999");
	assert_reply("/quench/numbers,3,4,5",
		     "{\"error\":\"/quench/numbers has too many parameters\",\"expected\":"
		     "\"at most 2 parameters, each of which is short\","
		     "\"usage\":\"/quench/numbers,A[,B]\"}");
}

static void *
serve_one(void *arg)
{
	bool *served = arg;

	/* Until the client's wish is here; the client waits for this thread. */
	while (!atomic_load(&telemetry.mailbox.full))
		sched_yield();
	mailbox_serve(&telemetry.mailbox, 1000);
	*served = true;
	return NULL;
}

TEST(the_main_lcore_does_what_is_asked_of_it)
{
	bool served = false;
	pthread_t main_lcore;

	assert_int_equal(pthread_create(&main_lcore, NULL, serve_one, &served), 0);
	assert_reply("/quench/on_main", "{\"sum\":1007}");
	pthread_join(main_lcore, NULL);
	assert_true(served);
}

static void *
close_when_asked(void *arg)
{
	while (!atomic_load(&telemetry.mailbox.full))
		sched_yield();
	telemetry_close(arg);
	return NULL;
}

TEST(a_program_that_ends_tells_those_who_wait)
{
	pthread_t main_lcore;

	assert_int_equal(pthread_create(&main_lcore, NULL, close_when_asked, &telemetry), 0);
	assert_reply("/quench/on_main", "{\"error\":\"the program is about to end\",\"expected\":"
					"\"a program that runs\",\"usage\":\"/quench/on_main\"}");
	pthread_join(main_lcore, NULL);
	assert_reply("/quench/numbers,3", "null");
	assert_return_code(telemetry_open(&telemetry), errno);
	assert_reply("/quench/numbers,3", "{\"a\":3,\"b\":5}");
}

static char runtime_dir[128];

static void
remove_runtime_dir(void)
{
	rmdir(runtime_dir);
}

static int
set_up(void **state)
{
	char prefix[32];
	char *argv[] = {(char *)"test",
			(char *)"--no-huge",
			(char *)"--no-shconf",
			(char *)"--no-pci",
			(char *)"--log-level=error",
			(char *)"-l",
			(char *)"0",
			(char *)"-m",
			(char *)"16",
			(char *)"--file-prefix",
			prefix};

	(void)state;
	/* After DPDK's own, which removes the socket. */
	atexit(remove_runtime_dir);
	snprintf(prefix, sizeof(prefix), "qtest%d", getpid());
	asks = pthread_self();
	json_set_alloc_funcs(take_memory, free);
	if (rte_eal_init(ARRAY_LEN(argv), argv) < 0)
		return -1;
	if (telemetry_open(&telemetry) != 0)
		return -1;
	connect_client();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	close(client);
	telemetry_close(&telemetry);
	snprintf(runtime_dir, sizeof(runtime_dir), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	return 0;
}

/* Each allocation fails once: none of them makes a reply that lacks something. */
TEST(a_reply_is_whole_or_null)
{
	unsigned int failed = 0;

	for (long long at = 0;; at++, failed++) {
		json_t *reply;
		bool met;

		atomic_store(&left, at);
		reply = ask("/quench/shapes");
		met = atomic_exchange(&left, LLONG_MAX) < 0;
		assert_true(json_is_null(reply) == met);
		json_decref(reply);
		if (!met)
			break;
	}
	assert_true(failed > 20);
}

TEST_MAIN(.begin = set_up, .end = tear_down)
