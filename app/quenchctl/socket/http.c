/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/socket/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers/decimal.h"
#include "runtime/notice/say.h"

#define DEFAULT_ADDRESS "127.0.0.1"
/* Further connections are not accepted, and wait in the listening queue. */
#define MOST_CONNECTIONS (HTTP_CLIENTS + 32u)
/* Largest request: its line and headers. */
#define REQUEST_BYTES 16384u
#define TICK_NS 500000000l

struct connection {
	int fd; /* -1: free */
	time_t since;
	bool refused; /* it arrived while HTTP_CLIENTS were busy */
	bool busy;    /* all of a request has come, and it is not fully answered */
	bool ended;   /* the server has ended it; its thread will notice */
};

struct http_server {
	struct MHD_Daemon *daemon;
	const struct http_route *routes;
	unsigned int n_routes;
	void *arg;
	bool loopback;
	char url[128];
	struct http_counts counts;
	pthread_mutex_t lock;
	struct connection connections[MOST_CONNECTIONS];
	unsigned int n_connections;
};

/* The body of a POST. */
struct upload {
	bool too_large;
	size_t bytes;
	char body[HTTP_BODY_BYTES];
};

struct http_request {
	struct MHD_Connection *c;
	const struct upload *upload;
};

/* Stands for a request without an upload. */
static struct upload no_upload;

/* @return NULL: it was refused, as the table was full. */
static struct connection *
connection_of(struct MHD_Connection *c)
{
	return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static time_t
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

void
http_say(struct http_answer *answer, unsigned int status, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	answer->status = status;
	answer->content_type = "text/plain; charset=utf-8";
	answer->body = n < 0 ? NULL : text;
	answer->bytes = n < 0 ? 0 : (size_t)n;
}

static const char *
look_up(const struct http_request *r, enum MHD_ValueKind kind, const char *name)
{
	const char *value = MHD_lookup_connection_value(r->c, kind, name);

	return value != NULL ? value : "";
}

const char *
http_header(const struct http_request *r, const char *name)
{
	return look_up(r, MHD_HEADER_KIND, name);
}

const char *
http_parameter(const struct http_request *r, const char *name)
{
	return look_up(r, MHD_GET_ARGUMENT_KIND, name);
}

const char *
http_body(const struct http_request *r, size_t *bytes)
{
	*bytes = r->upload->bytes;
	return r->upload->body;
}

bool
http_client_gone(const struct http_request *r)
{
	struct pollfd fd = {
		.fd = MHD_get_connection_info(r->c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
		.events = POLLRDHUP};

	return poll(&fd, 1, 0) != 0;
}

/*
 * Make room for another client: end the connection that has been idle for longest, so that idle
 * clients do not keep out active ones. Called with the lock held. @return false: all are busy.
 */
static bool
end_most_idle(struct http_server *s)
{
	struct connection *most = NULL;

	for (unsigned int i = 0; i < MOST_CONNECTIONS; i++) {
		struct connection *c = &s->connections[i];

		if (c->fd >= 0 && !c->busy && !c->ended && (most == NULL || c->since < most->since))
			most = c;
	}
	if (most == NULL)
		return false;
	most->ended = true;
	atomic_fetch_add(&s->counts.closed_slow, 1);
	shutdown(most->fd, SHUT_RDWR);
	return true;
}

/* libmicrohttpd stores the connection's index in the table. */
static void
on_connection(void *arg, struct MHD_Connection *c, void **place,
	      enum MHD_ConnectionNotificationCode code)
{
	struct http_server *s = arg;
	struct connection *at = *place;

	pthread_mutex_lock(&s->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		bool refused = s->n_connections >= HTTP_CLIENTS && !end_most_idle(s);

		for (at = s->connections; at < s->connections + MOST_CONNECTIONS && at->fd >= 0;)
			at++;
		*place = at < s->connections + MOST_CONNECTIONS ? at : NULL;
		if (*place != NULL)
			*at = (struct connection){
				.fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)
					      ->connect_fd,
				.since = now_s(),
				.refused = refused};
		s->n_connections++;
	} else {
		if (at != NULL)
			at->fd = -1;
		s->n_connections--;
	}
	pthread_mutex_unlock(&s->lock);
}

/* A client with a complete answer may send another request. */
static void
on_completed(void *arg, struct MHD_Connection *c, void **request,
	     enum MHD_RequestTerminationCode code)
{
	struct http_server *s = arg;
	struct connection *at = connection_of(c);

	(void)code;
	if (*request != &no_upload)
		free(*request);
	*request = NULL;
	pthread_mutex_lock(&s->lock);
	if (at != NULL) {
		at->since = now_s();
		at->busy = false;
	}
	pthread_mutex_unlock(&s->lock);
}

/* End connections that are too slow, or idle. Their threads see the end of the stream. */
static void
end_slow_ones(struct http_server *s)
{
	time_t now = now_s();

	pthread_mutex_lock(&s->lock);
	for (unsigned int i = 0; i < MOST_CONNECTIONS; i++) {
		struct connection *c = &s->connections[i];

		if (c->fd < 0 || now - c->since < (time_t)HTTP_PATIENCE_S)
			continue;
		atomic_fetch_add(&s->counts.closed_slow, 1);
		shutdown(c->fd, SHUT_RDWR);
		c->since = now;
	}
	pthread_mutex_unlock(&s->lock);
}

/* What the name in a Host header, without its port, is. */
enum host {
	HOST_NAME, /* of which a DNS says where it is */
	HOST_ADDRESS,
	HOST_LOOPBACK, /* localhost, or an address of this machine to itself */
};

static enum host
host_of(const char *host)
{
	bool brackets = *host == '[';
	size_t n = strcspn(host + brackets, brackets ? "]" : ":");
	struct in6_addr in6;
	struct in_addr in;
	char name[64];

	/* It must be an address: 127.0.0.1.example.org is an ordinary name. */
	snprintf(name, sizeof(name), "%.*s", (int)n, host + brackets);
	if (brackets && inet_pton(AF_INET6, name, &in6) == 1)
		return IN6_IS_ADDR_LOOPBACK(&in6) ? HOST_LOOPBACK : HOST_ADDRESS;
	if (!brackets && inet_pton(AF_INET, name, &in) == 1)
		return ntohl(in.s_addr) >> 24 == 127 ? HOST_LOOPBACK : HOST_ADDRESS;
	return !brackets && strcasecmp(name, "localhost") == 0 ? HOST_LOOPBACK : HOST_NAME;
}

static void
say_paths(const struct http_server *s, struct http_answer *answer, unsigned int status,
	  const char *why)
{
	char list[1024] = "";

	for (unsigned int i = 0; i < s->n_routes; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%-12s %s\n", s->routes[i].path,
			 s->routes[i].what);
	}
	http_say(answer, status, "%s\n%s", why, list);
}

