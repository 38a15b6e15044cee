/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/perftest/perftest_peer.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/numbers/decimal.h"
#include "quenchctl/socket/client.h"
#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"

#define NS_PER_MS 1000000ull

static int
begin(struct perftest_peer *peer, bool client)
{
	sigset_t set;

	*peer = (struct perftest_peer){.fd = -1, .signal_fd = -1, .client = client};
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	peer->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (peer->signal_fd >= 0)
		return 0;
	say_error("signalfd: %s", strerror(errno));
	return APP_FAILED;
}

/* Milliseconds until the deadline; PERFTEST_FOREVER: there is none. */
static int
left_ms(uint64_t deadline_ns)
{
	uint64_t now_ns = monotonic_ns();

	if (deadline_ns == UINT64_MAX)
		return -1;
	return deadline_ns <= now_ns ? 0 : (int)((deadline_ns - now_ns) / NS_PER_MS) + 1;
}

static uint64_t
deadline_ns(int patience_ms)
{
	return patience_ms == PERFTEST_FOREVER ? UINT64_MAX
					       : monotonic_ns() + (uint64_t)patience_ms * NS_PER_MS;
}

/*
 * Wait for events at fd.
 * @return > 0: they are there; 0: the deadline has passed; < 0: a signal, after an error line.
 */
static int
wait_for(const struct perftest_peer *peer, int fd, short events, uint64_t end_ns)
{
	struct pollfd fds[] = {{.fd = fd, .events = events},
			       {.fd = peer->signal_fd, .events = POLLIN}};
	int n;

	do
		n = poll(fds, 2, left_ms(end_ns));
	while (n < 0 && errno == EINTR);
	if (n >= 0 && fds[1].revents == 0)
		return fds[0].revents != 0;
	say_error("%s: ended by a signal", peer->name[0] == '\0' ? "perftest" : peer->name);
	return -1;
}

static int
fail(const struct perftest_peer *peer, const char *what, const char *why)
{
	say_error("%s: %s: %s", peer->name, what, why);
	return APP_FAILED;
}

/* Split HOST:PORT; a host with several colons is an IPv6 address without a port. */
static int
split(const char *text, uint16_t port, char *host, size_t size, char service[8])
{
	const char *colon = strchr(text, ':');
	uint64_t number = port;
	size_t n = strlen(text);

	if (colon != NULL && strchr(colon + 1, ':') == NULL) {
		n = (size_t)(colon - text);
		if (!decimal_parse(colon + 1, 1, 65535, &number))
			n = 0;
	}
	if (n == 0 || n >= size) {
		say_error("%s: expected HOST or HOST:PORT", text);
		return APP_BAD_USAGE;
	}
	snprintf(host, size, "%.*s", (int)n, text);
	snprintf(service, 8, "%u", (unsigned int)number);
	return 0;
}

/* Finish a connect() that does not block. @return 0 or -errno; or 1: a signal. */
static int
await_connected(const struct perftest_peer *peer, int fd)
{
	int n = wait_for(peer, fd, POLLOUT, deadline_ns(PERFTEST_PATIENCE_MS)), error = 0;
	socklen_t size = sizeof(error);

	if (n < 0)
		return 1;
	if (n == 0)
		return -ETIMEDOUT;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	return -error;
}

int
perftest_peer_connect(struct perftest_peer *peer, const char *host, uint16_t port)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	char name[64], service[8];
	struct addrinfo *found = NULL;
	int rc = begin(peer, true), error = -EHOSTUNREACH;

	if (rc == 0)
		rc = split(host, port, name, sizeof(name), service);
	if (rc != 0)
		return rc;
	snprintf(peer->name, sizeof(peer->name), "%s:%s", name, service);
	rc = getaddrinfo(name, service, &hints, &found);
	if (rc != 0) {
		say_error("%s: %s", host, gai_strerror(rc));
		return APP_FAILED;
	}
	for (const struct addrinfo *at = found; at != NULL && error < 0; at = at->ai_next) {
		int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
				at->ai_protocol);

		error = fd < 0 ? -errno : 0;
		if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0)
			error = errno == EINPROGRESS ? await_connected(peer, fd) : -errno;
		if (error == 0)
			peer->fd = fd;
		else if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(found);
	if (error < 0)
		return fail(peer, "no connection", strerror(-error));
	return error == 0 ? 0 : APP_FAILED;
}

