/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/say.h"
#include "ctl/sockets.h"
#include "ctl/unfold.h"

/* What the program says first. */
#define HELLO_BYTES 1024
#define LEAST_REPLY_BYTES 16384
/* The main lcore of the program has 2 s for what it is asked. */
#define PATIENCE_S 6

/* An error line, unless its reader is a program. */
static int __attribute__((format(printf, 3, 4)))
fail(struct client *c, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->error, sizeof(c->error), format, args);
	va_end(args);
	if (!c->quiet)
		say_error("%s", c->error);
	return rc;
}

static int
say_unreachable(struct client *c, const char *prefix, int error)
{
	if (error == ECONNREFUSED)
		return fail(c, APP_FAILED, "%s: the program is gone; its socket was left behind",
			    c->path);
	if (error == ENOENT && prefix != NULL)
		return fail(c, APP_FAILED,
			    "%s: no program with --file-prefix %s runs, or it was started with "
			    "--no-telemetry or by another user",
			    c->path, prefix);
	return fail(c, APP_FAILED, "%s: %s", c->path, strerror(error));
}

static int
say_gone(struct client *c)
{
	return fail(c, APP_FAILED, "%s: the program is gone", c->path);
}

static int
say_silent(struct client *c)
{
	return fail(c, APP_FAILED, "%s: the program does not answer", c->path);
}

/* @return 0 or -errno. */
static int
connect_to(struct client *c, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = PATIENCE_S};

	snprintf(c->path, sizeof(c->path), "%s", path);
	memcpy(addr.sun_path, c->path, sizeof(addr.sun_path));
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return -errno;
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(c->fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
		return 0;
	return -errno;
}

static int
receive(struct client *c, size_t size, ssize_t *n)
{
	*n = recv(c->fd, c->buffer, size, 0);
	if (*n > 0)
		return 0;
	return *n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? say_silent(c) : say_gone(c);
}

/* One page. */
static int
ask_once(struct client *c, const char *command, json_t **reply)
{
	char path[128];
	json_error_t error;
	json_t *whole;
	ssize_t n;
	int rc;

	if (send(c->fd, command, strlen(command), MSG_NOSIGNAL) < 0)
		return say_gone(c);
	rc = receive(c, c->reply_bytes, &n);
	if (rc != 0)
		return rc;
	whole = json_loadb(c->buffer, (size_t)n, 0, &error);
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(command, ","), command);
	*reply = json_incref(json_object_get(whole, path));
	json_decref(whole);
	if (*reply != NULL)
		return 0;
	return fail(c, APP_FAILED, "%s: expected an answer to %s, got %.60s", c->path, path,
		    c->buffer);
}

/* A long line comes in pieces, and has said already what was expected. */
static int
refuse_with(struct client *c, const json_t *reply, const char *error, const char *expected)
{
	json_t *rest = json_object_get(reply, "error_rest/text"), *piece;
	char line[sizeof(c->error)];
	size_t i;

	if (*expected != '\0')
		return fail(c, APP_BAD_USAGE, "%s: expected %s", error, expected);
	snprintf(line, sizeof(line), "%s", error);
	json_array_foreach (rest, i, piece) {
		size_t used = strlen(line);

		snprintf(line + used, sizeof(line) - used, "%s", json_string_value(piece));
	}
	return fail(c, APP_BAD_USAGE, "%s", line);
}