/* Is the content JSON, whatever its parameters? */
static bool
is_json(const char *type)
{
	static const char json[] = "application/json";
	size_t n = strcspn(type, "; \t");

	return n == strlen(json) && strncasecmp(type, json, n) == 0;
}

static bool
is_read(const char *method)
{
	return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
	       strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

static const struct http_route *
route_of(const struct http_server *s, const char *path)
{
	for (unsigned int i = 0; i < s->n_routes; i++)
		if (strcmp(path, s->routes[i].path) == 0)
			return &s->routes[i];
	return NULL;
}

/* Refuse a POST that is not JSON from our own page. @return false: it is refused. */
static bool
accept_post(const struct http_request *r, struct http_answer *answer)
{
	const char *host = http_header(r, MHD_HTTP_HEADER_HOST);
	const char *origin = http_header(r, MHD_HTTP_HEADER_ORIGIN);
	const char *site = http_header(r, "Sec-Fetch-Site");
	static const char scheme[] = "http://";

	if (host_of(host) == HOST_NAME)
		http_say(answer, MHD_HTTP_FORBIDDEN,
			 "Host is a name: expected an address or localhost\n");
	else if (strncasecmp(origin, scheme, strlen(scheme)) != 0 ||
		 strcasecmp(origin + strlen(scheme), host) != 0 ||
		 (*site != '\0' && strcmp(site, "same-origin") != 0))
		http_say(answer, MHD_HTTP_FORBIDDEN,
			 "Origin is another page's: expected the page of this server\n");
	else if (!is_json(http_header(r, MHD_HTTP_HEADER_CONTENT_TYPE)))
		http_say(answer, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
			 "Content-Type: expected application/json\n");
	else
		return true;
	return false;
}

static void
say_too_large(struct http_answer *answer)
{
	http_say(answer, MHD_HTTP_CONTENT_TOO_LARGE,
		 "the request is too large: expected at most %u bytes\n", HTTP_BODY_BYTES);
}

/* A body in chunks has no length in advance. */
static bool
accept_length(const struct http_request *r, struct http_answer *answer)
{
	const char *length = http_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t bytes;

	if (*length == '\0' || decimal_parse(length, 0, HTTP_BODY_BYTES, &bytes))
		return true;
	say_too_large(answer);
	return false;
}

static bool
accept_route(struct http_server *s, const struct http_route *route, const struct http_request *r,
	     const char *method, struct http_answer *answer)
{
	bool post = route->accept != NULL;

	if (post ? strcmp(method, MHD_HTTP_METHOD_POST) == 0 : is_read(method))
		return !post || (accept_post(r, answer) && accept_length(r, answer) &&
				 route->accept(s->arg, r, answer));
	answer->allow = post ? "POST" : "GET, HEAD";
	http_say(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "%s: expected %s\n", route->path,
		 post ? "POST" : "GET or HEAD");
	return false;
}

/* Look at a request before its body. @return false: it is refused, whatever the body. */
static bool
accept_request(struct http_server *s, const struct http_request *r, const char *path,
	       const char *method, struct http_answer *answer)
{
	const char *host = MHD_lookup_connection_value(r->c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	const struct connection *at = connection_of(r->c);
	const struct http_route *route = route_of(s, path);

	if (at == NULL || at->refused) {
		atomic_fetch_add(&s->counts.refused_clients, 1);
		http_say(answer, MHD_HTTP_SERVICE_UNAVAILABLE,
			 "more than %u clients at a time: expected fewer\n", HTTP_CLIENTS);
		return false;
	}
	if (s->loopback && host != NULL && host_of(host) != HOST_LOOPBACK) {
		http_say(answer, MHD_HTTP_FORBIDDEN,
			 "Host is another machine's: expected localhost or 127.0.0.1\n");
		return false;
	}
	if (route != NULL)
		return accept_route(s, route, r, method, answer);
	if (!is_read(method)) {
		answer->allow = "GET, HEAD";
		http_say(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "expected GET or HEAD\n");
		return false;
	}
	return true;
}

/* Answer a request that was accepted, and of which the body is there. */
static void
make_answer(struct http_server *s, const struct http_request *r, const char *path,
	    struct http_answer *answer)
{
	const struct http_route *route = route_of(s, path);

	if (r->upload->too_large) {
		say_too_large(answer);
	} else if (route != NULL) {
		route->answer(s->arg, r, answer);
	} else if (strcmp(path, "/") == 0) {
		say_paths(s, answer, MHD_HTTP_OK, "quenchctl");
	} else {
		atomic_fetch_add(&s->counts.not_found, 1);
		say_paths(s, answer, MHD_HTTP_NOT_FOUND, "no such path: expected one of");
	}
}

/*
 * From now on the connection makes no room for another client's. The time that it was idle, or took
 * for its request, is not taken from that of the answer.
 * @return false: it has made room already.
 */
static bool
set_busy(struct http_server *s, struct MHD_Connection *c)
{
	struct connection *at = connection_of(c);
	bool busy;

	pthread_mutex_lock(&s->lock);
	busy = !at->ended;
	at->busy = busy;
	at->since = now_s();
	pthread_mutex_unlock(&s->lock);
	return busy;
}

/* Keep a part of a body, if the request may have one. */
static void
keep_upload(struct upload *u, const char *part, size_t bytes)
{
	if (u == &no_upload)
		return;
	if (bytes > sizeof(u->body) - u->bytes) {
		u->too_large = true;
		return;
	}
	memcpy(u->body + u->bytes, part, bytes);
	u->bytes += bytes;
}

static enum MHD_Result
send_answer(struct MHD_Connection *c, const struct http_answer *answer)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		answer->body != NULL ? answer->bytes : 0, answer->body, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result queued;

	if (r == NULL) {
		free(answer->body);
		return MHD_NO;
	}
	if (answer->content_type != NULL)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "Content-Security-Policy",
				"default-src 'self'; img-src data:; object-src 'none'; "
				"base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
	MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, answer->allow);
	if (answer->status == MHD_HTTP_SERVICE_UNAVAILABLE) {
		MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "1");
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	}
	queued = MHD_queue_response(c, answer->status, r);
	MHD_destroy_response(r);
	return queued;
}

