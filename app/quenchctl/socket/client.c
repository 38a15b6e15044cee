/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/socket/client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"
#include "quenchctl/socket/sockets.h"
#include "quenchctl/socket/unfold.h"
#include "quenchctl/socket/utf8.h"

/* Largest greeting of the socket. */
#define HELLO_BYTES 1024
/* DPDK's limit on a reply. */
#define LEAST_REPLY_BYTES 16384
#define MOST_REPLY_BYTES (1 << 20)
/* Longer than the 2 s within which the program's main lcore answers. */
#ifndef CLIENT_PATIENCE_NS
#define CLIENT_PATIENCE_NS 6000000000ull
#endif
/* Interval of retries while the queue of connections is full: poll() cannot wait for that. */
#define CONNECT_AGAIN_NS 20000000ull

int
client_fail(struct client *c, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->error, sizeof(c->error), format, args);
	va_end(args);
	utf8_clean(c->error);
	if (!c->quiet)
		say_error("%s", c->error);
	return rc;
}

static int
say_unreachable(struct client *c, const char *prefix, int error)
{
	if (error == ECONNREFUSED)
		return client_fail(c, APP_FAILED,
				   "%s: the program has ended and left its socket behind", c->path);
	if (error == ENOENT && prefix != NULL)
		return client_fail(
			c, APP_FAILED,
			"%s: no program with --file-prefix %s runs, or it was started with "
			"--no-telemetry or by another user",
			c->path, prefix);
	return client_fail(c, APP_FAILED, "%s: %s", c->path, strerror(error));
}

/*
 * Do not use the connection after a failed exchange: a late reply could be taken for the reply to
 * the next command.
 */
