/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as a client sees them answered, clients that misbehave, and the main lcore. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <jansson.h>
#include <rte_eal.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "unit/cases.h"
#include "runtime/desk/desk.h"
#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"

#define ROWS 1000u
#define LARGE_BYTES (8u << 20)
/* For a machine that is slow, too. */
#define PATIENCE_MS 60000

static const struct desk_groups no_groups = {DESK_NO_GROUP, DESK_NO_GROUP};

static int
connect_to(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_return_code(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), errno);
	return fd;
}

static void
say_to(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* The next line, without its end; for free(). NULL: the desk has hung up. */
static char *
read_line(int fd)
{
	size_t n = 0, room = 256;
	char *line = malloc(room);

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};

		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
		if (recv(fd, line + n, 1, 0) <= 0) {
			free(line);
			return NULL;
		}
		if (line[n] == '\n')
			break;
		if (++n == room)
			line = realloc(line, room *= 2);
		assert_non_null(line);
	}
	line[n] = '\0';
	return line;
}

static void
assert_line(int fd, const char *expected)
{
	char *line = read_line(fd);

	assert_non_null(line);
	assert_string_equal(line, expected);
	free(line);
}

static int client = -1;

static void
assert_answer(const char *request, const char *expected)
{
	say_to(client, request);
	say_to(client, "\n");
	assert_line(client, expected);
}

/* Jansson's memory on the desk's thread: which allocation fails, counted from 0. */
static pthread_t asks;
static atomic_llong left = LLONG_MAX;

static void *
take_memory(size_t n)
{
	return pthread_equal(pthread_self(), asks) || atomic_fetch_sub(&left, 1) != 0 ? malloc(n)
										      : NULL;
}

static json_t *
shapes(struct desk_call *call)
{
	(void)call;
	return json_pack("{s:I, s:i, s:b, s:f, s:s, s:n, s:{s:i}, s:[{s:i},{s:n}]}", "count",
			 (json_int_t)1 << 62, "below", -3, "on", 1, "share", 0.25, "word",
			 "a \"b\"", "nothing", "drops", "mtu", 7, "queues", "queue", 0, "queue");
}

static bool
list_row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	(void)call;
	(void)arg;
	walk_number(w, WALK_GAUGE, "i", "number of the row", i);
	walk_text(w, WALK_KEY, "odd", "yes or no", i % 2 ? "yes" : "no");
	return i % 3 != 2;
}

static void
list_result(struct walk *w)
{
	w->object = "list";
	desk_list_result(w, list_row);
	w->optional = true;
	walk_number(w, WALK_COUNTER, "rx_prioN_pause", "pauses", 0);
	w->optional = false;
}

static void
no_result(struct walk *w)
{
	(void)w;
}

static json_t *
list(struct desk_call *call)
{
	return desk_list_reply(call, &(struct desk_list){.end = ROWS, .row = list_row});
}

static json_t *
large(struct desk_call *call)
{
	char *text = calloc(1, LARGE_BYTES + 1);
	json_t *o;

	(void)call;
	memset(text, 'x', LARGE_BYTES);
	o = json_pack("{s:s}", "text", text);
	free(text);
	return o;
}

static json_t *
params_back(struct desk_call *call)
{
	char digits[DESK_DIGITS], *words = desk_words(call, "words", '+');
	const char *word = desk_word(call, "word", digits);
	uint64_t n = 5;
	json_t *o = NULL;

	if (desk_number(call, "number", 1, 9, &n))
		o = json_pack("{s:i, s:s, s:s}", "number", (int)n, "word", word, "words", words);
	free(words);
	return o;
}

static void
add_seven(void *arg, uint64_t now_ns)
{
	*(uint64_t *)arg = now_ns + 7;
}

static json_t *
on_main(struct desk_call *call)
{
	uint64_t sum = 0;

	if (!desk_on_main(call, add_seven, &sum))
		return NULL;
	return json_pack("{s:i}", "sum", (int)sum);
}

static const struct desk_param list_params[] = {DESK_LIST_PARAMS, DESK_COLUMNS_PARAM, {0}};
static const struct desk_param all_params[] = {
	{"word", DESK_WORD, true, "a word"},
	{"number", DESK_NUMBER, false, "a number"},
	{"words", DESK_WORDS, false, "words"},
	{0},
};

