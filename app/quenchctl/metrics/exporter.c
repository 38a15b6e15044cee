/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/metrics/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"
#include "quenchctl/socket/sockets.h"
#include "quenchctl/socket/utf8.h"

#define MOST_PROGRAMS 16
#ifndef EXPORTER_LEAST_AGE_NS
#define EXPORTER_LEAST_AGE_NS 250000000ull
#endif
/* The pause between two readings is this multiple of the duration of the last one. */
#define REST 9u
/* Interval for a program that does not answer; requests do not wait for it. */
#ifndef EXPORTER_RETRY_NS
#define EXPORTER_RETRY_NS 2000000000ull
#endif
/* Interval between searches for programs. Each search makes every program start a thread. */
#define LOOK_NS 2000000000ull
/* Below Prometheus' default of 10 s for a scrape. */
#ifndef EXPORTER_WAIT_NS
#define EXPORTER_WAIT_NS 2000000000ull
#endif
/* Limits of a reading: a NIC with a million QPs takes seconds, and its text is at most 2 MB. */
#ifndef EXPORTER_READING_NS
#define EXPORTER_READING_NS 20000000000ull
#endif
#define READING_BYTES (16u << 20)
#define READING_ROWS 8192u

/*
 * A program, running or ended, and the thread that reads it; a program that hangs blocks only its
 * own thread. The thread owns the first members, and the exporter's lock protects the rest.
 */
struct source {
	struct exporter *exporter;
	struct client client;
	struct meanings meanings;
	bool open;

	pthread_t thread;
	char path[sizeof(((struct client *)0)->path)]; /* "": as named by the user */
	char name[128];                                /* label prefix */
	char program[32];
	bool wanted;                /* a reading is requested */
	bool reading;               /* a reading is in progress */
	bool known;                 /* a first reading succeeded or failed */
	bool up;                    /* the last reading succeeded */
	bool silent;                /* the last reading failed: no answer */
	bool foreign;               /* a DPDK program, but not one of ours */
	uint64_t next_ns;           /* earliest time of the next reading */
	uint64_t begun_ns, took_ns; /* of the last successful reading */
	unsigned long long readings, failures;
	struct metrics *last; /* of the last reading; NULL: it failed */
};

/* The last text, to return it again while it is recent. */
struct made {
	struct text text;
	uint64_t at_ns;
	unsigned long long changes; /* the exporter's at that time */
};

struct exporter {
	const char *path, *prefix;
	struct metrics_bounds bounds;
	bool serves; /* true: texts are requested repeatedly; false: one text */
	const struct http_server *server;
	int cancel[2]; /* a pipe: closing its write end cancels all readings */
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	bool ending;
	struct source sources[MOST_PROGRAMS];
	unsigned int n_sources;
	bool said_full;
	uint64_t look_ns;
	unsigned long long repeated, changes; /* changes: ends of readings */
	struct made made[METRICS_FORMATS];
};

static void *read_when_asked(void *arg);

/* Add a source and start its thread. @return NULL after a warning. */
static struct source *
add_source(struct exporter *e, const char *path, const char *name)
{
	struct source *s = &e->sources[e->n_sources];
	int error;

	*s = (struct source){.exporter = e, .client = {.fd = -1}};
	snprintf(s->path, sizeof(s->path), "%s", path);
	snprintf(s->name, sizeof(s->name), "%s", name);
	error = pthread_create(&s->thread, NULL, read_when_asked, s);
	if (error != 0) {
		say_warning("%s: a thread: %s", name, strerror(error));
		return NULL;
	}
	e->n_sources++;
	return s;
}

