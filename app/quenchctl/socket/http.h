/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small HTTP server on one address, over libmicrohttpd: GET and HEAD of a few paths, whose text
 * is made when it is asked for. A thread for each client, so that a slow one keeps nobody waiting.
 *
 * Bounds: HTTP_CLIENTS at a time. One that comes then takes the place of the connection that has
 * been idle for longest, or is told (503) when all are busy. HTTP_PATIENCE_S for a request and its
 * answer together, then the connection is closed. Another method, path or Host is
 * refused by name (405, 404, 403): on a loopback address only requests to loopback names are
 * answered, so that no page from elsewhere reads ours in a browser.
 */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_HTTP_H
#define QUENCH_APP_QUENCHCTL_SOCKET_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_CLIENTS 64u
#ifndef HTTP_PATIENCE_S
#define HTTP_PATIENCE_S 30u
#endif

struct http_answer {
	unsigned int status; /* 200 unless set */
	const char *content_type;
	void *body; /* malloc()ed; the server frees it */
	size_t bytes;
};

/* A path that is served. */
struct http_route {
	const char *path; /* "/metrics" */
	const char *what; /* of it, for the list of paths */
	/* Called by several threads. accept: the header, or "". */
	void (*answer)(void *arg, const char *accept, struct http_answer *answer);
};

/* What came, since the start. */
struct http_counts {
	atomic_ullong requests, not_found, refused_clients, closed_slow;
};

struct http_server;

/**
 * Listen at ADDRESS:PORT, [ADDRESS]:PORT or PORT of 127.0.0.1; port 0 is any that is free.
 *
 * @return NULL after an error line; errno is EINVAL when listen is no address.
 */
struct http_server *http_open(const char *listen, const struct http_route *routes,
			      unsigned int n_routes, void *arg);

/** Where it listens: "http://127.0.0.1:9880". */
const char *http_url(const struct http_server *s);

const struct http_counts *http_counts(const struct http_server *s);

/** Serve until *stop; looks at it twice a second. */
void http_run(struct http_server *s, const atomic_bool *stop);

void http_close(struct http_server *s);

/** Let an answer be a text of ours, copied. */
void http_say(struct http_answer *answer, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
