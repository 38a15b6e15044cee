/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small HTTP server on one address, with libmicrohttpd: GET and HEAD of a few paths, whose text
 * is made on request, and POST of JSON to some. Each client has a thread, so that a slow one does
 * not block others.
 *
 * Limits: HTTP_CLIENTS at a time. A further client replaces the connection that has been idle for
 * longest, or gets 503 if all are busy. A connection is busy from the end of a request to the end
 * of its answer, so a client that does not finish its request keeps nobody out. A request may take
 * HTTP_PATIENCE_S, and its answer as long again, then the connection is closed. Other methods,
 * paths and hosts get 405, 404 and 403. On a loopback address only requests to loopback names are
 * answered, so that a foreign page in a browser cannot read ours.
 *
 * A POST is passed on only if it is from a page of this server: Origin is http:// and Host, and
 * Host is an address or localhost, which a foreign page cannot make its own by its DNS. Else it
 * gets 403. A body that is not application/json gets 415, one of more than HTTP_BODY_BYTES 413.
 * What is refused for its line or its headers is answered before its body is read, and then the
 * connection is closed.
 */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_HTTP_H
#define QUENCH_APP_QUENCHCTL_SOCKET_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_CLIENTS 64u
#define HTTP_BODY_BYTES 4096u
#ifndef HTTP_PATIENCE_S
#define HTTP_PATIENCE_S 30u
#endif

struct http_answer {
	unsigned int status; /* 200 unless set */
	const char *content_type;
	void *body; /* malloc()ed; the server frees it */
	size_t bytes;
	const char *allow; /* methods of the path, with status 405 */
};

struct http_request;

/** A header or a parameter of the query; "" if it is missing. Valid until the answer is made. */
const char *http_header(const struct http_request *r, const char *name);
const char *http_parameter(const struct http_request *r, const char *name);
/** The body of a POST, of at most HTTP_BODY_BYTES. Valid until the answer is made. */
const char *http_body(const struct http_request *r, size_t *bytes);
/** Has the client closed its end, or been cut off, so that nobody waits for the answer? */
bool http_client_gone(const struct http_request *r);

/* A served path. */
struct http_route {
	const char *path; /* "/metrics" */
	const char *what; /* its description, for the list of paths */
	/* Called by several threads. */
	void (*answer)(void *arg, const struct http_request *r, struct http_answer *answer);
	/*
	 * NULL: the path takes GET and HEAD; else it takes POST, and this is called before the body
	 * is read. @return false: refused, with this answer.
	 */
	bool (*accept)(void *arg, const struct http_request *r, struct http_answer *answer);
};

/* Counters since the start. */
struct http_counts {
	atomic_ullong requests, not_found, refused_clients, closed_slow;
};

struct http_server;

/**
 * Listen at ADDRESS:PORT, [ADDRESS]:PORT, or PORT of 127.0.0.1; port 0: any free port.
 *
 * @return NULL after an error line; errno is EINVAL if listen is not an address.
 */
struct http_server *http_open(const char *listen, const struct http_route *routes,
			      unsigned int n_routes, void *arg);

/** Its URL, such as "http://127.0.0.1:9880". */
const char *http_url(const struct http_server *s);

const struct http_counts *http_counts(const struct http_server *s);

/** Serve until *stop, which is read twice a second. */
void http_run(struct http_server *s, const atomic_bool *stop);

void http_close(struct http_server *s);

/** Set an answer to a formatted text. */
void http_say(struct http_answer *answer, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
