/* SPDX-License-Identifier: BSD-3-Clause */
/* The HTTP server's bounds. Its patience is a second here (HTTP_PATIENCE_S). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "quenchctl/socket/http.h"

#define LARGE_BYTES (64u << 20)

struct fixture {
	struct http_server *server;
	atomic_bool stop;
	pthread_t thread;
};

static void
answer_large(void *arg, const struct http_request *r, struct http_answer *answer)
{
	(void)arg;
	(void)r;
	answer->body = calloc(1, LARGE_BYTES);
	answer->bytes = LARGE_BYTES;
}

static bool
accept_any(void *arg, const struct http_request *r, struct http_answer *answer)
{
	(void)arg;
	(void)r;
	(void)answer;
	return true;
}

static void
answer_post(void *arg, const struct http_request *r, struct http_answer *answer)
{
	size_t bytes;

	(void)arg;
	http_body(r, &bytes);
	http_say(answer, 200, "%zu bytes\n", bytes);
}

static const struct http_route routes[] = {{"/large", "more than sockets hold", answer_large, NULL},
					   {"/post", "takes a POST", answer_post, accept_any}};

static void *
run(void *arg)
{
	struct fixture *f = arg;

	http_run(f->server, &f->stop);
	return NULL;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->server = http_open("127.0.0.1:0", routes, ARRAY_LEN(routes), NULL);
	*state = f;
	return f->server == NULL ? -1 : pthread_create(&f->thread, NULL, run, f);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->stop, true);
	pthread_join(f->thread, NULL);
	http_close(f->server);
	free(f);
	return 0;
}

static int
connect_to(const struct fixture *f)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_port = htons((uint16_t)atoi(strrchr(http_url(f->server), ':') + 1));
	assert_int_equal(connect(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Whatever comes, until the other end closes. */