static bool
start(struct exporter *e)
{
	pthread_condattr_t monotonic;
	char name[128];

	if (pipe2(e->cancel, O_CLOEXEC) != 0)
		return false;
	pthread_mutex_init(&e->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&e->work, NULL);
	pthread_cond_init(&e->done, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (e->path == NULL && e->prefix == NULL)
		return true;
	if (e->path != NULL)
		socket_name(e->path, name, sizeof(name));
	return add_source(e, "", e->path != NULL ? name : e->prefix) != NULL;
}

struct exporter *
exporter_new(const char *path, const char *prefix, const struct metrics_bounds *bounds, bool serves)
{
	struct exporter *e = calloc(1, sizeof(*e));

	if (e == NULL) {
		say_error("%s", strerror(ENOMEM));
		return NULL;
	}
	*e = (struct exporter){.path = path, .prefix = prefix, .bounds = *bounds, .serves = serves};
	if (start(e))
		return e;
	say_error("the metrics cannot be read: %s", strerror(errno));
	free(e);
	return NULL;
}

static void
end_source(struct source *s)
{
	if (s->open)
		meanings_free(&s->meanings);
	s->open = false;
	client_close(&s->client);
}

void
exporter_free(struct exporter *e)
{
	pthread_mutex_lock(&e->lock);
	e->ending = true;
	pthread_cond_broadcast(&e->work);
	pthread_mutex_unlock(&e->lock);
	close(e->cancel[1]);
	for (unsigned int i = 0; i < e->n_sources; i++) {
		pthread_join(e->sources[i].thread, NULL);
		end_source(&e->sources[i]);
		metrics_free(e->sources[i].last);
	}
	close(e->cancel[0]);
	for (unsigned int f = 0; f < METRICS_FORMATS; f++)
		text_free(&e->made[f].text);
	pthread_cond_destroy(&e->work);
	pthread_cond_destroy(&e->done);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

void
exporter_add_server(struct exporter *e, const struct http_server *server)
{
	pthread_mutex_lock(&e->lock);
	e->server = server;
	pthread_mutex_unlock(&e->lock);
}

static bool
is_known(const struct exporter *e, const char *path)
{
	for (unsigned int i = 0; i < e->n_sources; i++)
		if (strcmp(e->sources[i].path, path) == 0)
			return true;
	return false;
}

/*
 * Choose the value of the label `prefix`. It must be unique, although two folders may contain
 * programs of the same name.
 */
static void
name_of(const struct exporter *e, const char *path, char name[128])
{
	socket_name(path, name, 128);
	utf8_clean(name);
	for (unsigned int i = 0; i < e->n_sources; i++)
		if (strcmp(e->sources[i].name, name) == 0)
			snprintf(name, 128, "%s", path);
}

/*
 * Replace a program that has ended by a new one. The thread of the old program then reads the new
 * one.
 */
static void
replace_ended(struct exporter *e, const char *path)
{
	for (unsigned int i = 0; i < e->n_sources; i++) {
		struct source *s = &e->sources[i];

		if (s->up || s->silent || s->wanted || s->reading)
			continue;
		*s->name = '\0';
		name_of(e, path, s->name);
		snprintf(s->path, sizeof(s->path), "%s", path);
		*s->program = '\0';
		s->known = s->foreign = false;
		s->readings = s->failures = s->next_ns = 0;
		return;
	}
	if (!e->said_full)
		say_warning("more than %u programs run: the others are left out", MOST_PROGRAMS);
	e->said_full = true;
}

/* Look for new programs. */
static void
look(struct exporter *e, uint64_t now)
{
	struct sockets found;
	char name[128];

	if (e->path != NULL || e->prefix != NULL || now < e->look_ns)
		return;
	e->look_ns = now + LOOK_NS;
	sockets_find(NULL, &found);
	for (size_t i = 0; i < found.n; i++) {
		const char *path = found.path[i];

		if (is_known(e, path))
			continue;
		if (e->n_sources == MOST_PROGRAMS) {
			replace_ended(e, path);
			continue;
		}
		name_of(e, path, name);
		add_source(e, path, name);
	}
	sockets_free(&found);
}

/* @return 0, or an exit code: APP_BAD_USAGE for a program that answers, but is not one of ours. */
static int
open_source(const struct exporter *e, struct source *s)
{
	bool by_path = *s->path != '\0';
	int rc = client_open(&s->client, by_path ? s->path : e->path, by_path ? NULL : e->prefix);

	if (rc == 0)
		rc = meanings_read(&s->client, &s->meanings);
	s->open = rc == 0;
	if (s->open && e->serves)
		say("%s: %s, pid %llu", s->name, s->client.program,
		    (unsigned long long)s->client.pid);
	return rc;
}

/* @return 0, or an exit code. */
static int
read_source(const struct exporter *e, struct source *s, struct metrics *m)
{
	const struct client_limits limits = {.deadline_ns = monotonic_ns() + EXPORTER_READING_NS,
					     .most_bytes = READING_BYTES,
					     .most_rows = READING_ROWS,
					     .cancel_fd = e->cancel[0]};
	struct text labels = {0};
	int rc = 0;

	s->client.quiet = true;
	s->client.limits = &limits;
	s->client.received_bytes = 0;
	if (!s->open)
		rc = open_source(e, s);
	if (rc == 0) {
		text_add_label(&labels, "program", s->client.program);
		text_add_label(&labels, "prefix", s->name);
		rc = labels.failed
			     ? APP_FAILED
			     : metrics_collect(m, &s->client, &s->meanings, labels.at, &e->bounds);
	}
	text_free(&labels);
	s->client.limits = NULL;
	return rc;
}

/* Called with the lock held. m: the reading, or NULL. */
static void
keep_reading(struct exporter *e, struct source *s, int rc, struct metrics *m, uint64_t begun_ns)
{
	uint64_t now = monotonic_ns();
	bool was_open = s->open;

	metrics_free(s->last);
	s->last = rc == 0 ? m : NULL;
	s->up = rc == 0;
	s->silent = rc != 0 && s->client.silent;
	s->foreign = *s->path != '\0' && rc == APP_BAD_USAGE && !was_open;
	s->known = true;
	s->readings++;
	if (rc == 0) {
		snprintf(s->program, sizeof(s->program), "%s", s->client.program);
		s->begun_ns = begun_ns;
		s->took_ns = now - begun_ns;
		s->next_ns = begun_ns + EXPORTER_LEAST_AGE_NS + (REST + 1) * s->took_ns;
		return;
	}
	metrics_free(m);
	s->failures += !s->foreign;
	s->next_ns = s->silent ? now + EXPORTER_RETRY_NS : begun_ns + EXPORTER_LEAST_AGE_NS;
	/* When serving, warn only at the first failure after a success. */
	if (!e->ending && !s->foreign && (was_open || !e->serves))
		say_warning("%s", s->client.error);
	end_source(s);
}

static void *
read_when_asked(void *arg)
{
	struct source *s = arg;
	struct exporter *e = s->exporter;

	pthread_mutex_lock(&e->lock);
	while (!e->ending) {
		uint64_t begun_ns;
		struct metrics *m;
		int rc;

		if (!s->wanted) {
			pthread_cond_wait(&e->work, &e->lock);
			continue;
		}
		s->wanted = false;
		s->reading = true;
		pthread_mutex_unlock(&e->lock);
		begun_ns = monotonic_ns();
		m = metrics_new();
		rc = m != NULL ? read_source(e, s, m) : APP_FAILED;
		pthread_mutex_lock(&e->lock);
		keep_reading(e, s, rc, m, begun_ns);
		s->reading = false;
		e->changes++;
		pthread_cond_broadcast(&e->done);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

/* @return true: at least one reading was requested. */
static bool
begin_readings(struct exporter *e, uint64_t now)
{
	bool any = false;

	for (unsigned int i = 0; i < e->n_sources; i++) {
		struct source *s = &e->sources[i];

		if (s->wanted || s->reading || now < s->next_ns)
			continue;
		s->wanted = true;
		any = true;
	}
	pthread_cond_broadcast(&e->work);
	return any;
}

/* Are readings in progress? Ignores programs that did not answer last time. */
static bool
are_under_way(const struct exporter *e)
{
	for (unsigned int i = 0; i < e->n_sources; i++) {
		const struct source *s = &e->sources[i];

		if ((s->wanted || s->reading) && !s->silent)
			return true;
	}
	return false;
}

static void
wait_for_readings(struct exporter *e, uint64_t until_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
				       .tv_nsec = (long)(until_ns % 1000000000u)};

	while (are_under_way(e) && !e->ending)
		if (pthread_cond_timedwait(&e->done, &e->lock, &until) == ETIMEDOUT)
			return;
}

static void
add_number(struct metrics *m, const char *object, const char *key, bool counter, const char *help,
	   const char *labels, unsigned long long value)
{
	const struct metric metric = metric_of(object, key, "", counter);
	json_t *v = json_integer((json_int_t)value);
	char text[64];

	if (metric_value(&metric, v, text, sizeof(text)))
		metrics_add(m, &metric, help, labels, text);
	json_decref(v);
}

static void
add_source_numbers(const struct source *s, struct metrics *m, uint64_t now)
{
	struct text labels = {0};

	text_add_label(&labels, "program", s->program);
	text_add_label(&labels, "prefix", s->name);
	if (!labels.failed) {
		add_number(m, "up", "", false, "whether the program answers", labels.at, s->up);
		add_number(m, "exporter", "readings", true, "readings of the program", labels.at,
			   s->readings);
		add_number(m, "exporter", "failures", true,
			   "failed readings of the program, also while it was not running",
			   labels.at, s->failures);
	}
	if (!labels.failed && s->up) {
		add_number(m, "exporter", "reading_age_ns", false,
			   "age of the program's values, which are left out if it does not "
			   "answer",
			   labels.at, now - s->begun_ns);
		add_number(m, "exporter", "reading_duration_ns", false,
			   "duration of the last reading of the program", labels.at, s->took_ns);
	}
	text_free(&labels);
}

static void
add_own(const struct exporter *e, struct metrics *m)
{
	const struct http_counts *c = e->server != NULL ? http_counts(e->server) : NULL;

	add_number(m, "exporter", "repeated", true,
		   "requests answered from the last readings, which were recent enough", "",
		   e->repeated);
	add_number(
		m, "exporter", "clashes", false,
		"families left out because they are counters in one program and gauges in another",
		"", metrics_clashes(m));
	if (c == NULL)
		return;
	add_number(m, "exporter", "requests", true, "HTTP requests", "", atomic_load(&c->requests));
	add_number(m, "exporter", "refused_clients", true,
		   "HTTP requests refused because of too many clients", "",
		   atomic_load(&c->refused_clients));
	add_number(m, "exporter", "closed_slow_clients", true,
		   "HTTP connections closed because their clients were slow or silent", "",
		   atomic_load(&c->closed_slow));
}

static void
make_text(struct exporter *e, enum metrics_format format, uint64_t now)
{
	struct made *made = &e->made[format];
	struct metrics *m = metrics_new();

	for (unsigned int i = 0; m != NULL && i < e->n_sources; i++) {
		const struct source *s = &e->sources[i];

		if (!s->known || s->foreign)
			continue;
		if (s->up)
			metrics_merge(m, s->last);
		add_source_numbers(s, m, now);
	}
	made->at_ns = now;
	made->changes = e->changes;
	made->text.used = 0;
	made->text.failed = m == NULL;
	if (m != NULL) {
		add_own(e, m);
		metrics_print(m, format, &made->text);
	}
	metrics_free(m);
}

static unsigned int
count_up(const struct exporter *e)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < e->n_sources; i++)
		n += e->sources[i].up;
	return n;
}

char *
exporter_text(struct exporter *e, enum metrics_format format, size_t *bytes, unsigned int *up)
{
	struct made *made = &e->made[format];
	char *copy = NULL;
	uint64_t now = monotonic_ns();

	pthread_mutex_lock(&e->lock);
	look(e, now);
	e->repeated += !begin_readings(e, now);
	wait_for_readings(e, now + (e->serves ? EXPORTER_WAIT_NS : 2 * EXPORTER_READING_NS));
	now = monotonic_ns();
	if (made->text.used == 0 || made->changes != e->changes ||
	    now - made->at_ns >= EXPORTER_LEAST_AGE_NS)
		make_text(e, format, now);
	if (!made->text.failed && made->text.used > 0)
		copy = malloc(made->text.used);
	if (copy != NULL) {
		memcpy(copy, made->text.at, made->text.used);
		*bytes = made->text.used;
	}
	if (up != NULL)
		*up = count_up(e);
	pthread_mutex_unlock(&e->lock);
	return copy;
}
