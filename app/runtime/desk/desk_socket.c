/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/desk/desk_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/desk/control_thread.h"
#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"

#define MODE 0660
/* With groups, by which each client is judged. */
#define MODE_FOR_ALL 0666
#define FOLDER_FOR_ALL 0055
/* Programs that may share a --file-prefix. */
#define MOST_SOCKETS 64u
#define NS_PER_MS 1000000u
/* Pause after a client that could not be accepted: file descriptors or memory are used up. */
#define ACCEPT_PAUSE_MS 100

struct client {
	int fd; /* -1: free */
	struct desk_peer peer;
	bool ended; /* it sends no more requests; it may still receive replies */
	char *in;   /* buffer of DESK_REQUEST_BYTES for an incomplete line; NULL: none */
	size_t n_in;
	char *out; /* output that waits */
	size_t n_out, sent;
	uint64_t took_ns; /* when it last took a byte, or output began to wait */
};

struct desk_socket {
	struct sockaddr_un addr;
	int fd, wake;
	atomic_bool stop;
	desk_answer_fn *answer;
	const void *arg;
	struct desk_groups groups;
	struct control_thread thread;
	bool has_thread;
	uint64_t accept_ns; /* accept no client earlier */
	bool said_lack;     /* since the last client that was accepted */
	struct client clients[DESK_CLIENTS];
};

const char *
desk_socket_path(const struct desk_socket *s)
{
	return s->addr.sun_path;
}

/* Does a program listen? Yes, if we cannot tell. */
static bool
is_alive(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A program that hangs listens, too: connect() gives EAGAIN once its queue is full. */
	bool alive = fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0 ||
		     errno == EAGAIN;

	if (fd >= 0)
		close(fd);
	return alive;
}

/* Listen at the first name at which no program listens. @return 0 or -errno. */
static int
listen_at_free_name(struct desk_socket *s, const char *dir)
{
	for (unsigned int i = 0; i < MOST_SOCKETS; i++) {
		char number[16] = "";
		int n, rc;

		if (i > 0)
			snprintf(number, sizeof(number), ":%u", i);
		n = snprintf(s->addr.sun_path, sizeof(s->addr.sun_path),
			     "%s/" DESK_SOCKET_NAME "%s", dir, number);
		if (n >= (int)sizeof(s->addr.sun_path))
			return -ENAMETOOLONG;
		if (is_alive(&s->addr))
			continue;
		(void)unlink(s->addr.sun_path);
		if (bind(s->fd, (const struct sockaddr *)&s->addr, sizeof(s->addr)) != 0)
			return -errno;
		rc = chmod(s->addr.sun_path, desk_groups_given(&s->groups) ? MODE_FOR_ALL : MODE) ==
					     0 &&
				     listen(s->fd, DESK_CLIENTS) == 0
			     ? 0
			     : -errno;
		if (rc != 0)
			(void)unlink(s->addr.sun_path);
		return rc;
	}
	return -EADDRINUSE;
}

/*
 * listen_at_free_name() under a lock of the folder. Without it, a program that starts at the same
 * time would find that nobody listens yet at a name just bound, and take it. @return 0 or -errno.
 */
static int
take_name(struct desk_socket *s, const char *dir)
{
	int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (lock < 0)
		return -errno;
	while ((rc = flock(lock, LOCK_EX) == 0 ? 0 : -errno) == -EINTR)
		;
	if (rc == 0)
		rc = listen_at_free_name(s, dir);
	close(lock);
	return rc;
}

/* Let every user pass a folder. @return 0 or -errno. */
static int
open_folder(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return -errno;
	if ((st.st_mode & FOLDER_FOR_ALL) == FOLDER_FOR_ALL)
		return 0;
	return chmod(path, (st.st_mode | FOLDER_FOR_ALL) & 07777) == 0 ? 0 : -errno;
}

/* The folder of the program, and that of all of DPDK's programs. @return 0 or -errno. */
static int
open_folders(const char *dir)
{
	char *above = strdup(dir), *end = above == NULL ? NULL : strrchr(above, '/');
	int rc = above == NULL ? -ENOMEM : open_folder(dir);

	if (rc == 0 && end != NULL && end != above) {
		*end = '\0';
		rc = open_folder(above);
	}
	free(above);
	return rc;
}