static void
disconnect(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static int
say_gone(struct client *c)
{
	disconnect(c);
	return client_fail(c, APP_FAILED, "%s: the program has ended", c->path);
}

static int
say_silent(struct client *c)
{
	disconnect(c);
	c->silent = true;
	return client_fail(c, APP_FAILED, "%s: the program does not answer", c->path);
}

/* Deadline of the next exchange. */
static uint64_t
patience_ends_ns(const struct client *c)
{
	uint64_t end_ns = monotonic_ns() + CLIENT_PATIENCE_NS;

	return c->limits != NULL && c->limits->deadline_ns < end_ns ? c->limits->deadline_ns
								    : end_ns;
}

/* Wait for an event of fd until end_ns. @return false: cancelled. */
static bool
wait_for(const struct client *c, int fd, short events, uint64_t end_ns)
{
	struct pollfd fds[2] = {
		{.fd = fd, .events = events},
		{.fd = c->limits != NULL ? c->limits->cancel_fd : -1, .events = POLLIN}};
	uint64_t now = monotonic_ns();
	int left_ms = now < end_ns ? (int)((end_ns - now + 999999) / 1000000) : 0;

	(void)poll(fds, 2, left_ms);
	return fds[1].revents == 0;
}

/* @return 0 or -errno: -ETIMEDOUT if the connection was not accepted in time. */
static int
connect_to(struct client *c, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	uint64_t end_ns = patience_ends_ns(c);

	snprintf(c->path, sizeof(c->path), "%s", path);
	memcpy(addr.sun_path, c->path, sizeof(addr.sun_path));
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return -errno;
	while (connect(c->fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0) {
		uint64_t now = monotonic_ns();

		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (now >= end_ns || !wait_for(c, -1, 0, now + CONNECT_AGAIN_NS))
			return -ETIMEDOUT;
	}
	return 0;
}

static int
send_command(struct client *c, const char *command, uint64_t end_ns)
{
	while (send(c->fd, command, strlen(command), MSG_NOSIGNAL) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return say_gone(c);
		if (monotonic_ns() >= end_ns || !wait_for(c, c->fd, POLLOUT, end_ns))
			return say_silent(c);
	}
	return 0;
}

/* Receive one message of at most size bytes into the buffer, which has one more. */
static int
receive(struct client *c, size_t size, uint64_t end_ns, size_t *bytes)
{
	ssize_t n;

	while ((n = recv(c->fd, c->buffer, size, MSG_TRUNC)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return say_gone(c);
		if (monotonic_ns() >= end_ns || !wait_for(c, c->fd, POLLIN, end_ns))
			return say_silent(c);
	}
	if (n == 0)
		return say_gone(c);
	if ((size_t)n > size) {
		disconnect(c);
		return client_fail(c, APP_FAILED,
				   "%s: expected a message of at most %zu bytes, got %zd", c->path,
				   size, n);
	}
	c->buffer[n] = '\0';
	*bytes = (size_t)n;
	return 0;
}

/* End a reading at its limits, whatever the number and size of its pages. */
static int
check_limits(struct client *c, size_t bytes)
{
	c->received_bytes += bytes;
	if (c->limits == NULL)
		return 0;
	if (c->received_bytes > c->limits->most_bytes) {
		disconnect(c);
		return client_fail(c, APP_FAILED,
				   "%s: expected a reading of at most %" PRIu64 " bytes", c->path,
				   c->limits->most_bytes);
	}
	return monotonic_ns() < c->limits->deadline_ns ? 0 : say_silent(c);
}

/* Ask for one page. */
static int
ask_once(struct client *c, const char *command, json_t **reply)
{
	uint64_t end_ns = patience_ends_ns(c);
	json_error_t error = {.text = ""};
	char path[128];
	json_t *whole;
	size_t n = 0;
	int rc;

	*reply = NULL;
	/* error[] has the reason. */
	if (c->fd < 0)
		return APP_FAILED;
	rc = send_command(c, command, end_ns);
	if (rc == 0)
		rc = receive(c, c->reply_bytes, end_ns, &n);
	if (rc == 0)
		rc = check_limits(c, n);
	if (rc != 0)
		return rc;
	whole = json_loadb(c->buffer, n, 0, &error);
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(command, ","), command);
	*reply = json_incref(json_object_get(whole, path));
	json_decref(whole);
	if (*reply != NULL)
		return 0;
	return client_fail(c, APP_FAILED, "%s: expected an answer to %s, got %.60s%s%s", c->path,
			   path, c->buffer, *error.text != '\0' ? ": " : "", error.text);
}

/* A long error arrives in pieces, and contains what was expected. */
static int
refuse_with(struct client *c, const json_t *reply, const char *error, const char *expected)
{
	json_t *rest = json_object_get(reply, "error_rest/text"), *piece;
	char line[sizeof(c->error)];
	size_t i;

	if (*expected != '\0')
		return client_fail(c, APP_BAD_USAGE, "%s: expected %s", error, expected);
	snprintf(line, sizeof(line), "%s", error);
	json_array_foreach (rest, i, piece) {
		size_t used = strlen(line);

		snprintf(line + used, sizeof(line) - used, "%s", json_string_value(piece));
	}
	return client_fail(c, APP_BAD_USAGE, "%s", line);
}

/* Is the program about to end? Then it no longer answers. */
static bool
is_ending(struct client *c)
{
	bool quiet = c->quiet, ending;
	json_t *info = NULL;

	if (*c->program == '\0')
		return false;
	/* Do not print a second error line if the program has ended meanwhile. */
	c->quiet = true;
	ending = ask_once(c, "/quench/info", &info) != 0 || json_is_null(info);
	c->quiet = quiet;
	json_decref(info);
	return ending;
}

static int
refuse(struct client *c, const char *command, json_t *reply)
{
	const char *error = json_string_value(json_object_get(reply, "error"));
	const char *expected = json_string_value(json_object_get(reply, "expected"));
	int rc = 0;

	if (json_is_null(reply) && is_ending(c)) {
		rc = client_fail(c, APP_FAILED, "%s: the program is about to end", c->path);
	} else if (json_is_null(reply) || (json_is_object(reply) && json_object_size(reply) == 0 &&
					   strcmp(command, "/quench/info") == 0)) {
		rc = client_fail(c, APP_BAD_USAGE, "%s: %s does not know %.*s%s", c->path,
				 *c->program != '\0' ? c->program : "the program",
				 (int)strcspn(command, ","), command,
				 *c->program != '\0' ? "" : ": it is starting, or none of ours");
	} else if (error != NULL && expected != NULL) {
		rc = refuse_with(c, reply, error, expected);
	}
	if (rc != 0)
		json_decref(reply);
	return rc;
}

static int
ask_page(struct client *c, const char *command, json_t **page)
{
	json_t *folded;
	int rc = ask_once(c, command, &folded);

	*page = NULL;
	if (rc == 0)
		rc = refuse(c, command, folded);
	if (rc != 0)
		return rc;
	*page = unfold(folded);
	json_decref(folded);
	if (*page != NULL)
		return 0;
	return client_fail(c, APP_FAILED, "%s", strerror(ENOMEM));
}

/* Add the rows of a page to the rows of the previous pages. */
static void
append(json_t *all, const json_t *page)
{
	if (json_object_get(all, "rows") == NULL)
		json_object_set_new(all, "rows", json_array());
	json_array_extend(json_object_get(all, "rows"), json_object_get(page, "rows"));
}

static int
check_rows(struct client *c, const char *command, const json_t *all)
{
	size_t n = json_array_size(json_object_get(all, "rows"));

	if (c->limits == NULL || n <= c->limits->most_rows)
		return 0;
	return client_fail(c, APP_FAILED, "%s: %.*s: expected at most %zu rows", c->path,
			   (int)strcspn(command, ","), command, c->limits->most_rows);
}

/* Set *next to the row of the next page, which must be after row at; 0: this is the last page. */
static int
next_of(struct client *c, const char *command, const json_t *page, json_int_t at, json_int_t *next)
{
	const json_t *found = json_object_get(page, "next");

	*next = json_integer_value(found);
	if (found == NULL || *next > at)
		return 0;
	return client_fail(c, APP_FAILED,
			   "%s: %.*s: expected a next page that begins after row %lld", c->path,
			   (int)strcspn(command, ","), command, (long long)at);
}

/* Ask for the page from row at on, and add it to all. @param next  As in next_of(). */
static int
ask_next(struct client *c, const char *page_command, json_t *all, json_int_t at, json_int_t *next)
{
	json_t *page;
	int rc = ask_page(c, page_command, &page);

	if (rc != 0)
		return rc;
	append(all, page);
	rc = next_of(c, page_command, page, at, next);
	json_decref(page);
	return rc != 0 ? rc : check_rows(c, page_command, all);
}

int
client_ask(struct client *c, const char *command, json_t **reply)
{
	json_t *all;
	json_int_t next, at = 0;
	int rc = ask_page(c, command, &all);

	*reply = NULL;
	if (rc == 0)
		rc = next_of(c, command, all, at, &next);
	if (rc == 0)
		rc = check_rows(c, command, all);
	while (rc == 0 && next != 0) {
		char next_command[CLIENT_REQUEST_CHARS + 24];

		at = next;
		snprintf(next_command, sizeof(next_command), "%s,%lld", command, (long long)at);
		rc = ask_next(c, next_command, all, at, &next);
	}
	json_object_del(all, "next");
	if (rc == 0)
		*reply = all;
	else
		json_decref(all);
	return rc;
}

int
client_ask_first(struct client *c, const char *path, unsigned int count, json_t **reply)
{
	json_t *all = json_object();
	json_int_t at = 0, next = 0;
	int rc;

	*reply = NULL;
	do {
		char command[256];

		at = next;
		snprintf(command, sizeof(command), "%s,%lld,%lld", path, (long long)at,
			 (long long)count - at);
		rc = ask_next(c, command, all, at, &next);
	} while (rc == 0 && next != 0 && next < (json_int_t)count);
	if (rc == 0)
		*reply = all;
	else
		json_decref(all);
	return rc;
}

/* Check that the program is one of ours. */
static int
read_info(struct client *c)
{
	const char *program;
	json_t *info;
	int rc = ask_page(c, "/quench/info", &info);

	if (rc != 0)
		return rc;
	program = json_string_value(json_object_get(info, "program"));
	if (program != NULL &&
	    (strcmp(program, "quench-switch") == 0 || strcmp(program, "quench-nic") == 0))
		snprintf(c->program, sizeof(c->program), "%s", program);
	else
		rc = client_fail(c, APP_BAD_USAGE,
				 "%s: expected quench-switch or quench-nic, got %.60s", c->path,
				 program != NULL ? program : "a program without a name");
	json_decref(info);
	return rc;
}

static int
read_hello(struct client *c)
{
	uint64_t end_ns = patience_ends_ns(c);
	json_int_t reply_bytes;
	json_t *hello;
	char *buffer;
	ssize_t n;

	while ((n = recv(c->fd, c->buffer, HELLO_BYTES, 0)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			break;
		if (monotonic_ns() >= end_ns || !wait_for(c, c->fd, POLLIN, end_ns))
			return say_silent(c);
	}
	if (n <= 0) {
		return client_fail(
			c, APP_FAILED,
			"%s: the program closed the connection: it is about to end, or has ten clients already",
			c->path);
	}
	hello = json_loadb(c->buffer, (size_t)n, 0, NULL);
	c->pid = (uint64_t)json_integer_value(json_object_get(hello, "pid"));
	reply_bytes = json_integer_value(json_object_get(hello, "max_output_len"));
	json_decref(hello);
	if (reply_bytes < LEAST_REPLY_BYTES)
		reply_bytes = LEAST_REPLY_BYTES;
	if (reply_bytes > MOST_REPLY_BYTES)
		return client_fail(c, APP_FAILED, "%s: max_output_len = %lld: expected at most %d",
				   c->path, (long long)reply_bytes, MOST_REPLY_BYTES);
	c->reply_bytes = (size_t)reply_bytes;
	buffer = realloc(c->buffer, c->reply_bytes + 1);
	if (buffer == NULL)
		return client_fail(c, APP_FAILED, "%s", strerror(ENOMEM));
	c->buffer = buffer;
	return 0;
}

static int
open_path(struct client *c, const char *path, const char *prefix)
{
	int rc;

	if (strlen(path) >= sizeof(c->path)) {
		return client_fail(c, APP_BAD_USAGE,
				   "%s: expected a path of at most %zu characters", path,
				   sizeof(c->path) - 1);
	}
	rc = connect_to(c, path);
	if (rc == -ETIMEDOUT)
		return say_silent(c);
	if (rc != 0)
		return say_unreachable(c, prefix, -rc);
	rc = read_hello(c);
	return rc == 0 ? read_info(c) : rc;
}

static bool
shares_prefix(const struct sockets *found, const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < found->n; i++)
		if (strncmp(found->path[i], path, n) == 0 && found->path[i][n] == ':')
			return true;
	return false;
}

/* Describe the program of a socket, for the list of choices. */
static void
describe(const struct client *asker, const struct sockets *found, const char *path, char *text,
	 size_t size)
{
	struct client c = {.fd = -1,
			   .quiet = true,
			   .limits = asker->limits,
			   .buffer = malloc(LEAST_REPLY_BYTES + 1)};
	char name[128];
	bool ours = c.buffer != NULL && open_path(&c, path, NULL) == 0;

	socket_name(path, name, sizeof(name));
	snprintf(text, size, "%s%s (%s, pid %llu)", name, shares_prefix(found, path) ? ":0" : "",
		 ours ? c.program : "starting, or not ours", (unsigned long long)c.pid);
	client_close(&c);
}

static int
say_which(struct client *c, const struct sockets *found, const char *prefix)
{
	char list[400] = "";

	for (size_t i = 0; i < found->n; i++) {
		size_t used = strlen(list);
		char who[192];

		describe(c, found, found->path[i], who, sizeof(who));
		snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ", who);
	}
	if (prefix != NULL)
		return client_fail(c, APP_BAD_USAGE,
				   "%zu programs run with --file-prefix %s: expected one of %s",
				   found->n, prefix, list);
	return client_fail(c, APP_BAD_USAGE,
			   "%zu DPDK programs run: expected --file-prefix with one of %s", found->n,
			   list);
}

static int
open_only(struct client *c, const char *prefix)
{
	char pattern[256];
	struct sockets found;
	int rc;

	sockets_find_one(prefix, &found);
	if (found.n == 1) {
		rc = open_path(c, found.path[0], prefix);
	} else if (found.n > 1) {
		rc = say_which(c, &found, prefix);
	} else if (prefix != NULL) {
		/* This fails, with an error line that tells the reason. */
		socket_path(prefix, pattern, sizeof(pattern));
		rc = open_path(c, pattern, prefix);
	} else {
		socket_path("*", pattern, sizeof(pattern));
		rc = client_fail(c, APP_FAILED, "no program runs: expected a telemetry socket %s",
				 pattern);
	}
	sockets_free(&found);
	return rc;
}

int
client_open(struct client *c, const char *path, const char *prefix)
{
	*c = (struct client){.fd = -1,
			     .quiet = c->quiet,
			     .limits = c->limits,
			     .buffer = malloc(LEAST_REPLY_BYTES + 1)};
	if (c->buffer == NULL)
		return client_fail(c, APP_FAILED, "%s", strerror(ENOMEM));
	return path != NULL ? open_path(c, path, NULL) : open_only(c, prefix);
}

void
client_close(struct client *c)
{
	disconnect(c);
	free(c->buffer);
	c->buffer = NULL;
}
