/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP connection to a perftest program: sends and receives whole messages, and ends its waits
 * at SIGINT, SIGTERM, SIGHUP, or the end of the peer.
 *
 * perftest reads each message with one read(), so each is sent at once.
 *
 * Invariant: every function that fails has printed one error line.
 */
#ifndef QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_PEER_H
#define QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time in which the peer must answer while both prepare. It registers memory meanwhile. */
#define PERFTEST_PATIENCE_MS 20000
#define PERFTEST_FOREVER (-1)

struct perftest_peer {
	int fd;        /* -1: not connected */
	int signal_fd; /* readable at one of them; they are blocked from the connection on */
	bool client;   /* we connected, so we speak first */
	char name[80]; /* "10.0.0.2:18515" */
};

/** Connect to HOST or HOST:PORT. @return 0 or an exit code. Call perftest_peer_close() always. */
int perftest_peer_connect(struct perftest_peer *peer, const char *host, uint16_t port);

/** Wait for one client on a port of all addresses. @return as perftest_peer_connect(). */
int perftest_peer_accept(struct perftest_peer *peer, uint16_t port);

void perftest_peer_close(struct perftest_peer *peer);

/** @return 0 or an exit code. */
int perftest_peer_send(struct perftest_peer *peer, const void *bytes, size_t n);

/**
 * Receive exactly n bytes.
 * @param what         The message, for the error line.
 * @param patience_ms  Time for it, or PERFTEST_FOREVER.
 * @return             0 or an exit code.
 */
int perftest_peer_receive(struct perftest_peer *peer, const char *what, void *bytes, size_t n,
			  int patience_ms);

/** Send ours and receive theirs, in the order of our role. @return 0 or an exit code. */
int perftest_peer_swap(struct perftest_peer *peer, const char *what, const void *ours, void *theirs,
		       size_t n, int patience_ms);

/** Wait, unless a signal or the end of the peer comes first. @return 0 or an exit code. */
int perftest_peer_rest(struct perftest_peer *peer, int ms);

#endif