static void
end_client(struct client *c)
{
	close(c->fd);
	free(c->in);
	free(c->out);
	*c = (struct client){.fd = -1};
}

/* Append a copy of n bytes to the client's output. @return false: out of memory. */
static bool
give(struct client *c, const char *lines, size_t n)
{
	char *more = realloc(c->out, c->n_out + n);

	if (more == NULL)
		return false;
	if (c->sent == c->n_out)
		c->took_ns = monotonic_ns();
	memcpy(more + c->n_out, lines, n);
	c->out = more;
	c->n_out += n;
	return true;
}

/* Send output that waits. @return false: the client has disconnected. */
static bool
send_out(struct client *c)
{
	while (c->sent < c->n_out) {
		ssize_t n = send(c->fd, c->out + c->sent, c->n_out - c->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n <= 0)
			return n < 0 && (errno == EAGAIN || errno == EINTR);
		c->sent += (size_t)n;
		c->took_ns = monotonic_ns();
	}
	free(c->out);
	c->out = NULL;
	c->n_out = c->sent = 0;
	return true;
}

static bool
is_idle(const struct client *c)
{
	return c->n_out == 0;
}

/* Answer the client's first complete line. @return false: disconnect the client. */
static bool
answer_line(struct desk_socket *s, struct client *c)
{
	static const char too_long[] =
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
		"\"message\":\"a line of more than 1048576 bytes\"}}\n";
	char *end = c->n_in == 0 ? NULL : memchr(c->in, '\n', c->n_in), *line;
	bool given = true;
	size_t n;

	if (end == NULL && c->n_in < DESK_REQUEST_BYTES)
		return true;
	if (end == NULL) {
		c->ended = true;
		c->n_in = 0;
		return give(c, too_long, sizeof(too_long) - 1) && send_out(c);
	}
	n = (size_t)(end - c->in);
	line = s->answer(s->arg, &c->peer, c->in, n);
	memmove(c->in, end + 1, c->n_in - n - 1);
	c->n_in -= n + 1;
	if (line != NULL)
		given = give(c, line, strlen(line));
	free(line);
	return given && send_out(c);
}