static size_t
read_all(int fd, char *text, size_t size)
{
	size_t used = 0;
	ssize_t n;

	while (used < size - 1 && (n = recv(fd, text + used, size - 1 - used, 0)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	return used;
}

static void
ask(int fd, const char *request)
{
	(void)send(fd, request, strlen(request), MSG_NOSIGNAL);
}

TEST(who_says_nothing_is_cut_off)
{
	struct fixture *f = *state;
	int fd = connect_to(f);
	char text[16];

	assert_int_equal(read_all(fd, text, sizeof(text)), 0);
	close(fd);
	assert_true(atomic_load(&http_counts(f->server)->closed_slow) >= 1);
}

TEST(who_asks_letter_by_letter_is_cut_off)
{
	struct fixture *f = *state;
	int fd = connect_to(f);
	unsigned int sent = 0;

	/* A letter each 50 ms never lets the connection be idle. */
	while (sent < 1200 && send(fd, "G", 1, MSG_NOSIGNAL) == 1) {
		usleep(50000);
		sent++;
	}
	assert_in_range(sent, 1, 1199);
	close(fd);
}

/* Where a second is short for this machine a connection is cut off before it is served: again. */
static void
wait_served(const struct fixture *f)
{
	char text[4096] = "";

	for (unsigned int i = 0; i < 100 && strstr(text, "HTTP/1.1 200 ") == NULL; i++) {
		int fd = connect_to(f);

		ask(fd, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
		read_all(fd, text, sizeof(text));
		close(fd);
	}
	assert_non_null(strstr(text, "HTTP/1.1 200 "));
	assert_non_null(strstr(text, "/large"));
}

TEST(who_does_not_read_is_cut_off_and_others_are_served)
{
	struct fixture *f = *state;
	int slow = connect_to(f);
	char *text = malloc(LARGE_BYTES + 4096);

	ask(slow, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
	wait_served(f);
	while (atomic_load(&http_counts(f->server)->closed_slow) == 0)
		usleep(10000);
	assert_true(read_all(slow, text, LARGE_BYTES + 4096) < LARGE_BYTES);
	free(text);
	close(slow);
}

/* Silent connections, as many as there is room for: each makes room for one that asks. */
TEST(who_asks_is_served_beside_any_number_of_silent_ones)
{
	struct fixture *f = *state;
	int silent[HTTP_CLIENTS];

	for (unsigned int i = 0; i < HTTP_CLIENTS; i++)
		silent[i] = connect_to(f);
	for (unsigned int i = 0; i < 2 * HTTP_CLIENTS; i++)
		wait_served(f);
	assert_int_equal(atomic_load(&http_counts(f->server)->refused_clients), 0);
	for (unsigned int i = 0; i < HTTP_CLIENTS; i++)
		close(silent[i]);
}

#define POST "POST /post HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
#define JSON "Content-Type: application/json\r\n"

/* Requests of which the rest never comes, as many as there is room for. */
TEST(who_asks_is_served_beside_any_number_of_half_sent_requests)
{
	static const char *const half[] = {
		"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
		POST JSON "Content-Length: 9\r\n\r\n{",
		POST JSON "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
	};
	struct fixture *f = *state;
	int fds[HTTP_CLIENTS];

	for (unsigned int i = 0; i < HTTP_CLIENTS; i++) {
		fds[i] = connect_to(f);
		ask(fds[i], half[i % ARRAY_LEN(half)]);
	}
	while (atomic_load(&http_counts(f->server)->requests) < HTTP_CLIENTS)
		usleep(1000);
	for (unsigned int i = 0; i < 2 * HTTP_CLIENTS; i++)
		wait_served(f);
	assert_int_equal(atomic_load(&http_counts(f->server)->refused_clients), 0);
	for (unsigned int i = 0; i < HTTP_CLIENTS; i++)
		close(fds[i]);
}

/* It is refused while the body has not come. */
TEST(what_is_wrong_in_the_headers_is_refused_before_the_body)
{
	static const struct {
		const char *request, *status;
	} wrong[] = {
		{"POST /other HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", " 405 "},
		{"POST /large HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", " 405 "},
		{"PUT /post HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", " 405 "},
		{"POST /post HTTP/1.1\r\nHost: x.example\r\nContent-Length: 9\r\n\r\n", " 403 "},
		{"POST /post HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", " 403 "},
		{POST "Content-Length: 9\r\n\r\n", " 415 "},
		{POST JSON "Content-Length: 4097\r\n\r\n", " 413 "},
		{POST JSON "Content-Length: 99999999999\r\n\r\n", " 413 "},
	};
	struct fixture *f = *state;

	for (unsigned int i = 0; i < ARRAY_LEN(wrong); i++) {
		int fd = connect_to(f);
		char text[4096];

		ask(fd, wrong[i].request);
		read_all(fd, text, sizeof(text));
		close(fd);
		if (strstr(text, wrong[i].status) == NULL)
			fail_msg("%s: %s", wrong[i].request, text);
	}
	assert_int_equal(atomic_load(&http_counts(f->server)->closed_slow), 0);
}

TEST(a_body_that_comes_in_parts_is_taken)
{
	struct fixture *f = *state;
	int fd = connect_to(f);
	char text[4096];

	ask(fd, POST JSON "Connection: close\r\nContent-Length: 9\r\n\r\n1234");
	usleep(50000);
	ask(fd, "56789");
	read_all(fd, text, sizeof(text));
	assert_non_null(strstr(text, "9 bytes"));
	close(fd);
}

TEST(an_address_that_is_none_is_refused)
{
	static const char *const wrong[] = {"",      "x",           ":80",      "127.0.0.1:",
					    "1.2.3", "127.0.0.1:x", "[::1]80x", "127.0.0.1:65536"};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_null(http_open(wrong[i], routes, ARRAY_LEN(routes), NULL));
}

TEST_MAIN(.before_each = setup, .after_each = teardown)