static const struct desk_method methods[] = {
	{"shapes", NULL, "Returns all kinds", shapes, no_result},
	{"list", list_params, "Returns rows", list, list_result},
	{"large", NULL, "Returns much", large, no_result},
	{"params", all_params, "Returns its parameters", params_back, no_result},
	{"on_main", NULL, "Returns what the main lcore says", on_main, no_result},
};

static struct desk desk = {.name = "test",
			   .groups = {DESK_NO_GROUP, DESK_NO_GROUP},
			   .methods = methods,
			   .n_methods = ARRAY_LEN(methods)};

#define REQUEST(id, rest) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":" rest "}"
#define RESULT(id, rest) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" rest "}"
#define ERROR(id, code, rest)                                                                      \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ",\"message\":" rest "}}"

TEST(a_result_has_the_types_of_json)
{
	assert_answer(REQUEST("\"a\"", "\"shapes\""),
		      RESULT("\"a\"", "{\"count\":4611686018427387904,\"below\":-3,\"on\":true,"
				      "\"share\":0.25,\"word\":\"a \\\"b\\\"\",\"nothing\":null,"
				      "\"drops\":{\"mtu\":7},\"queues\":[{\"queue\":0},"
				      "{\"queue\":null}]}"));
}

TEST(a_list_gives_the_rows_and_keys_that_are_wanted)
{
	assert_answer(REQUEST("1", "\"list\",\"params\":{\"first\":1,\"count\":3}"),
		      RESULT("1", "{\"total\":1000,\"rows\":[{\"i\":1,\"odd\":\"yes\"},"
				  "{\"i\":3,\"odd\":\"yes\"}]}"));
	assert_answer(REQUEST("1", "\"list\",\"params\":{\"first\":999,\"columns\":[\"odd\"]}"),
		      RESULT("1", "{\"total\":1000,\"rows\":[{\"odd\":\"yes\"}]}"));
	assert_answer(REQUEST("1", "\"list\",\"params\":{\"first\":1000}"),
		      RESULT("1", "{\"total\":1000,\"rows\":[]}"));
	assert_answer(REQUEST("1", "\"list\",\"params\":{\"columns\":[\"even\"]}"),
		      ERROR("1", "-32602",
			    "\"COLUMNS = even\",\"data\":{\"expected\":\"keys of a row\","
			    "\"usage\":\"list [first] [count] [columns]\"}"));
}

TEST(wrong_parameters_are_told_what_was_expected)
{
	static const struct {
		const char *params, *message;
	} wrong[] = {
		{"{}", "\"WORD is missing\",\"data\":{\"expected\":\"a word\""},
		{"{\"word\":\"w\",\"number\":0}",
		 "\"NUMBER = 0\",\"data\":{\"expected\":\"a number from 1 to 9\""},
		{"{\"word\":\"w\",\"number\":-1}",
		 "\"NUMBER = -1\",\"data\":{\"expected\":\"an integer of at least 0\""},
		{"{\"word\":\"w\",\"number\":\"1\"}",
		 "\"NUMBER = \\\"1\\\"\",\"data\":{\"expected\":\"an integer of at least 0\""},
		{"{\"word\":true}",
		 "\"WORD = true\",\"data\":{\"expected\":\"a text, or an integer of at least 0\""},
		{"{\"word\":\"w\",\"words\":[\"a\\nb\"]}",
		 "\"WORDS = [\\\"a\\\\nb\\\"]\",\"data\":{\"expected\":\"a list of texts without line "
		 "ends\""},
		{"{\"word\":\"w\",\"word2\":1}", "\"params has no parameter word2\",\"data\":{"},
	};
	char request[256], expected[512];

	assert_answer(REQUEST("1", "\"params\",\"params\":{\"word\":7,\"words\":[\"a\",\"b\"]}"),
		      RESULT("1", "{\"number\":5,\"word\":\"7\",\"words\":\"a+b\"}"));
	for (unsigned int i = 0; i < ARRAY_LEN(wrong); i++) {
		snprintf(request, sizeof(request), REQUEST("1", "\"params\",\"params\":%s"),
			 wrong[i].params);
		snprintf(expected, sizeof(expected),
			 ERROR("1", "-32602", "%s%s\"usage\":\"params word [number] [words]\"}"),
			 wrong[i].message,
			 wrong[i].message[strlen(wrong[i].message) - 1] == '{' ? "" : ",");
		assert_answer(request, expected);
	}
}

