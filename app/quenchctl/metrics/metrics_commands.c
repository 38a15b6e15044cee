/* SPDX-License-Identifier: BSD-3-Clause */
/* "show metrics" and "serve-metrics". */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/notice/say.h"
#include "runtime/notice/service.h"
#include "quenchctl/metrics/metrics_commands.h"
#include "quenchctl/metrics/exporter.h"

static atomic_bool stop;

static void
on_signal(int signal_number)
{
	(void)signal_number;
	atomic_store(&stop, true);
}

/* OpenMetrics if the client accepts it; else text, for browsers and Prometheus before 2.5. */
static void
answer_metrics(void *arg, const struct http_request *r, struct http_answer *answer)
{
	const char *accept = http_header(r, "Accept");
	enum metrics_format format = strstr(accept, "application/openmetrics-text") != NULL
					     ? METRICS_OPENMETRICS
					     : METRICS_TEXT;

	answer->content_type = metrics_content_types[format];
	answer->body = exporter_text(arg, format, &answer->bytes, NULL);
	if (answer->body == NULL)
		http_say(answer, 500, "%s\n", strerror(ENOMEM));
}

int
command_show_metrics(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	enum metrics_format format = METRICS_OPENMETRICS;
	struct exporter *e;
	unsigned int up;
	size_t bytes;
	char *text;
	int rc;

	if (params[0] != NULL && strcmp(params[0], "text") == 0) {
		format = METRICS_TEXT;
	} else if (params[0] != NULL && strcmp(params[0], "openmetrics") != 0) {
		say_error("%s: expected openmetrics or text", params[0]);
		return APP_BAD_USAGE;
	}
	e = exporter_new(o->path, o->prefix, &o->bounds, false);
	if (e == NULL)
		return APP_FAILED;
	text = exporter_text(e, format, &bytes, &up);
	rc = text != NULL ? write_output(o, text, bytes) : 0;
	free(text);
	exporter_free(e);
	if (text != NULL && up > 0)
		return rc;
	say_error("%s", text == NULL ? strerror(ENOMEM) : "no program runs or answers");
	return APP_FAILED;
}

int
command_serve_metrics(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	static const struct http_route routes[] = {
		{"/metrics", "counters and gauges of running programs, for Prometheus",
		 answer_metrics, NULL},
	};
	struct exporter *e;
	struct http_server *s;
	int rc;

	(void)params;
	if (o->output != NULL) {
		say_error("--output: expected show metrics");
		return APP_BAD_USAGE;
	}
	e = exporter_new(o->path, o->prefix, &o->bounds, true);
	if (e == NULL)
		return APP_FAILED;
	s = http_open(o->listen != NULL ? o->listen : "127.0.0.1:9880", routes, 1, e);
	if (s == NULL) {
		rc = errno == EINVAL ? APP_BAD_USAGE : APP_FAILED;
		exporter_free(e);
		return rc;
	}
	exporter_add_server(e, s);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	say("%s/metrics", http_url(s));
	service_ready();
	http_run(s, &stop);
	service_stopping();
	http_close(s);
	exporter_free(e);
	return APP_DONE;
}
