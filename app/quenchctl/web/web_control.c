/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/web/web_control.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"
#include "quenchctl/socket/change.h"
#include "quenchctl/web/web_settings.h"

#define TOKEN_HEADER "X-Quench-Token"
#define RANDOM_BYTES 16u
#define LEAST_TOKEN_CHARS 16u
#define TOKEN_CHARS 128u
#define VALUE_CHARS 64u
/* Longest time of a request: a program replies after 2 s at most (active_config.h). */
#define REQUEST_NS 10000000000ull
/* Longest wait for the requests before it. With the above it is less than HTTP_PATIENCE_S. */
#define WAIT_S 5

/* A request that a program is busy with. */
struct turn {
	const char *path; /* the program's socket */
	struct turn *next;
};

struct web_control {
	struct web_programs *programs;
	/* One request of each program at a time: it has room for ten clients. */
	pthread_mutex_t lock;
	pthread_cond_t given_back;
	struct turn *turns;
	bool random;
	char token[TOKEN_CHARS + 1];
};

/* A request. Texts belong to the object that they were read from. */
struct asked {
	const char *program, *what, *flow, *cap;
	json_int_t port, queue; /* -1: none */
	int only;
	struct web_curve curve;
};

static int
make_token(struct web_control *w)
{
	unsigned char bytes[RANDOM_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
		say_error("getrandom: expected %u random bytes from the kernel: %s", RANDOM_BYTES,
			  strerror(errno));
		return APP_FAILED;
	}
	for (unsigned int i = 0; i < RANDOM_BYTES; i++)
		snprintf(w->token + 2 * i, 3, "%02x", bytes[i]);
	w->random = true;
	return 0;
}

/* The first line of an open file. @return its length, without the newline. */
static size_t
read_line(int fd, char *text, size_t size)
{
	ssize_t n = read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	return strlen(text);
}

