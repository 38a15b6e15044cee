/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/web/web_programs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"
#include "quenchctl/socket/client.h"
#include "quenchctl/socket/sockets.h"
#include "quenchctl/top/snapshot.h"
#include "quenchctl/web/web_events.h"
#include "quenchctl/web/web_history.h"
#include "quenchctl/web/web_picture.h"

#define EVERY_NS (WEB_EVERY_MS * 1000000ull)
#define LOOK_NS 2000000000ull    /* between searches for new programs */
#define ASK_WHO_NS 1000000000ull /* patience with a program that may not be ours */

enum state {
	LIVE,
	SILENT, /* it is connected, but does not answer */
	ENDED,
};

struct program {
	struct web_programs *all;
	pthread_t thread;
	char path[sizeof(((struct client *)0)->path)]; /* empty: a free place */
	uint64_t turn; /* raised when the place gets another program */
	/* Under the lock. */
	char name[128], program[32];
	uint64_t pid, elapsed_ns;
	enum state state;
	int64_t since_ms;
	json_t *picture; /* NULL: none yet */
	json_t *events;
	struct web_history history;
};

/* What the thread of a place has for itself. */
struct reader {
	struct client c;
	char path[sizeof(((struct client *)0)->path)];
	uint64_t turn;
	struct snapshot last;
};

struct web_programs {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* stop is set */
	bool stop;
	uint64_t number; /* of the last point of any history */
	unsigned int left_out;
	const char *path, *prefix;
	pthread_t finder;
	unsigned int n; /* places with a thread */
	struct program programs[WEB_PROGRAMS];
};

static int64_t
unix_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Wait, with the lock held. @return false: stop. */
static bool
wait_until(struct web_programs *all, uint64_t at_ns)
{
	const struct timespec t = {.tv_sec = (time_t)(at_ns / 1000000000u),
				   .tv_nsec = (long)(at_ns % 1000000000u)};

	while (!all->stop && monotonic_ns() < at_ns)
		pthread_cond_timedwait(&all->changed, &all->lock, &t);
	return !all->stop;
}

static void
set_state(struct program *p, enum state state, int64_t at_ms)
{
	if (p->state == state)
		return;
	p->state = state;
	p->since_ms = at_ms;
	/* A chart has no line over the time without answers. */
	web_history_add(&p->history, ++p->all->number, at_ms, NULL);
}

/* With the lock held, after an attempt to connect. */
static void
on_connected(struct program *p, struct reader *r, int64_t at_ms)
{
	if (r->c.pid != p->pid) {
		snapshot_free(&r->last);
		web_event(p->events, at_ms, false, "%s runs, pid %llu", r->c.program,
			  (unsigned long long)r->c.pid);
	}
	if (strcmp(p->program, r->c.program) != 0)
		web_history_clear(&p->history);
	p->pid = r->c.pid;
	snprintf(p->program, sizeof(p->program), "%s", r->c.program);
}

static void
on_lost(struct program *p, const struct client *c, int64_t at_ms)
{
	enum state state = c->silent ? SILENT : ENDED;

	if (p->state != state && p->pid != 0)
		web_event(p->events, at_ms, true,
			  state == SILENT ? "%s does not answer" : "%s has ended", p->program);
	set_state(p, state, at_ms);
}

static void
on_snapshot(struct program *p, struct reader *r, struct snapshot *now, int64_t at_ms)
{
	json_t *picture = web_picture(p->program, now, &r->last);

	set_state(p, LIVE, at_ms);
	if (r->last.replies != NULL) {
		web_events_between(p->events, at_ms, now, &r->last);
		web_history_add(&p->history, ++p->all->number, at_ms,
				json_object_get(picture, "charts"));
	}
	json_object_del(picture, "charts");
	json_decref(p->picture);
	p->picture = picture;
	p->elapsed_ns = now->elapsed_ns;
	snapshot_free(&r->last);
	r->last = *now;
}