/* Receive from the client. @return false: it has disconnected. */
static bool
read_in(struct client *c)
{
	ssize_t n;

	if (c->in == NULL)
		c->in = malloc(DESK_REQUEST_BYTES);
	if (c->in == NULL)
		return false;
	n = recv(c->fd, c->in + c->n_in, DESK_REQUEST_BYTES - c->n_in, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->n_in += (size_t)n;
	c->ended = c->ended || n == 0;
	return true;
}

static bool
has_line(const struct client *c)
{
	return c->n_in == DESK_REQUEST_BYTES ||
	       (c->n_in > 0 && memchr(c->in, '\n', c->n_in) != NULL);
}

/* Serve a client: send, receive, answer one line. @return false: disconnect it. */
static bool
serve(struct desk_socket *s, struct client *c, short events)
{
	if (!is_idle(c) && events != 0 && !send_out(c))
		return false;
	if (is_idle(c) && !c->ended && !has_line(c) && events != 0 && !read_in(c))
		return false;
	if (is_idle(c) && has_line(c) && !answer_line(s, c))
		return false;
	/* At the end of input, an incomplete line is no request. */
	if (c->n_in == 0) {
		free(c->in);
		c->in = NULL;
	}
	return !(c->ended && is_idle(c) && !has_line(c)) &&
	       (is_idle(c) || monotonic_ns() - c->took_ns < (uint64_t)DESK_PATIENCE_MS * NS_PER_MS);
}

/* Send the reason, if the socket has room for it, and close. */
static void
refuse_client(int fd, enum desk_error code, const char *reason)
{
	char line[192];
	int n = snprintf(line, sizeof(line),
			 "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,"
			 "\"message\":\"%s\"}}\n",
			 code, reason);

	(void)!send(fd, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

/* The client waits. poll() would return at once, for ever. */
static void
pause_accepting(struct desk_socket *s, int cause)
{
	s->accept_ns = monotonic_ns() + (uint64_t)ACCEPT_PAUSE_MS * NS_PER_MS;
	if (!s->said_lack)
		say_warning("%s: clients wait: %s", s->addr.sun_path, strerror(cause));
	s->said_lack = true;
}

static void
accept_client(struct desk_socket *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct desk_peer peer;
	char reason[128];

	if (fd >= 0)
		s->said_lack = false;
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		pause_accepting(s, errno);
	if (fd < 0)
		return;
	peer = desk_peer_of(fd, &s->groups);
	if (peer.access == DESK_NOTHING) {
		snprintf(
			reason, sizeof(reason),
			"user %u may not read: expected a member of the group of --read-group or --change-group",
			peer.uid);
		refuse_client(fd, DESK_FORBIDDEN, reason);
		return;
	}
	for (unsigned int i = 0; i < DESK_CLIENTS; i++)
		if (s->clients[i].fd < 0) {
			s->clients[i].fd = fd;
			s->clients[i].peer = peer;
			return;
		}
	snprintf(reason, sizeof(reason), "%u clients are connected", DESK_CLIENTS);
	refuse_client(fd, DESK_TOO_MANY, reason);
}

/* Wait for events: rows 0 and 1 are our own descriptors, then follow the clients. */
static int
wait_for_work(const struct desk_socket *s, struct pollfd p[DESK_CLIENTS + 2])
{
	bool accepts = monotonic_ns() >= s->accept_ns;
	int patience_ms = accepts ? -1 : ACCEPT_PAUSE_MS;

	p[0] = (struct pollfd){.fd = accepts ? s->fd : -1, .events = POLLIN};
	p[1] = (struct pollfd){.fd = s->wake, .events = POLLIN};
	for (unsigned int i = 0; i < DESK_CLIENTS; i++) {
		const struct client *c = &s->clients[i];

		p[i + 2] = (struct pollfd){.fd = c->fd, .events = is_idle(c) ? POLLIN : POLLOUT};
		if (c->fd >= 0 && is_idle(c) && has_line(c))
			patience_ms = 0;
		else if (c->fd >= 0 && !is_idle(c) && patience_ms < 0)
			patience_ms = DESK_PATIENCE_MS / 4;
	}
	return poll(p, DESK_CLIENTS + 2, patience_ms);
}

static void
run(void *arg)
{
	struct desk_socket *s = arg;
	struct pollfd p[DESK_CLIENTS + 2];

	while (!atomic_load(&s->stop)) {
		if (wait_for_work(s, p) < 0)
			continue;
		for (unsigned int i = 0; i < DESK_CLIENTS && !atomic_load(&s->stop); i++)
			if (s->clients[i].fd >= 0 && !serve(s, &s->clients[i], p[i + 2].revents))
				end_client(&s->clients[i]);
		if (p[0].revents != 0)
			accept_client(s);
	}
}

int
desk_socket_open(struct desk_socket **opened, const char *dir, const struct desk_groups *groups,
		 desk_answer_fn *answer, const void *arg)
{
	struct desk_socket *s = calloc(1, sizeof(*s));
	int rc = 0;

	*opened = NULL;
	if (s == NULL)
		return -ENOMEM;
	s->answer = answer;
	s->arg = arg;
	s->groups = *groups;
	s->addr.sun_family = AF_UNIX;
	for (unsigned int i = 0; i < DESK_CLIENTS; i++)
		s->clients[i].fd = -1;
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->fd < 0 || s->wake < 0)
		rc = -errno;
	if (rc == 0 && desk_groups_given(groups))
		rc = open_folders(dir);
	if (rc == 0)
		rc = take_name(s, dir);
	if (rc != 0)
		s->addr.sun_path[0] = '\0';
	if (rc == 0) {
		rc = control_thread_start(&s->thread, "quench-desk", run, s);
		s->has_thread = rc == 0;
	}
	if (rc == 0)
		*opened = s;
	else
		desk_socket_close(s, false);
	return rc;
}

void
desk_socket_close(struct desk_socket *s, bool leave)
{
	if (s == NULL)
		return;
	atomic_store(&s->stop, true);
	if (s->has_thread) {
		(void)eventfd_write(s->wake, 1);
		control_thread_join(&s->thread);
	}
	for (unsigned int i = 0; i < DESK_CLIENTS; i++)
		if (s->clients[i].fd >= 0)
			end_client(&s->clients[i]);
	if (s->addr.sun_path[0] != '\0' && !leave)
		(void)unlink(s->addr.sun_path);
	if (s->fd >= 0)
		close(s->fd);
	if (s->wake >= 0)
		close(s->wake);
	free(s);
}
