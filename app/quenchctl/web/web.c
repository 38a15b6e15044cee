/* SPDX-License-Identifier: BSD-3-Clause */
/* "web": a page with a live view of the running programs, for a browser on this machine. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/numbers/array.h"
#include "base/numbers/decimal.h"
#include "runtime/notice/say.h"
#include "quenchctl/web/web.h"
#include "quenchctl/socket/http.h"
#include "quenchctl/web/web_control.h"
#include "quenchctl/web/web_history.h"
#include "quenchctl/web/web_programs.h"
#include "web_files.h"

struct web {
	struct web_programs *programs;
	struct web_control *control; /* NULL: the page changes nothing */
	int64_t started_ms;          /* tells a page that the server has been started again */
};

static atomic_bool stop;

static void
on_signal(int signal_number)
{
	(void)signal_number;
	atomic_store(&stop, true);
}

static int64_t
unix_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* "/data", or "/data?since=N" for what is newer than point N. */
static void
answer_data(void *arg, const struct http_request *r, struct http_answer *answer)
{
	const struct web *w = arg;
	const char *text = http_parameter(r, "since");
	uint64_t since = 0;
	json_t *o;

	if (*text != '\0' && !decimal_parse(text, 0, INT64_MAX, &since)) {
		http_say(answer, 400, "since: expected the number of a previous answer\n");
		return;
	}
	o = web_programs_since(w->programs, since);
	json_object_set_new(o, "started_ms", json_integer((json_int_t)w->started_ms));
	json_object_set_new(o, "control", json_boolean(w->control != NULL));
	json_object_set_new(o, "every_ms", json_integer(WEB_EVERY_MS));
	json_object_set_new(o, "window_s", json_integer(WEB_POINTS * WEB_EVERY_MS / 1000));
	answer->content_type = "application/json";
	answer->body = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(6));
	answer->bytes = answer->body != NULL ? strlen(answer->body) : 0;
	json_decref(o);
	if (answer->body == NULL)
		http_say(answer, 500, "%s\n", strerror(ENOMEM));
}

static bool
accept_control(void *arg, const struct http_request *r, struct http_answer *answer)
{
	const struct web *w = arg;

	return web_control_accept(w->control, r, answer);
}

static void
answer_control(void *arg, const struct http_request *r, struct http_answer *answer)
{
	const struct web *w = arg;

	web_control_answer(w->control, r, answer);
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
	static void answer_##name(void *arg, const struct http_request *r,                         \
				  struct http_answer *answer)                                      \
	{                                                                                          \
		(void)arg;                                                                         \
		(void)r;                                                                           \
		answer_file(answer, &web_##name);                                                  \
	}
FILE_ROUTE(page_html)
FILE_ROUTE(page_css)
FILE_ROUTE(page_js)
FILE_ROUTE(draw_js)
FILE_ROUTE(control_js)
FILE_ROUTE(uplot_js)
FILE_ROUTE(uplot_css)

/* The token is in the fragment, which a browser keeps from servers, logs and other pages. */
static void
say_where(const struct web *w, const char *url, const char *file)
{
	if (w->control == NULL)
		say("%s/", url);
	else if (web_control_token(w->control) != NULL)
		say("%s/#token=%s", url, web_control_token(w->control));
	else
		say("%s/#token=...: the token is in %s", url, file);
}

static int
serve(struct web *w, const struct ctl_options *o)
{
	static const struct http_route routes[] = {
		{"/", "the page", answer_page_html, NULL},
		{"/page.css", "of the page", answer_page_css, NULL},
		{"/page.js", "of the page", answer_page_js, NULL},
		{"/draw.js", "of the page", answer_draw_js, NULL},
		{"/control.js", "of the page", answer_control_js, NULL},
		{"/uplot.js", "of the page", answer_uplot_js, NULL},
		{"/uplot.css", "of the page", answer_uplot_css, NULL},
		{"/data", "the programs, as JSON; ?since=N: what is new since answer N",
		 answer_data, NULL},
		/* The last one, which only --control has. */
		{"/control", "changes, as JSON", answer_control, accept_control},
	};
	struct http_server *s = http_open(o->listen != NULL ? o->listen : "127.0.0.1:9881", routes,
					  ARRAY_LEN(routes) - (w->control == NULL), w);

	if (s == NULL)
		return errno == EINVAL ? APP_BAD_USAGE : APP_FAILED;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	say_where(w, http_url(s), o->control_file);
	http_run(s, &stop);
	http_close(s);
	return APP_DONE;
}

int
command_web(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	struct web w = {.started_ms = unix_ms()};
	int rc;

	(void)params;
	if (o->output != NULL) {
		say_error("--output: web writes no file");
		return APP_BAD_USAGE;
	}
	rc = web_programs_open(o->path, o->prefix, &w.programs);
	if (rc != 0)
		return rc;
	if (o->control)
		rc = web_control_open(o->control_file, w.programs, &w.control);
	if (rc == 0)
		rc = serve(&w, o);
	web_control_close(w.control);
	web_programs_close(w.programs);
	return rc;
}