/* Read the program once. The lock is held, but not while the program answers. */
static void
read_once(struct program *p, struct reader *r)
{
	struct web_programs *all = p->all;
	bool connected = r->c.fd >= 0;
	struct snapshot now = {0};
	bool read = false;
	int64_t at_ms;

	pthread_mutex_unlock(&all->lock);
	if (!connected) {
		client_close(&r->c);
		r->c.quiet = true;
		connected = client_open(&r->c, r->path, NULL) == 0;
		if (!connected)
			client_close(&r->c);
	}
	if (connected)
		read = snapshot_take(&r->c, &now) == 0;
	pthread_mutex_lock(&all->lock);
	at_ms = unix_ms();
	if (p->turn != r->turn) {
		snapshot_free(&now);
		return;
	}
	if (connected && r->c.pid != p->pid)
		on_connected(p, r, at_ms);
	if (read)
		on_snapshot(p, r, &now, at_ms);
	else
		on_lost(p, &r->c, at_ms);
}

/* Begin with the program that the place has now. */
static void
take_place(struct program *p, struct reader *r)
{
	client_close(&r->c);
	r->c.fd = -1;
	snapshot_free(&r->last);
	r->turn = p->turn;
	snprintf(r->path, sizeof(r->path), "%s", p->path);
}

static void *
run_program(void *arg)
{
	struct program *p = arg;
	struct web_programs *all = p->all;
	struct reader r = {.c = {.fd = -1}};

	pthread_mutex_lock(&all->lock);
	do {
		if (r.turn != p->turn)
			take_place(p, &r);
		read_once(p, &r);
		/* At multiples, so that the points of all programs are at about the same times. */
	} while (wait_until(all, (monotonic_ns() / EVERY_NS + 1) * EVERY_NS));
	pthread_mutex_unlock(&all->lock);
	client_close(&r.c);
	snapshot_free(&r.last);
	return NULL;
}

/* @return the place of a program, or NULL. */
static struct program *
place_of(struct web_programs *all, const char *path)
{
	for (unsigned int i = 0; i < all->n; i++)
		if (strcmp(all->programs[i].path, path) == 0)
			return &all->programs[i];
	return NULL;
}

static struct program *
ended_longest_ago(struct web_programs *all)
{
	struct program *found = NULL;

	for (unsigned int i = 0; i < all->n; i++) {
		struct program *p = &all->programs[i];

		if (p->state == ENDED && (found == NULL || p->since_ms < found->since_ms))
			found = p;
	}
	return found;
}

/* Give a program a place, with the lock held. @return false: there is none. */
static bool
add(struct web_programs *all, const struct client *c)
{
	bool is_new = all->n < WEB_PROGRAMS;
	struct program *p = is_new ? &all->programs[all->n] : ended_longest_ago(all);

	if (p == NULL)
		return false;
	json_decref(p->picture);
	json_decref(p->events);
	web_history_clear(&p->history);
	*p = (struct program){.all = all,
			      .thread = p->thread,
			      .turn = p->turn + 1,
			      .state = ENDED,
			      .since_ms = unix_ms(),
			      .events = json_array()};
	snprintf(p->path, sizeof(p->path), "%s", c->path);
	snprintf(p->program, sizeof(p->program), "%s", c->program);
	socket_name(c->path, p->name, sizeof(p->name));
	if (!is_new)
		return true;
	if (p->events == NULL || pthread_create(&p->thread, NULL, run_program, p) != 0) {
		json_decref(p->events);
		return false;
	}
	all->n++;
	return true;
}

/* Add the program of a socket, if it is one of ours, and new. @return false: it has no place. */
static bool
look_at(struct web_programs *all, const char *path)
{
	const struct client_limits limits = {.deadline_ns = monotonic_ns() + ASK_WHO_NS,
					     .most_bytes = 1 << 20,
					     .most_rows = 1,
					     .cancel_fd = -1};
	struct client c = {.fd = -1, .quiet = true, .limits = &limits};
	bool added = true;

	pthread_mutex_lock(&all->lock);
	if (place_of(all, path) != NULL) {
		pthread_mutex_unlock(&all->lock);
		return true;
	}
	pthread_mutex_unlock(&all->lock);
	if (client_open(&c, path, NULL) == 0) {
		pthread_mutex_lock(&all->lock);
		added = add(all, &c);
		pthread_mutex_unlock(&all->lock);
	}
	client_close(&c);
	return added;
}

static void
look(struct web_programs *all)
{
	struct sockets found;
	unsigned int left_out = 0;

	sockets_find(NULL, &found);
	for (size_t i = 0; i < found.n; i++)
		left_out += !look_at(all, found.path[i]);
	sockets_free(&found);
	pthread_mutex_lock(&all->lock);
	all->left_out = left_out;
	pthread_mutex_unlock(&all->lock);
}