static int
read_token(struct web_control *w, const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc = APP_BAD_USAGE;
	char text[TOKEN_CHARS + 3];
	struct stat status;
	size_t n;

	if (fd < 0 || fstat(fd, &status) != 0) {
		say_error("%s: %s", file, strerror(errno));
		if (fd >= 0)
			close(fd);
		return APP_BAD_USAGE;
	}
	n = read_line(fd, text, sizeof(text));
	if (!S_ISREG(status.st_mode) || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		say_error("%s: expected a file that only its owner can read (chmod 600)", file);
	else if (n < LEAST_TOKEN_CHARS || n > TOKEN_CHARS ||
		 strspn(text,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~") != n)
		say_error("%s:1: expected a token of %u to %u letters, digits and -._~", file,
			  LEAST_TOKEN_CHARS, TOKEN_CHARS);
	else
		rc = 0;
	close(fd);
	snprintf(w->token, sizeof(w->token), "%.*s", (int)TOKEN_CHARS, text);
	return rc;
}

int
web_control_open(const char *file, struct web_programs *programs, struct web_control **opened)
{
	struct web_control *w = calloc(1, sizeof(*w));
	pthread_condattr_t attributes;
	int rc;

	*opened = NULL;
	if (w == NULL) {
		say_error("%s", strerror(ENOMEM));
		return APP_FAILED;
	}
	w->programs = programs;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&w->given_back, &attributes);
	pthread_condattr_destroy(&attributes);
	rc = file != NULL ? read_token(w, file) : make_token(w);
	if (rc == 0)
		*opened = w;
	else
		web_control_close(w);
	return rc;
}

void
web_control_close(struct web_control *w)
{
	if (w == NULL)
		return;
	pthread_cond_destroy(&w->given_back);
	pthread_mutex_destroy(&w->lock);
	explicit_bzero(w->token, sizeof(w->token));
	free(w);
}

const char *
web_control_token(const struct web_control *w)
{
	return w->random ? w->token : NULL;
}

/* The time that this takes depends on the length of what is given, and on nothing else. */
static bool
is_token(const struct web_control *w, const char *given)
{
	char padded[TOKEN_CHARS + 1] = "";
	unsigned int different = 0;

	snprintf(padded, sizeof(padded), "%s", given);
	for (unsigned int i = 0; i < TOKEN_CHARS; i++)
		different |= (unsigned char)padded[i] ^ (unsigned char)w->token[i];
	return different == 0 && strlen(given) <= TOKEN_CHARS;
}

/* A newline would begin another key. */
static bool
is_value(const char *text)
{
	if (text == NULL)
		return true;
	if (*text == '\0' || strlen(text) > VALUE_CHARS)
		return false;
	for (; *text != '\0'; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

/* Has it a member that no request has? */
static bool
has_unknown_member(json_t *o)
{
	static const char *const known[] = {"program", "do",   "port", "queue", "only",
					    "Kmin",    "Kmax", "Pmax", "flow",  "cap"};
	const char *key;
	json_t *value;

	json_object_foreach (o, key, value) {
		unsigned int i = 0;

		while (i < ARRAY_LEN(known) && strcmp(known[i], key) != 0)
			i++;
		if (i == ARRAY_LEN(known))
			return true;
	}
	return false;
}

/* Is there everything that this request needs, and nothing that it does not? */
static const char *
fault_of(const struct asked *a)
{
	bool curve = strcmp(a->what, "curve") == 0, cap = strcmp(a->what, "cap") == 0;
	bool flow = cap || strcmp(a->what, "start") == 0 || strcmp(a->what, "stop") == 0 ||
		    strcmp(a->what, "reset") == 0;
	bool any = a->curve.kmin != NULL || a->curve.kmax != NULL || a->curve.pmax != NULL;

	if (!curve && !flow && strcmp(a->what, "show") != 0)
		return "do: expected show, curve, cap, start, stop or reset";
	if (curve ? a->port < 0 || a->queue < 0 || a->only < 0 || !any
		  : a->port >= 0 || a->queue >= 0 || a->only >= 0 || any)
		return curve ? "curve: expected port, queue, only, and Kmin, Kmax or Pmax"
			     : "port, queue, only, Kmin, Kmax, Pmax: expected do = curve";
	if (flow != (a->flow != NULL) || cap != (a->cap != NULL))
		return flow ? "expected flow, and cap only with do = cap"
			    : "flow, cap: expected do = cap, start, stop or reset";
	if (!is_value(a->flow) || !is_value(a->cap) || !is_value(a->curve.kmin) ||
	    !is_value(a->curve.kmax) || !is_value(a->curve.pmax))
		return "expected values of 1 to 64 characters, none of them a control character";
	return NULL;
}

/* @return the object that a refers to, or NULL after an answer. */
static json_t *
read_request(const struct http_request *r, struct asked *a, struct http_answer *answer)
{
	size_t bytes;
	const char *body = http_body(r, &bytes), *fault = NULL;
	json_t *o = json_loadb(body, bytes, JSON_REJECT_DUPLICATES, NULL);

	*a = (struct asked){.port = -1, .queue = -1, .only = -1};
	if (!json_is_object(o))
		fault = "expected a JSON object";
	else if (has_unknown_member(o))
		fault = "expected no members but program, do, port, queue, only, Kmin, Kmax, Pmax, "
			"flow and cap";
	else if (json_unpack(o, "{s:s,s:s,s?I,s?I,s?b,s?s,s?s,s?s,s?s,s?s}", "program", &a->program,
			     "do", &a->what, "port", &a->port, "queue", &a->queue, "only", &a->only,
			     "Kmin", &a->curve.kmin, "Kmax", &a->curve.kmax, "Pmax", &a->curve.pmax,
			     "flow", &a->flow, "cap", &a->cap) != 0)
		fault = "expected program and do, port and queue as whole numbers, only as a "
			"boolean, and all else as text";
	else
		fault = fault_of(a);
	if (fault == NULL)
		return o;
	http_say(answer, 400, "%s\n", fault);
	json_decref(o);
	return NULL;
}

/* @return 0, or an exit code with the error in the client. */
static int
act(struct client *c, const struct asked *a, json_t **done)
{
	char request[VALUE_CHARS + 32];

	*done = NULL;
	if (strcmp(a->what, "show") == 0)
		return 0;
	if (strcmp(a->what, "curve") == 0)
		return web_settings_curve(c, a->port, a->queue, a->only, &a->curve, done);
	if (strcmp(a->what, "cap") == 0)
		return change_flow(c, a->flow, "rate_cap_bps", a->cap, done);
	if (strcmp(a->what, "reset") == 0) {
		snprintf(request, sizeof(request), "/quench/reset,%s", a->flow);
		return change_ask(c, request, done);
	}
	return change_flow(c, a->flow, "stopped", strcmp(a->what, "stop") == 0 ? "on" : "off",
			   done);
}

/* An error of the program, as one line. */
static void
say_refused(struct http_answer *answer, struct client *c, int rc)
{
	for (char *at = c->error; *at != '\0'; at++)
		if (iscntrl((unsigned char)*at))
			*at = ' ';
	http_say(answer, rc == APP_BAD_USAGE ? 422 : c->silent ? 504 : 502, "%s\n", c->error);
}

static void
answer_object(struct http_answer *answer, json_t *o)
{
	answer->content_type = "application/json";
	answer->body = json_dumps(o, JSON_COMPACT);
	answer->bytes = answer->body != NULL ? strlen(answer->body) : 0;
	if (answer->body == NULL)
		http_say(answer, 500, "%s\n", strerror(ENOMEM));
}

static void
run_request(const struct asked *a, const char *path, struct http_answer *answer)
{
	const struct client_limits limits = {.deadline_ns = monotonic_ns() + REQUEST_NS,
					     .most_bytes = 16u << 20,
					     .most_rows = 65536,
					     .cancel_fd = -1};
	struct client c = {.fd = -1, .quiet = true, .limits = &limits};
	json_t *done = NULL, *settings = NULL, *o;
	int rc = client_open(&c, path, NULL);

	if (rc == 0)
		rc = act(&c, a, &done);
	if (rc == 0)
		rc = web_settings(&c, &settings);
	if (rc == 0) {
		o = json_pack("{s:O?,s:O}", "done", done, "settings", settings);
		answer_object(answer, o);
		json_decref(o);
	} else {
		say_refused(answer, &c, rc);
	}
	json_decref(done);
	json_decref(settings);
	client_close(&c);
}

static bool
is_taken(const struct web_control *w, const char *path)
{
	const struct turn *turn = w->turns;

	while (turn != NULL && strcmp(turn->path, path) != 0)
		turn = turn->next;
	return turn != NULL;
}

/* @return false: the program has been busy with other requests all the time. */
static bool
take_turn(struct web_control *w, struct turn *turn)
{
	struct timespec end;
	bool taken;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += WAIT_S;
	pthread_mutex_lock(&w->lock);
	while (is_taken(w, turn->path) &&
	       pthread_cond_timedwait(&w->given_back, &w->lock, &end) == 0)
		;
	taken = !is_taken(w, turn->path);
	if (taken) {
		turn->next = w->turns;
		w->turns = turn;
	}
	pthread_mutex_unlock(&w->lock);
	return taken;
}

static void
give_turn_back(struct web_control *w, const struct turn *turn)
{
	struct turn **at = &w->turns;

	pthread_mutex_lock(&w->lock);
	while (*at != turn)
		at = &(*at)->next;
	*at = turn->next;
	pthread_cond_broadcast(&w->given_back);
	pthread_mutex_unlock(&w->lock);
}

/* Who has gone while it waited does not learn of a change, and may have asked again. */
static void
run_in_turn(struct web_control *w, const struct asked *a, const char *path,
	    const struct http_request *r, struct http_answer *answer)
{
	struct turn turn = {.path = path};

	if (!take_turn(w, &turn)) {
		http_say(answer, 503, "%s is busy with other changes: nothing is changed\n",
			 a->program);
		return;
	}
	if (http_client_gone(r))
		http_say(answer, 503, "the client has gone: nothing is changed\n");
	else
		run_request(a, path, answer);
	give_turn_back(w, &turn);
}

bool
web_control_accept(const struct web_control *w, const struct http_request *r,
		   struct http_answer *answer)
{
	if (is_token(w, http_header(r, TOKEN_HEADER)))
		return true;
	http_say(answer, 401, "%s is missing or wrong: open the URL that quenchctl printed\n",
		 TOKEN_HEADER);
	return false;
}

void
web_control_answer(struct web_control *w, const struct http_request *r, struct http_answer *answer)
{
	char path[sizeof(((struct client *)0)->path)];
	struct asked a;
	json_t *o = read_request(r, &a, answer);

	if (o == NULL)
		return;
	if (web_programs_socket(w->programs, a.program, path, sizeof(path)))
		run_in_turn(w, &a, path, r, answer);
	else
		http_say(answer, 404, "program: expected the name of a program on the page\n");
	json_decref(o);
}
