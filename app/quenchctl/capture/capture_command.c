/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/capture/capture_command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"
#include "quenchctl/capture/capture_file.h"

/* More than the largest block. */
#define STREAM_BYTES (1u << 20)
/* Interval of looks for a signal. */
#define LOOK_MS 100
/* Time that the program gets to begin, and to end after a signal. */
#define PATIENCE_NS 10000000000ull

static volatile sig_atomic_t asked; /* to end */

struct run {
	const char *port, *path;
	bool json;
	bool to_stdout;
	char interface[64];
	int socket;
	uint64_t deadline_ns; /* for the next bytes; 0: none */
	bool said;            /* that it has begun */
	size_t n;             /* bytes in stream */
	uint8_t *stream;
	struct capture_file file;
};

static void
on_signal(int number)
{
	(void)number;
	asked = 1;
}

/* A second signal ends a command that waits for its reader. */
static void
catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* For lines; standard output may have the frames, or JSON. */
static FILE *
for_people(const struct run *r)
{
	return r->to_stdout || r->json ? stderr : stdout;
}

static const char *
file_name(const struct run *r)
{
	return r->to_stdout ? "standard output" : r->path;
}

/* The socket is beside the telemetry socket, even if that folder has another path here. */
static int
connect_to(const struct client *c, const char *name)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const char *slash = strrchr(c->path, '/');
	int folder = slash == NULL ? 0 : (int)(slash - c->path) + 1, fd;
	int n = snprintf(addr.sun_path, sizeof(addr.sun_path), "%.*s%s", folder, c->path, name);

	if (n < 0 || (size_t)n >= sizeof(addr.sun_path)) {
		say_error("%.*s%s: expected a path of at most %zu characters", folder, c->path,
			  name, sizeof(addr.sun_path) - 1);
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	say_error("%s: %s", addr.sun_path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Begin a capture. @return 0, or an exit code after an error line. */
static int
begin(struct run *r, struct client *c, const char *options)
{
	char request[CLIENT_REQUEST_CHARS + 1];
	json_t *reply;
	int rc;

	snprintf(request, sizeof(request), "/quench/capture,%s%s", r->port, options);
	rc = client_ask(c, request, &reply);
	if (rc != 0)
		return rc;
	snprintf(r->interface, sizeof(r->interface), "%s",
		 json_string_value(json_object_get(reply, "interface")));
	r->socket = connect_to(c, json_string_value(json_object_get(reply, "socket")));
	json_decref(reply);
	return r->socket < 0 ? APP_FAILED : 0;
}

/* Open the file. @return as begin(). */
static int
open_file(struct run *r)
{
	if (r->to_stdout && isatty(STDOUT_FILENO)) {
		say_error("-: expected a pipe or a file as standard output, not a terminal");
		return APP_BAD_USAGE;
	}
	r->file.fd = r->to_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
				  : open(r->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (r->file.fd >= 0)
		return 0;
	say_error("%s: %s", file_name(r), strerror(errno));
	return APP_FAILED;
}

/* After a signal, tell the program once. */
static void
look_for_signal(struct run *r)
{
	if (!asked || r->deadline_ns != 0)
		return;
	(void)shutdown(r->socket, SHUT_WR);
	r->deadline_ns = monotonic_ns() + PATIENCE_NS;
}

static void
say_begun(struct run *r)
{
	FILE *out = for_people(r);

	r->said = true;
	r->deadline_ns = 0;
	fprintf(out, "capturing port %s (%s); Ctrl-C ends it\n", r->port, r->interface);
	fflush(out);
}

/* @return bytes read; 0: the program closed the socket, or is silent (then after an error line). */
static ssize_t
read_some(struct run *r)
{
	struct pollfd readable = {.fd = r->socket, .events = POLLIN};

	for (;;) {
		look_for_signal(r);
		if (poll(&readable, 1, LOOK_MS) > 0) {
			ssize_t n = recv(r->socket, r->stream + r->n, STREAM_BYTES - r->n, 0);

			if (n >= 0 || errno != EINTR)
				return n < 0 ? 0 : n;
		}
		if (r->deadline_ns != 0 && monotonic_ns() > r->deadline_ns)
			return 0;
	}
}

/* Write what the program sends, until it closes the socket. @return 0 or -errno of the file. */
static int
copy(struct run *r)
{
	ssize_t n;

	while ((n = read_some(r)) > 0) {
		size_t used;
		int rc;

		if (!r->said)
			say_begun(r);
		r->n += (size_t)n;
		rc = capture_file_add(&r->file, r->stream, r->n, &used);
		if (rc != 0)
			return rc;
		r->n -= used;
		memmove(r->stream, r->stream + used, r->n);
	}
	return 0;
}

static void
print_json(const struct run *r, FILE *out)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "port", r->port, "interface",
			      r->interface, "file", r->path, "frames", (json_int_t)r->file.frames,
			      "bytes", (json_int_t)r->file.bytes, "lost", (json_int_t)r->file.lost);

	json_dumpf(o, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(o);
}

/* @param rc  Result of copy(). @return an exit code. */
static int
say_result(const struct run *r, int rc)
{
	const struct capture_file *f = &r->file;
	const char *why = NULL;
	char text[128];

	snprintf(text, sizeof(text),
		 "%" PRIu64 " frames, %" PRIu64 " bytes written, %" PRIu64 " lost (ring full)",
		 f->frames, f->bytes, f->lost);
	if (rc != 0)
		why = rc == -EPROTO ? "the program sent no pcapng" : strerror(-rc);
	else if (!f->is_complete)
		why = r->deadline_ns != 0 ? "the program does not answer"
					  : "the program ended without the last frames";
	if (why != NULL) {
		say_error("%s: %s: %s", file_name(r), why, text);
		return APP_FAILED;
	}
	if (r->json)
		print_json(r, r->to_stdout ? stderr : stdout);
	else
		fprintf(for_people(r), "%s\n", text);
	return APP_DONE;
}

/* The capture has begun. */
static int
record(struct run *r)
{
	int rc = open_file(r);

	if (rc != 0)
		return rc;
	r->stream = malloc(STREAM_BYTES);
	if (r->stream == NULL) {
		say_error("%s", strerror(ENOMEM));
		return APP_FAILED;
	}
	r->deadline_ns = monotonic_ns() + PATIENCE_NS;
	rc = copy(r);
	if (close(r->file.fd) != 0 && rc == 0)
		rc = -errno;
	r->file.fd = -1;
	rc = say_result(r, rc);
	free(r->stream);
	return rc;
}

int
command_capture(const struct command *command, struct client *c, const struct ctl_options *o,
		const char *const params[COMMAND_PARAMS])
{
	struct run r = {.port = params[0],
			.path = params[1],
			.json = o->json,
			.to_stdout = strcmp(params[1], "-") == 0,
			.socket = -1,
			.file.fd = -1};
	int rc;

	(void)command;
	catch_signals();
	rc = begin(&r, c, o->capture);
	/* The program has few connections for clients. */
	client_close(c);
	if (rc == 0)
		rc = record(&r);
	if (r.socket >= 0)
		close(r.socket);
	return rc;
}