TEST(what_is_no_request_is_answered_too)
{
	static const struct {
		const char *text, *id, *code, *message;
	} wrong[] = {
		{"{", "null", "-32700", "no JSON: string or '}' expected near end of file"},
		{"{\"id\":1,\"id\":2}", "null", "-32700",
		 "no JSON: duplicate object key near '\\\"id\\\"'"},
		{"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "null", "-32700",
		 "no JSON: more than 32 levels"},
		{"[]", "null", "-32600", "no object: expected a request of JSON-RPC 2.0"},
		{"7", "null", "-32600", "no object: expected a request of JSON-RPC 2.0"},
		{"{\"id\":7}", "7", "-32600", "jsonrpc: expected \\\"2.0\\\""},
		{"{\"jsonrpc\":\"2.0\",\"id\":7}", "7", "-32600", "method: expected a text"},
		{"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"shapes\",\"params\":[1]}", "7",
		 "-32600", "params: expected an object"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(wrong); i++) {
		char expected[256];

		snprintf(expected, sizeof(expected), ERROR("%s", "%s", "\"%s\",\"data\":{}"),
			 wrong[i].id, wrong[i].code, wrong[i].message);
		assert_answer(wrong[i].text, expected);
	}
	assert_answer(REQUEST("1", "\"shape\""),
		      ERROR("1", "-32601",
			    "\"test has no method shape\",\"data\":{\"expected\":\"a method that "
			    "`methods` lists\"}"));
}

TEST(a_notification_has_no_reply)
{
	say_to(client, "{\"jsonrpc\":\"2.0\",\"method\":\"shapes\"}\n");
	assert_answer(REQUEST("2", "\"params\",\"params\":{\"word\":\"w\"}"),
		      RESULT("2", "{\"number\":5,\"word\":\"w\",\"words\":\"\"}"));
}

TEST(a_batch_is_answered_in_one_line)
{
	assert_answer(
		"[" REQUEST(
			"1",
			"\"params\",\"params\":{\"word\":1}") ",7,"
							      "{\"jsonrpc\":\"2.0\",\"method\":\"shapes\"}]",
		"[" RESULT("1", "{\"number\":5,\"word\":\"1\",\"words\":\"\"}") "," ERROR(
			"null", "-32600",
			"\"no object: expected a request of JSON-RPC 2.0\",\"data\":{}") "]");
}

TEST(a_batch_without_end_is_refused)
{
	char text[200] = "[1";

	for (int i = 1; i < 65; i++)
		strcat(text, ",1");
	strcat(text, "]");
	assert_answer(text, ERROR("null", "-32600",
				  "\"65 requests: expected at most 64 in a batch\",\"data\":{}"));
}

TEST(lines_that_come_together_are_answered_in_order)
{
	say_to(client, REQUEST("1", "\"params\",\"params\":{\"word\":1}") "\n" REQUEST(
			       "2", "\"params\",\"params\":{\"word\":2}") "\n");
	assert_line(client, RESULT("1", "{\"number\":5,\"word\":\"1\",\"words\":\"\"}"));
	assert_line(client, RESULT("2", "{\"number\":5,\"word\":\"2\",\"words\":\"\"}"));
}

TEST(the_last_request_of_a_client_that_says_no_more_is_answered)
{
	int fd = connect_to(desk_socket_path(desk.socket));

	say_to(fd, REQUEST("1", "\"params\",\"params\":{\"word\":1}") "\n");
	say_to(fd, REQUEST("2", "\"params\",\"params\":{\"word\":2}") "\n");
	assert_return_code(shutdown(fd, SHUT_WR), errno);
	assert_line(fd, RESULT("1", "{\"number\":5,\"word\":\"1\",\"words\":\"\"}"));
	assert_line(fd, RESULT("2", "{\"number\":5,\"word\":\"2\",\"words\":\"\"}"));
	assert_null(read_line(fd));
	close(fd);
}

TEST(a_line_without_end_is_refused)
{
	int fd = connect_to(desk_socket_path(desk.socket));
	char *text = malloc(DESK_REQUEST_BYTES + 1);

	memset(text, 'x', DESK_REQUEST_BYTES);
	text[DESK_REQUEST_BYTES] = '\0';
	say_to(fd, text);
	assert_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":"
			"\"a line of more than 1048576 bytes\"}}");
	assert_null(read_line(fd));
	free(text);
	close(fd);
}