/* A socket that listens; IPv6 sockets take IPv4 clients too. @return -errno. */
static int
listen_on(uint16_t port)
{
	const struct sockaddr_in6 any = {
		.sin6_family = AF_INET6, .sin6_addr = in6addr_any, .sin6_port = htons(port)};
	const struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	bool v6 = true;
	const int on = 1, off = 0;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0) {
		v6 = false;
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	rc = v6 ? bind(fd, (const struct sockaddr *)&any, sizeof(any))
		: bind(fd, (const struct sockaddr *)&any4, sizeof(any4));
	if (rc == 0)
		rc = listen(fd, 1);
	if (rc == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static void
name_peer(struct perftest_peer *peer, const struct sockaddr *address, socklen_t size)
{
	static const char mapped[] = "::ffff:";
	char host[64] = "?", service[8] = "?";
	const char *at = host;

	getnameinfo(address, size, host, sizeof(host), service, sizeof(service),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	if (strncmp(host, mapped, sizeof(mapped) - 1) == 0)
		at += sizeof(mapped) - 1;
	snprintf(peer->name, sizeof(peer->name), "%s:%s", at, service);
}

int
perftest_peer_accept(struct perftest_peer *peer, uint16_t port)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	int rc = begin(peer, false), fd;

	if (rc != 0)
		return rc;
	fd = listen_on(port);
	if (fd < 0) {
		say_error("port = %u: cannot listen: %s", port, strerror(-fd));
		return APP_FAILED;
	}
	say("waiting for a client of perftest on port %u", port);
	rc = wait_for(peer, fd, POLLIN, UINT64_MAX) < 0 ? APP_FAILED : 0;
	if (rc == 0) {
		peer->fd = accept4(fd, (struct sockaddr *)&address, &size,
				   SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (peer->fd < 0) {
			say_error("port = %u: %s", port, strerror(errno));
			rc = APP_FAILED;
		} else {
			name_peer(peer, (const struct sockaddr *)&address, size);
		}
	}
	close(fd);
	return rc;
}

void
perftest_peer_close(struct perftest_peer *peer)
{
	if (peer->fd >= 0)
		close(peer->fd);
	if (peer->signal_fd >= 0)
		close(peer->signal_fd);
	peer->fd = peer->signal_fd = -1;
}

int
perftest_peer_send(struct perftest_peer *peer, const void *bytes, size_t n)
{
	ssize_t sent = send(peer->fd, bytes, n, MSG_NOSIGNAL);

	/* The buffer of a connection that both read in turn is empty. */
	if (sent == (ssize_t)n)
		return 0;
	return fail(peer, "cannot be written to", sent < 0 ? strerror(errno) : "it reads nothing");
}

int
perftest_peer_receive(struct perftest_peer *peer, const char *what, void *bytes, size_t n,
		      int patience_ms)
{
	uint64_t end_ns = deadline_ns(patience_ms);
	uint8_t *at = bytes;

	while (n > 0) {
		int ready = wait_for(peer, peer->fd, POLLIN, end_ns);
		ssize_t got;

		if (ready < 0)
			return APP_FAILED;
		if (ready == 0)
			return fail(peer, what, "did not come in time");
		got = recv(peer->fd, at, n, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return fail(peer, what,
				    got < 0 ? strerror(errno) : "the peer ended the connection");
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

int
perftest_peer_swap(struct perftest_peer *peer, const char *what, const void *ours, void *theirs,
		   size_t n, int patience_ms)
{
	int rc = peer->client ? perftest_peer_send(peer, ours, n) : 0;

	if (rc == 0)
		rc = perftest_peer_receive(peer, what, theirs, n, patience_ms);
	if (rc == 0 && !peer->client)
		rc = perftest_peer_send(peer, ours, n);
	return rc;
}

int
perftest_peer_rest(struct perftest_peer *peer, int ms)
{
	int ready = wait_for(peer, peer->fd, POLLRDHUP, deadline_ns(ms));

	if (ready < 0)
		return APP_FAILED;
	return ready == 0 ? 0 : fail(peer, "the run", "the peer ended the connection");
}
