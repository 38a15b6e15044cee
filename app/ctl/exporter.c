/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/exporter.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/say.h"
#include "ctl/sockets.h"

#define MOST_PROGRAMS 16
#define LEAST_AGE_NS 250000000ull
/* Of the time that the last reading took. */
#define REST 9u
/* Looking for programs makes each of them start a thread for us. */
#define LOOK_NS 2000000000ull

/* A program, or one that was. */
struct source {
	char path[sizeof(((struct client *)0)->path)]; /* "": the one that the user named */
	char name[128];                                /* label prefix */
	char program[32];
	struct client client;
	struct meanings meanings;
	bool open;
	bool foreign; /* a DPDK program, but none of ours */
	unsigned long long failures;
};

struct exporter {
	const char *path, *prefix;
	struct metrics_bounds bounds;
	const struct http_server *server;
	pthread_mutex_t lock; /* one reading at a time */
	struct source sources[MOST_PROGRAMS];
	unsigned int n_sources, up;
	bool said_full;
	uint64_t look_ns, begun_ns, took_ns;
	unsigned long long readings, repeated;
	struct text texts[METRICS_FORMATS];
};

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct exporter *
exporter_new(const char *path, const char *prefix, const struct metrics_bounds *bounds)
{
	struct exporter *e = calloc(1, sizeof(*e));

	if (e == NULL) {
		say_error("%s", strerror(ENOMEM));
		return NULL;
	}
	e->path = path;
	e->prefix = prefix;
	e->bounds = *bounds;
	pthread_mutex_init(&e->lock, NULL);
	if (path == NULL && prefix == NULL)
		return e;
	e->n_sources = 1;
	if (path != NULL)
		socket_name(path, e->sources[0].name, sizeof(e->sources[0].name));
	else
		snprintf(e->sources[0].name, sizeof(e->sources[0].name), "%s", prefix);
	return e;
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
	for (unsigned int i = 0; i < e->n_sources; i++)
		end_source(&e->sources[i]);
	for (unsigned int f = 0; f < METRICS_FORMATS; f++)
		text_free(&e->texts[f]);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

void
exporter_add_server(struct exporter *e, const struct http_server *server)
{
	e->server = server;
}

static bool
is_known(const struct exporter *e, const char *path)
{
	for (unsigned int i = 0; i < e->n_sources; i++)
		if (strcmp(e->sources[i].path, path) == 0)
			return true;
	return false;
}

/* Room for another: one that has ended is forgotten. @return NULL: all run. */
static struct source *
free_source(struct exporter *e)
{
	if (e->n_sources < MOST_PROGRAMS)
		return &e->sources[e->n_sources++];
	for (unsigned int i = 0; i < MOST_PROGRAMS; i++)
		if (!e->sources[i].open)
			return &e->sources[i];
	if (!e->said_full)
		say_warning("more than %u programs run: the others are left out", MOST_PROGRAMS);
	e->said_full = true;
	return NULL;
}

/* Programs come. */
static void
look(struct exporter *e, uint64_t now)
{
	struct sockets found;

	if (e->path != NULL || e->prefix != NULL || now < e->look_ns)
		return;
	e->look_ns = now + LOOK_NS;
	sockets_find(NULL, &found);
	for (size_t i = 0; i < found.n; i++) {
		struct source *s = is_known(e, found.path[i]) ? NULL : free_source(e);

		if (s == NULL)
			continue;
		*s = (struct source){.client = {.fd = -1}};
		snprintf(s->path, sizeof(s->path), "%s", found.path[i]);
		socket_name(s->path, s->name, sizeof(s->name));
	}
	sockets_free(&found);
}

static bool
open_source(struct exporter *e, struct source *s)
{
	bool by_path = *s->path != '\0';

	s->client.quiet = true;
	if (client_open(&s->client, by_path ? s->path : e->path, by_path ? NULL : e->prefix) != 0 ||
	    meanings_read(&s->client, &s->meanings) != 0) {
		/* It answers, but knows nothing of ours. */
		s->foreign = by_path && s->client.pid != 0 && *s->client.program == '\0';
		client_close(&s->client);
		return false;
	}
	s->open = true;
	s->foreign = false;
	memcpy(s->program, s->client.program, sizeof(s->program));
	if (e->server != NULL)
		say("%s: %s, pid %llu", s->name, s->program, (unsigned long long)s->client.pid);
	return true;
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
read_source(struct exporter *e, struct source *s, struct metrics *m)
{
	struct text labels = {0};
	bool was_open = s->open, up;

	up = was_open || open_source(e, s);
	if (s->foreign)
		return;
	text_add_label(&labels, "program", s->program);
	text_add_label(&labels, "prefix", s->name);
	up = up && !labels.failed &&
	     metrics_collect(m, &s->client, &s->meanings, labels.at, &e->bounds) == 0;
	if (!up) {
		s->failures++;
		/* Once, unless it is asked only once. */
		if (s->open || e->server == NULL)
			say_warning("%s", s->client.error);
		end_source(s);
	}
	e->up += up;
	if (!labels.failed) {
		add_number(m, "up", "", false, "whether the program answers", labels.at, up);
		add_number(m, "exporter", "failures", true,
			   "readings of the program that failed, while it was gone among them",
			   labels.at, s->failures);
	}
	text_free(&labels);
}

static void
add_own(const struct exporter *e, struct metrics *m)
{
	const struct http_counts *c = e->server != NULL ? http_counts(e->server) : NULL;

	add_number(m, "exporter", "readings", true, "times that the programs were read", "",
		   e->readings);
	add_number(m, "exporter", "repeated", true,
		   "requests that were given the last reading, for they came too soon", "",
		   e->repeated);
	add_number(m, "exporter", "reading_duration_ns", false, "how long the last reading took",
		   "", e->took_ns);
	if (c == NULL)
		return;
	add_number(m, "exporter", "requests", true, "HTTP requests", "", atomic_load(&c->requests));
	add_number(m, "exporter", "refused_clients", true,
		   "HTTP requests refused, for there were too many clients", "",
		   atomic_load(&c->refused_clients));
	add_number(m, "exporter", "closed_slow_clients", true,
		   "HTTP connections closed, for their clients were too slow or said nothing", "",
		   atomic_load(&c->closed_slow));
}

static void
read_all(struct exporter *e)
{
	struct metrics *m = metrics_new();

	e->begun_ns = now_ns();
	look(e, e->begun_ns);
	e->readings++;
	e->up = 0;
	for (unsigned int i = 0; m != NULL && i < e->n_sources; i++)
		read_source(e, &e->sources[i], m);
	e->took_ns = now_ns() - e->begun_ns;
	if (m != NULL)
		add_own(e, m);
	for (unsigned int f = 0; f < METRICS_FORMATS; f++) {
		e->texts[f].used = 0;
		e->texts[f].failed = m == NULL;
		if (m != NULL)
			metrics_print(m, (enum metrics_format)f, &e->texts[f]);
	}
	metrics_free(m);
}

char *
exporter_text(struct exporter *e, enum metrics_format format, size_t *bytes, unsigned int *up)
{
	const struct text *t = &e->texts[format];
	char *copy = NULL;
	uint64_t age_ns;

	pthread_mutex_lock(&e->lock);
	age_ns = now_ns() - e->begun_ns;
	if (e->readings == 0 || age_ns >= LEAST_AGE_NS + (REST + 1) * e->took_ns)
		read_all(e);
	else
		e->repeated++;
	if (!t->failed && t->used > 0)
		copy = malloc(t->used);
	if (copy != NULL) {
		memcpy(copy, t->at, t->used);
		*bytes = t->used;
	}
	if (up != NULL)
		*up = e->up;
	pthread_mutex_unlock(&e->lock);
	return copy;
}
