/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/client.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/say.h"
#include "ctl/unfold.h"

#define SOCKET_NAME "dpdk_telemetry.v2"
/* What the program says first. */
#define HELLO_BYTES 1024
#define LEAST_REPLY_BYTES 16384
/* The main lcore of the program has 2 s for what it is asked. */
#define PATIENCE_S 6

/* XDG_RUNTIME_DIR of our systemd units. */
#define SERVICE_DIR "/run/quench"

/* Where EAL puts what belongs to a run. */
static const char *
runtime_dir(void)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");

	if (getuid() == 0)
		return "/var/run";
	return xdg != NULL ? xdg : "/tmp";
}

static int
say_unreachable(const struct client *c, const char *prefix, int error)
{
	if (error == ECONNREFUSED)
		say_error("%s: the program is gone; its socket was left behind", c->path);
	else if (error == ENOENT && prefix != NULL)
		say_error("%s: no program with --file-prefix %s runs, or it was started with "
			  "--no-telemetry or by another user",
			  c->path, prefix);
	else
		say_error("%s: %s", c->path, strerror(error));
	return APP_FAILED;
}

static int
say_gone(const struct client *c)
{
	say_error("%s: the program is gone", c->path);
	return APP_FAILED;
}

static int
say_silent(const struct client *c)
{
	say_error("%s: the program does not answer", c->path);
	return APP_FAILED;
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
	say_error("%s: expected an answer to %s, got %.60s", c->path, path, c->buffer);
	return APP_FAILED;
}

static int
refuse(const struct client *c, const char *command, json_t *reply)
{
	const char *error = json_string_value(json_object_get(reply, "error"));
	const char *expected = json_string_value(json_object_get(reply, "expected"));
	int rc = 0;

	if (json_is_null(reply) || (json_is_object(reply) && json_object_size(reply) == 0 &&
				    strcmp(command, "/quench/info") == 0)) {
		say_error("%s: %s does not know %.*s", c->path,
			  *c->program != '\0' ? c->program : "the program",
			  (int)strcspn(command, ","), command);
		rc = APP_BAD_USAGE;
	} else if (error != NULL && expected != NULL) {
		say_error("%s: expected %s", error, expected);
		rc = APP_BAD_USAGE;
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
		if (rc != 0) {
			json_decref(*reply);
			return rc;
		}
		json_object_del(*reply, "next");
		if (json_object_get(page, "next") != NULL)
			json_object_set(*reply, "next", json_object_get(page, "next"));
		if (json_object_get(*reply, "rows") == NULL)
			json_object_set_new(*reply, "rows", json_array());
		json_array_extend(json_object_get(*reply, "rows"), json_object_get(page, "rows"));
		json_decref(page);
	}
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
		say_error("%s: the program hung up: it is about to end, or has ten clients already",
			  c->path);
		return APP_FAILED;
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
		say_error("%s: expected a path of at most %zu characters", path,
			  sizeof(c->path) - 1);
		return APP_BAD_USAGE;
	}
	rc = connect_to(c, path);
	if (rc != 0)
		return say_unreachable(c, prefix, -rc);
	rc = read_hello(c);
	return rc == 0 ? read_info(c) : rc;
}

/* Does anybody listen? */
static bool
is_alive(const char *path)
{
	struct client c = {.fd = -1};
	bool alive = strlen(path) < sizeof(c.path) && connect_to(&c, path) == 0;

	if (c.fd >= 0)
		close(c.fd);
	return alive;
}

/* The name of the folder that a socket is in. */
static void
prefix_of(const char *path, char *prefix, size_t size)
{
	const char *end = strrchr(path, '/'), *start = end;

	while (start > path && start[-1] != '/')
		start--;
	snprintf(prefix, size, "%.*s", (int)(end - start), start);
}

static int
say_which(char **paths, size_t n)
{
	char list[512] = "", prefix[128];

	for (size_t i = 0; i < n; i++) {
		size_t used = strlen(list);

		prefix_of(paths[i], prefix, sizeof(prefix));
		snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ", prefix);
	}
	say_error("%zu DPDK programs run: expected --file-prefix with one of %s", n, list);
	return APP_BAD_USAGE;
}

/* Without a name: there must be one program only. */
static int
open_only(struct client *c)
{
	char pattern[256];
	glob_t found;
	size_t n = 0;
	int rc;

	snprintf(pattern, sizeof(pattern), "%s/dpdk/*/" SOCKET_NAME "*", runtime_dir());
	(void)glob(pattern, 0, NULL, &found);
	(void)glob(SERVICE_DIR "/dpdk/*/" SOCKET_NAME "*", GLOB_APPEND, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (is_alive(found.gl_pathv[i])) {
			char *path = found.gl_pathv[i];

			found.gl_pathv[i] = found.gl_pathv[n];
			found.gl_pathv[n++] = path;
		}
	}
	if (n == 1) {
		rc = open_path(c, found.gl_pathv[0], NULL);
	} else if (n == 0) {
		say_error("no program runs: expected a telemetry socket %s", pattern);
		rc = APP_FAILED;
	} else {
		rc = say_which(found.gl_pathv, n);
	}
	globfree(&found);
	return rc;
}

int
client_open(struct client *c, const char *path, const char *prefix)
{
	char of_prefix[512], in_service[512];

	*c = (struct client){.fd = -1, .buffer = malloc(LEAST_REPLY_BYTES + 1)};
	if (c->buffer == NULL) {
		say_error("%s", strerror(ENOMEM));
		return APP_FAILED;
	}
	if (path != NULL)
		return open_path(c, path, NULL);
	if (prefix == NULL)
		return open_only(c);
	snprintf(of_prefix, sizeof(of_prefix), "%s/dpdk/%s/" SOCKET_NAME, runtime_dir(), prefix);
	if (access(of_prefix, F_OK) != 0 &&
	    snprintf(in_service, sizeof(in_service), SERVICE_DIR "/dpdk/%s/" SOCKET_NAME, prefix) >
		    0 &&
	    access(in_service, F_OK) == 0)
		return open_path(c, in_service, prefix);
	return open_path(c, of_prefix, prefix);
}

void
client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->buffer);
	*c = (struct client){.fd = -1};
}