/* The library calls this after the headers, then for each part of a body, then once more. */
static enum MHD_Result
on_request(void *arg, struct MHD_Connection *c, const char *path, const char *method,
	   const char *version, const char *part, size_t *part_bytes, void **request)
{
	struct http_server *s = arg;
	struct http_answer answer = {.status = MHD_HTTP_OK};
	struct upload *upload = *request;
	const struct http_request r = {c, upload != NULL ? upload : &no_upload};

	(void)version;
	if (upload == NULL) {
		*request = &no_upload;
		atomic_fetch_add(&s->counts.requests, 1);
		if (!accept_request(s, &r, path, method, &answer))
			return send_answer(c, &answer);
		if (strcmp(method, MHD_HTTP_METHOD_POST) == 0)
			*request = calloc(1, sizeof(*upload));
		return *request != NULL ? MHD_YES : MHD_NO;
	}
	if (*part_bytes > 0) {
		keep_upload(upload, part, *part_bytes);
		*part_bytes = 0;
		return MHD_YES;
	}
	if (!set_busy(s, c))
		return MHD_NO;
	make_answer(s, &r, path, &answer);
	return send_answer(c, &answer);
}

/* Split ADDRESS:PORT, [ADDRESS]:PORT or PORT. @return false: another form. */
static bool
split_address(const char *text, char address[64], char port[8])
{
	const char *colon = strrchr(text, ':');
	const char *digits = colon != NULL ? colon + 1 : text;
	size_t n = colon != NULL ? (size_t)(colon - text) : 0;
	uint64_t number;

	if (!decimal_parse(digits, 0, UINT16_MAX, &number) || n >= 64)
		return false;
	snprintf(port, 8, "%" PRIu64, number);
	if (colon == NULL)
		snprintf(address, 64, DEFAULT_ADDRESS);
	else if (n >= 2 && text[0] == '[' && text[n - 1] == ']')
		snprintf(address, 64, "%.*s", (int)n - 2, text + 1);
	else
		snprintf(address, 64, "%.*s", (int)n, text);
	return colon == NULL || n > 0;
}