/* One that is about to end answers nothing any more. */
static bool
is_ending(struct client *c)
{
	bool quiet = c->quiet, ending;
	json_t *info = NULL;

	if (*c->program == '\0')
		return false;
	/* That it is gone by now is no other news. */
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
		rc = fail(c, APP_FAILED, "%s: the program is about to end", c->path);
	} else if (json_is_null(reply) || (json_is_object(reply) && json_object_size(reply) == 0 &&
					   strcmp(command, "/quench/info") == 0)) {
		rc = fail(c, APP_BAD_USAGE, "%s: %s does not know %.*s%s", c->path,
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
ask_page(struct client *c, const char *command, json_t **reply)
{
	json_t *folded;
	int rc = ask_once(c, command, &folded);

	if (rc == 0)
		rc = refuse(c, command, folded);
	if (rc != 0)
		return rc;
	*reply = unfold(folded);
	json_decref(folded);
	return 0;
}

/* Put a page behind the others, and take "next" from it. */
static void
append(json_t *reply, json_t *page)
{
	json_object_del(reply, "next");
	if (json_object_get(page, "next") != NULL)
		json_object_set(reply, "next", json_object_get(page, "next"));
	if (json_object_get(reply, "rows") == NULL)
		json_object_set_new(reply, "rows", json_array());
	json_array_extend(json_object_get(reply, "rows"), json_object_get(page, "rows"));
	json_decref(page);
}

int
client_ask(struct client *c, const char *command, json_t **reply)
{
	char next_command[256];
	json_t *next;
	int rc = ask_page(c, command, reply);

	while (rc == 0 && (next = json_object_get(*reply, "next")) != NULL) {
		json_t *page;

		snprintf(next_command, sizeof(next_command), "%.*s,%lld",
			 (int)strcspn(command, ","), command, (long long)json_integer_value(next));
		rc = ask_page(c, next_command, &page);
		if (rc == 0)
			append(*reply, page);
		else
			json_decref(*reply);
	}
	return rc;
}

int
client_ask_first(struct client *c, const char *path, unsigned int count, json_t **reply)
{
	json_int_t first = 0;
	char command[256];
	int rc = 0;

	*reply = json_object();
	do {
		json_t *page;

		snprintf(command, sizeof(command), "%s,%lld,%lld", path, (long long)first,
			 (long long)count - first);
		rc = ask_page(c, command, &page);
		if (rc != 0)
			break;
		append(*reply, page);
		first = json_integer_value(json_object_get(*reply, "next"));
	} while (first > 0 && first < (json_int_t)count);
	if (rc != 0)
		json_decref(*reply);
	return rc;
}

/* Is it one of ours? */
static int
read_info(struct client *c)
{
	json_t *info;
	int rc = client_ask(c, "/quench/info", &info);

	if (rc != 0)
		return rc;
	snprintf(c->program, sizeof(c->program), "%s",
		 json_string_value(json_object_get(info, "program")));
	json_decref(info);
	return 0;
}

static int
read_hello(struct client *c)
{
	json_t *hello;
	ssize_t n = recv(c->fd, c->buffer, HELLO_BYTES, 0);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return say_silent(c);
	if (n <= 0) {
		return fail(
			c, APP_FAILED,
			"%s: the program hung up: it is about to end, or has ten clients already",
			c->path);
	}
	hello = json_loadb(c->buffer, (size_t)n, 0, NULL);
	c->pid = (uint64_t)json_integer_value(json_object_get(hello, "pid"));
	c->reply_bytes = (size_t)json_integer_value(json_object_get(hello, "max_output_len"));
	json_decref(hello);
	if (c->reply_bytes < LEAST_REPLY_BYTES)
		c->reply_bytes = LEAST_REPLY_BYTES;
	c->buffer = realloc(c->buffer, c->reply_bytes + 1);
	return c->buffer != NULL ? 0 : APP_FAILED;
}

static int
open_path(struct client *c, const char *path, const char *prefix)
{
	int rc;

	if (strlen(path) >= sizeof(c->path)) {
		return fail(c, APP_BAD_USAGE, "%s: expected a path of at most %zu characters", path,
			    sizeof(c->path) - 1);
	}
	rc = connect_to(c, path);
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

/* Who is behind a socket, for the choice. */
static void
describe(const struct sockets *found, const char *path, char *text, size_t size)
{
	struct client c = {.fd = -1, .quiet = true, .buffer = malloc(LEAST_REPLY_BYTES + 1)};
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

		describe(found, found->path[i], who, sizeof(who));
		snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ", who);
	}
	if (prefix != NULL)
		return fail(c, APP_BAD_USAGE,
			    "%zu programs run with --file-prefix %s: expected one of %s", found->n,
			    prefix, list);
	return fail(c, APP_BAD_USAGE,
		    "%zu DPDK programs run: expected --file-prefix with one of %s", found->n, list);
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
		/* It says why not. */
		socket_path(prefix, pattern, sizeof(pattern));
		rc = open_path(c, pattern, prefix);
	} else {
		socket_path("*", pattern, sizeof(pattern));
		rc = fail(c, APP_FAILED, "no program runs: expected a telemetry socket %s",
			  pattern);
	}
	sockets_free(&found);
	return rc;
}

int
client_open(struct client *c, const char *path, const char *prefix)
{
	*c = (struct client){.fd = -1, .quiet = c->quiet, .buffer = malloc(LEAST_REPLY_BYTES + 1)};
	if (c->buffer == NULL)
		return fail(c, APP_FAILED, "%s", strerror(ENOMEM));
	return path != NULL ? open_path(c, path, NULL) : open_only(c, prefix);
}

void
client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->buffer);
	c->fd = -1;
	c->buffer = NULL;
}
