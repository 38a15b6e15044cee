/* SPDX-License-Identifier: BSD-3-Clause */
/* "web": a page with a live view of one program, for a browser on this machine. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/numbers/array.h"
#include "runtime/notice/say.h"
#include "quenchctl/web/web.h"
#include "quenchctl/socket/http.h"
#include "quenchctl/top/snapshot.h"
#include "quenchctl/web/web_events.h"
#include "web_files.h"

/* Shortest interval between snapshots, however many browsers show the page. */
#define LEAST_MS 250

struct web {
	pthread_mutex_t lock;
	struct client c;
	char path[sizeof(((struct client *)0)->path)];
	bool connected;
	uint64_t pid;
	int64_t read_ms;
	struct snapshot last;
	json_t *events;
	char *text; /* the last answer; NULL: none yet */
};

static atomic_bool stop;

static void
on_signal(int signal_number)
{
	(void)signal_number;
	atomic_store(&stop, true);
}

static int64_t
clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
connect_again(struct web *w, int64_t at_ms)
{
	client_close(&w->c);
	w->connected = client_open(&w->c, w->path, NULL) == 0;
	if (!w->connected)
		return;
	if (w->c.pid != w->pid)
		snapshot_free(&w->last);
	w->pid = w->c.pid;
	web_event(w->events, at_ms, false, "%s runs, pid %llu", w->c.program,
		  (unsigned long long)w->pid);
}

static void
read_program(struct web *w, int64_t at_ms)
{
	struct snapshot r;

	if (!w->connected)
		connect_again(w, at_ms);
	if (!w->connected)
		return;
	if (snapshot_take(&w->c, &r) != 0) {
		w->connected = false;
		web_event(w->events, at_ms, true, "%s is gone", w->c.program);
		return;
	}
	if (w->last.replies != NULL)
		web_events_between(w->events, at_ms, &r, &w->last);
	snapshot_free(&w->last);
	w->last = r;
}

/* @return the text, or NULL without memory. */
static char *
make_text(struct web *w, int64_t at_ms)
{
	json_t *o = json_pack("{s:s,s:I,s:b,s:I,s:I,s:O}", "program", w->c.program, "pid",
			      (json_int_t)w->pid, "up", w->connected, "at_ms", (json_int_t)at_ms,
			      "elapsed_ns", (json_int_t)w->last.elapsed_ns, "events", w->events);
	char *text;

	if (!w->connected)
		json_object_set_new(o, "error", json_string(w->c.error));
	else
		json_object_set(o, "replies", w->last.replies);
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

static void
answer_data(void *arg, const char *accept, struct http_answer *answer)
{
	struct web *w = arg;
	int64_t now_ms = clock_ms(CLOCK_MONOTONIC), at_ms = clock_ms(CLOCK_REALTIME);

	(void)accept;
	pthread_mutex_lock(&w->lock);
	if (w->text == NULL || now_ms - w->read_ms >= LEAST_MS) {
		read_program(w, at_ms);
		free(w->text);
		w->text = make_text(w, at_ms);
		w->read_ms = clock_ms(CLOCK_MONOTONIC);
	}
	answer->content_type = "application/json";
	answer->body = w->text != NULL ? strdup(w->text) : NULL;
	answer->bytes = answer->body != NULL ? strlen(answer->body) : 0;
	pthread_mutex_unlock(&w->lock);
	if (answer->body == NULL)
		http_say(answer, 500, "%s\n", strerror(ENOMEM));
}

static void
answer_file(struct http_answer *answer, const struct web_file *file)
{
	answer->content_type = file->content_type;
	answer->body = malloc(file->bytes);
	answer->bytes = file->bytes;
	if (answer->body != NULL)
		memcpy(answer->body, file->data, file->bytes);
	else
		http_say(answer, 500, "%s\n", strerror(ENOMEM));
}

#define FILE_ROUTE(name)                                                                           \
	static void answer_##name(void *arg, const char *accept, struct http_answer *answer)       \
	{                                                                                          \
		(void)arg;                                                                         \
		(void)accept;                                                                      \
		answer_file(answer, &web_##name);                                                  \
	}
FILE_ROUTE(page_html)
FILE_ROUTE(page_css)
FILE_ROUTE(page_js)
FILE_ROUTE(draw_js)
FILE_ROUTE(uplot_js)
FILE_ROUTE(uplot_css)

static int
serve(struct web *w, const struct ctl_options *o)
{
	static const struct http_route routes[] = {
		{"/", "the page", answer_page_html},
		{"/page.css", "of the page", answer_page_css},
		{"/page.js", "of the page", answer_page_js},
		{"/draw.js", "of the page", answer_draw_js},
		{"/uplot.js", "of the page", answer_uplot_js},
		{"/uplot.css", "of the page", answer_uplot_css},
		{"/data", "the program, now, as JSON", answer_data},
	};
	struct http_server *s = http_open(o->listen != NULL ? o->listen : "127.0.0.1:9881", routes,
					  ARRAY_LEN(routes), w);

	if (s == NULL)
		return errno == EINVAL ? APP_BAD_USAGE : APP_FAILED;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	say("%s/", http_url(s));
	http_run(s, &stop);
	http_close(s);
	return APP_DONE;
}

int
command_web(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	struct web w = {.lock = PTHREAD_MUTEX_INITIALIZER, .events = json_array()};
	int rc;

	(void)params;
	if (o->output != NULL) {
		say_error("--output: web writes no file");
		return APP_BAD_USAGE;
	}
	rc = client_open(&w.c, o->path, o->prefix);
	if (rc == 0) {
		snprintf(w.path, sizeof(w.path), "%s", w.c.path);
		w.pid = w.c.pid;
		w.c.quiet = true;
		w.connected = true;
		rc = serve(&w, o);
	}
	client_close(&w.c);
	snapshot_free(&w.last);
	json_decref(w.events);
	free(w.text);
	return rc;
}