static struct addrinfo *
resolve(const char *listen_at)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				       .ai_socktype = SOCK_STREAM};
	char address[64], port[8];
	struct addrinfo *found = NULL;

	if (split_address(listen_at, address, port) &&
	    getaddrinfo(address, port, &hints, &found) == 0)
		return found;
	say_error("--listen = %s: expected ADDRESS:PORT, such as 127.0.0.1:9880", listen_at);
	errno = EINVAL;
	return NULL;
}

static bool
is_loopback(const struct sockaddr *a)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)a;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)a;

	if (a->sa_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

/* @return a listening socket, or -1 with errno. */
static int
listen_at_address(const struct addrinfo *at)
{
	int one = 1, fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, 128) == 0)
		return fd;
	one = errno;
	close(fd);
	errno = one;
	return -1;
}

static void
set_url(struct http_server *s, int fd)
{
	struct sockaddr_storage a = {0};
	socklen_t n = sizeof(a);
	char address[64] = "", port[8] = "";

	getsockname(fd, (struct sockaddr *)&a, &n);
	getnameinfo((const struct sockaddr *)&a, n, address, sizeof(address), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(s->url, sizeof(s->url),
		 a.ss_family == AF_INET6 ? "http://[%s]:%s" : "http://%s:%s", address, port);
}

static bool
start(struct http_server *s, const char *listen_at)
{
	struct addrinfo *at = resolve(listen_at);
	int fd;

	if (at == NULL)
		return false;
	fd = listen_at_address(at);
	s->loopback = is_loopback(at->ai_addr);
	freeaddrinfo(at);
	if (fd < 0) {
		say_error("--listen = %s: %s", listen_at, strerror(errno));
		return false;
	}
	set_url(s, fd);
	s->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0,
		NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, MOST_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)REQUEST_BYTES, MHD_OPTION_THREAD_STACK_SIZE, (size_t)1 << 20,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, s, MHD_OPTION_END);
	if (s->daemon != NULL)
		return true;
	say_error("--listen = %s: the server does not start", listen_at);
	close(fd);
	return false;
}

struct http_server *
http_open(const char *listen_at, const struct http_route *routes, unsigned int n_routes, void *arg)
{
	struct http_server *s = calloc(1, sizeof(*s));
	int error;

	if (s == NULL) {
		say_error("%s", strerror(ENOMEM));
		return NULL;
	}
	/* A client that has gone must not end the server. */
	signal(SIGPIPE, SIG_IGN);
	s->routes = routes;
	s->n_routes = n_routes;
	s->arg = arg;
	pthread_mutex_init(&s->lock, NULL);
	for (unsigned int i = 0; i < MOST_CONNECTIONS; i++)
		s->connections[i].fd = -1;
	errno = 0;
	if (start(s, listen_at))
		return s;
	error = errno;
	free(s);
	errno = error;
	return NULL;
}

const char *
http_url(const struct http_server *s)
{
	return s->url;
}

const struct http_counts *
http_counts(const struct http_server *s)
{
	return &s->counts;
}

void
http_run(struct http_server *s, const atomic_bool *stop)
{
	const struct timespec tick = {.tv_nsec = TICK_NS};

	while (!atomic_load(stop)) {
		nanosleep(&tick, NULL);
		end_slow_ones(s);
	}
}

void
http_close(struct http_server *s)
{
	/* Do not wait for clients to read their answers. */
	pthread_mutex_lock(&s->lock);
	for (unsigned int i = 0; i < MOST_CONNECTIONS; i++)
		if (s->connections[i].fd >= 0)
			shutdown(s->connections[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&s->lock);
	MHD_stop_daemon(s->daemon);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