static void *
run_finder(void *arg)
{
	struct web_programs *all = arg;
	bool go_on = true;

	while (go_on) {
		look(all);
		pthread_mutex_lock(&all->lock);
		go_on = wait_until(all, monotonic_ns() + LOOK_NS);
		pthread_mutex_unlock(&all->lock);
	}
	return NULL;
}

static int
say_cannot_start(void)
{
	say_error("the threads that read programs do not start");
	return APP_FAILED;
}

/* @return 0, or an exit code after an error line. */
static int
start(struct web_programs *all)
{
	struct client c = {.fd = -1};
	bool added = true;
	int rc;

	if (all->path == NULL && all->prefix == NULL)
		return pthread_create(&all->finder, NULL, run_finder, all) == 0
			       ? 0
			       : say_cannot_start();
	/* Say at once what is wrong with a program that the user has named. */
	rc = client_open(&c, all->path, all->prefix);
	if (rc == 0) {
		pthread_mutex_lock(&all->lock);
		added = add(all, &c);
		pthread_mutex_unlock(&all->lock);
	}
	client_close(&c);
	return added ? rc : say_cannot_start();
}

static void
release(struct web_programs *all)
{
	for (unsigned int i = 0; i < all->n; i++) {
		json_decref(all->programs[i].picture);
		json_decref(all->programs[i].events);
		web_history_clear(&all->programs[i].history);
	}
	pthread_cond_destroy(&all->changed);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

int
web_programs_open(const char *path, const char *prefix, struct web_programs **opened)
{
	struct web_programs *all = calloc(1, sizeof(*all));
	pthread_condattr_t monotonic;
	int rc;

	*opened = NULL;
	if (all == NULL) {
		say_error("%s", strerror(ENOMEM));
		return APP_FAILED;
	}
	all->path = path;
	all->prefix = prefix;
	pthread_mutex_init(&all->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&all->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	rc = start(all);
	if (rc == 0)
		*opened = all;
	else
		release(all);
	return rc;
}

void
web_programs_close(struct web_programs *all)
{
	pthread_mutex_lock(&all->lock);
	all->stop = true;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
	/* The finder adds programs, so it ends first. */
	if (all->path == NULL && all->prefix == NULL)
		pthread_join(all->finder, NULL);
	for (unsigned int i = 0; i < all->n; i++)
		pthread_join(all->programs[i].thread, NULL);
	release(all);
}

static json_t *
describe(const struct program *p, uint64_t since)
{
	static const char *const states[] = {
		[LIVE] = "live", [SILENT] = "silent", [ENDED] = "ended"};

	/* A picture does not change once it is there, but events do: they are copied. */
	return json_pack("{s:s,s:s,s:I,s:s,s:I,s:I,s:O?,s:o,s:o}", "name", p->name, "program",
			 p->program, "pid", (json_int_t)p->pid, "state", states[p->state],
			 "since_ms", (json_int_t)p->since_ms, "elapsed_ns",
			 (json_int_t)p->elapsed_ns, "picture", p->picture, "history",
			 web_history_since(&p->history, since), "events",
			 json_deep_copy(p->events));
}

json_t *
web_programs_since(struct web_programs *all, uint64_t since)
{
	json_t *programs = json_array(), *o;

	pthread_mutex_lock(&all->lock);
	for (unsigned int i = 0; i < all->n; i++) {
		/* Not yet read for the first time: nothing to show. */
		if (all->programs[i].pid != 0)
			json_array_append_new(programs, describe(&all->programs[i], since));
	}
	o = json_pack("{s:I,s:I,s:i,s:o}", "number", (json_int_t)all->number, "at_ms",
		      (json_int_t)unix_ms(), "left_out", (int)all->left_out, "programs", programs);
	pthread_mutex_unlock(&all->lock);
	return o;
}

bool
web_programs_socket(struct web_programs *all, const char *name, char *path, size_t size)
{
	bool found = false;

	pthread_mutex_lock(&all->lock);
	for (unsigned int i = 0; i < all->n && !found; i++) {
		found = all->programs[i].pid != 0 && strcmp(all->programs[i].name, name) == 0;
		if (found)
			snprintf(path, size, "%s", all->programs[i].path);
	}
	pthread_mutex_unlock(&all->lock);
	return found;
}