TEST(a_client_that_does_not_read_holds_up_nobody)
{
	int fd = connect_to(desk_socket_path(desk.socket));
	char *line;

	say_to(fd, REQUEST("1", "\"large\"") "\n" REQUEST("2", "\"large\"") "\n");
	assert_answer(REQUEST("3", "\"params\",\"params\":{\"word\":3}"),
		      RESULT("3", "{\"number\":5,\"word\":\"3\",\"words\":\"\"}"));
	close(fd);
	/* Nor is a reply of any size cut. */
	fd = connect_to(desk_socket_path(desk.socket));
	say_to(fd, REQUEST("1", "\"large\"") "\n");
	for (size_t n = 0, more; n < LARGE_BYTES; n += more) {
		static char bytes[1 << 16];
		struct pollfd p = {.fd = fd, .events = POLLIN};

		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
		more = (size_t)recv(fd, bytes, n + sizeof(bytes) < LARGE_BYTES ? sizeof(bytes) : 1,
				    0);
		assert_in_range(more, 1, sizeof(bytes));
	}
	line = read_line(fd);
	assert_non_null(strstr(line, "x\"}}"));
	free(line);
	close(fd);
}

TEST(one_client_too_many_is_told)
{
	int fds[DESK_CLIENTS];

	/* One is the client of all tests. */
	for (unsigned int i = 0; i < DESK_CLIENTS; i++)
		fds[i] = connect_to(desk_socket_path(desk.socket));
	assert_line(fds[DESK_CLIENTS - 1],
		    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32002,\"message\":"
		    "\"64 clients are connected\"}}");
	assert_null(read_line(fds[DESK_CLIENTS - 1]));
	for (unsigned int i = 0; i < DESK_CLIENTS; i++)
		close(fds[i]);
}

static atomic_bool lacks_descriptors;
static atomic_uint accepts;

/* In place of the C library's. */
int
accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	atomic_fetch_add(&accepts, 1);
	if (atomic_load(&lacks_descriptors)) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_accept4, fd, addr, len, flags);
}

TEST(a_client_waits_for_a_descriptor_and_the_desk_does_not_spin)
{
	uint64_t begin_ns = monotonic_ns();
	int fd;

	atomic_store(&lacks_descriptors, true);
	atomic_store(&accepts, 0);
	fd = connect_to(desk_socket_path(desk.socket));
	while (atomic_load(&accepts) == 0)
		sched_yield();
	/* Each of them wakes the desk's thread. */
	for (unsigned int i = 0; i < 1000; i++)
		assert_answer(REQUEST("1", "\"params\",\"params\":{\"word\":1}"),
			      RESULT("1", "{\"number\":5,\"word\":\"1\",\"words\":\"\"}"));
	assert_true(atomic_load(&accepts) <= 2 + (monotonic_ns() - begin_ns) / (100 * NS_PER_MS));
	atomic_store(&lacks_descriptors, false);
	say_to(fd, REQUEST("1", "\"params\",\"params\":{\"word\":1}") "\n");
	assert_line(fd, RESULT("1", "{\"number\":5,\"word\":\"1\",\"words\":\"\"}"));
	close(fd);
}

static void *
serve_one(void *arg)
{
	bool *served = arg;

	/* Until the client's wish is here; the client waits for this thread. */
	while (!atomic_load(&desk.mailbox.full))
		sched_yield();
	mailbox_serve(&desk.mailbox, 1000);
	*served = true;
	return NULL;
}

TEST(the_main_lcore_does_what_is_asked_of_it)
{
	bool served = false;
	pthread_t main_lcore;

	assert_int_equal(pthread_create(&main_lcore, NULL, serve_one, &served), 0);
	assert_answer(REQUEST("1", "\"on_main\""), RESULT("1", "{\"sum\":1007}"));
	pthread_join(main_lcore, NULL);
	assert_true(served);
}

/* Each allocation fails once: none of them makes a reply that lacks something. */
TEST(a_reply_is_whole_or_an_error)
{
	static const char request[] = REQUEST("1", "\"shapes\"") "\n";
	unsigned int failed = 0;

	for (long long at = 0;; at++, failed++) {
		char *line;
		bool met;

		atomic_store(&left, at);
		say_to(client, request);
		line = read_line(client);
		met = atomic_exchange(&left, LLONG_MAX) < 0;
		assert_non_null(line);
		assert_true((strstr(line, "\"error\"") != NULL) == met);
		assert_true((strstr(line, "\"queue\":null}]}}") != NULL) == !met);
		free(line);
		if (!met)
			break;
	}
	assert_true(failed > 20);
}

TEST(a_second_program_of_the_prefix_has_a_socket_of_its_own)
{
	struct desk_socket *second;
	char path[128];
	struct stat s;

	snprintf(path, sizeof(path), "%s:1", desk_socket_path(desk.socket));
	assert_int_equal(
		desk_socket_open(&second, rte_eal_get_runtime_dir(), &no_groups, NULL, NULL), 0);
	assert_string_equal(desk_socket_path(second), path);
	assert_return_code(stat(path, &s), errno);
	assert_int_equal(s.st_mode & 0777, 0660);
	desk_socket_close(second, false);
	assert_int_equal(stat(path, &s), -1);
}

#define PROGRAMS 6u
static pthread_barrier_t at_once;

static void *
open_at_once(void *arg)
{
	struct desk_socket **opened = arg;

	pthread_barrier_wait(&at_once);
	assert_int_equal(
		desk_socket_open(opened, rte_eal_get_runtime_dir(), &no_groups, NULL, NULL), 0);
	return NULL;
}

TEST(programs_that_start_at_once_have_sockets_of_their_own)
{
	struct desk_socket *opened[PROGRAMS];
	pthread_t programs[PROGRAMS];

	pthread_barrier_init(&at_once, NULL, PROGRAMS);
	for (unsigned int round = 0; round < 100; round++) {
		for (unsigned int i = 0; i < PROGRAMS; i++)
			assert_int_equal(
				pthread_create(&programs[i], NULL, open_at_once, &opened[i]), 0);
		for (unsigned int i = 0; i < PROGRAMS; i++)
			pthread_join(programs[i], NULL);
		for (unsigned int i = 0; i < PROGRAMS; i++)
			for (unsigned int k = 0; k < i; k++)
				assert_string_not_equal(desk_socket_path(opened[i]),
							desk_socket_path(opened[k]));
		for (unsigned int i = 0; i < PROGRAMS; i++)
			desk_socket_close(opened[i], false);
	}
	pthread_barrier_destroy(&at_once);
}

static void *
close_when_asked(void *arg)
{
	while (!atomic_load(&desk.mailbox.full))
		sched_yield();
	desk_close(arg);
	return NULL;
}

TEST(a_program_that_ends_hangs_up)
{
	pthread_t main_lcore;
	char *line;

	assert_int_equal(pthread_create(&main_lcore, NULL, close_when_asked, &desk), 0);
	say_to(client, REQUEST("1", "\"on_main\"") "\n");
	line = read_line(client);
	pthread_join(main_lcore, NULL);
	/* The line may be lost with the connection. */
	if (line != NULL)
		assert_string_equal(line, ERROR("1", "-32001",
						"\"the program is about to end\",\"data\":{"
						"\"expected\":\"a program that runs\","
						"\"usage\":\"on_main\"}"));
	free(line);
	close(client);
	assert_return_code(desk_open(&desk), errno);
	client = connect_to(desk_socket_path(desk.socket));
	assert_answer(REQUEST("1", "\"params\",\"params\":{\"word\":1}"),
		      RESULT("1", "{\"number\":5,\"word\":\"1\",\"words\":\"\"}"));
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
	if (desk_open(&desk) != 0)
		return -1;
	client = connect_to(desk_socket_path(desk.socket));
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	close(client);
	desk_close(&desk);
	snprintf(runtime_dir, sizeof(runtime_dir), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	return 0;
}

TEST_MAIN(.begin = set_up, .end = tear_down)
