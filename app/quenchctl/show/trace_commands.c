/* SPDX-License-Identifier: BSD-3-Clause */
/* trace: events of a QP's congestion control as they happen; show trace: the stored ones. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "runtime/notice/say.h"
#include "quenchctl/show/show.h"
#include "quenchctl/show/trace_rows.h"

#define READ_INTERVAL_S 0.2
/* Less than the 10 s after which the program ends a trace that nobody reads. */
#define MOST_READ_INTERVAL_S 5.0
/* Number of existing rows of a trace that are shown at the start. */
#define EARLIER_ROWS 10u

static void
print_head(void)
{
	printf("%12s  %12s  %12s  %6s  %5s  %5s  %8s  %s\n", "ms", "R_C", "R_T", "alpha", "T", "BC",
	       "rtt us", "what");
}

static void
print_row(const struct explain_event *e)
{
	char rate[24], target[24];

	printf("%12.4f  %12s  %12s  %6.4f  %5u  %5u  %8.1f  ", (double)e->at_ns / NS_PER_MS,
	       explain_rate(rate, e->after.rate_bps),
	       explain_rate(target, e->after.target_rate_bps),
	       (double)e->after.alpha_q32 / (double)Q32_ONE, e->after.time_stage,
	       e->after.byte_stage, (double)e->after.rtt_ns / NS_PER_US);
	explain_words(stdout, e);
	putchar('\n');
}

/* Print a row with the members that identify its QP. */
static void
print_json(const json_t *reply, json_t *row, json_int_t number)
{
	json_t *o = json_pack(
		"{s:O, s:O, s:O, s:I}", "local_qpn", json_object_get(reply, "local_qpn"), "flow",
		json_object_get(reply, "flow"), "qp", json_object_get(reply, "qp"), "row", number);

	json_object_update(o, row);
	json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(7));
	putchar('\n');
	json_decref(o);
}

static void
print_lost(const struct ctl_options *o, const json_t *reply)
{
	json_int_t lost = json_integer_value(json_object_get(reply, "lost"));
	json_t *row;

	if (lost == 0)
		return;
	if (!o->json) {
		printf("%12s  %" JSON_INTEGER_FORMAT " rows are lost\n", "", lost);
		return;
	}
	row = json_pack("{s:I}", "lost", lost);
	print_json(reply, row, json_integer_value(json_object_get(reply, "first")) - lost);
	json_decref(row);
}

/* The state before a row is that of the previous row, which may be on the previous page. */
static void
print_page(const struct ctl_options *o, const json_t *reply, struct explain_event *last)
{
	json_int_t number = json_integer_value(json_object_get(reply, "first"));
	struct explain_event pair[2] = {*last};
	json_t *row;
	size_t i;

	print_lost(o, reply);
	if (json_integer_value(json_object_get(reply, "lost")) > 0)
		pair[0] = (struct explain_event){.kind = EXPLAIN_DONE};
	json_array_foreach (json_object_get(reply, "rows"), i, row) {
		if (o->json) {
			print_json(reply, row, number + (json_int_t)i);
			continue;
		}
		pair[1] = trace_event(row);
		explain_set_before(pair, 2);
		print_row(&pair[1]);
		pair[0] = pair[1];
	}
	*last = pair[0];
}

static int
set_trace(struct client *c, const char *id, const char *word, json_t **reply)
{
	char command[192];

	snprintf(command, sizeof(command), "/quench/set/trace,%s,%s", id, word);
	return client_ask(c, command, reply);
}

static sigset_t
ends(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return set;
}

/* @return true: a signal ended the wait. */
static bool
wait_for_signal(double seconds)
{
	struct timespec t = {.tv_sec = (time_t)seconds};
	const sigset_t set = ends();

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	return sigtimedwait(&set, NULL, &t) > 0;
}

static void
say_what(const json_t *reply, bool is_new)
{
	printf("QP %" JSON_INTEGER_FORMAT " (%s#%" JSON_INTEGER_FORMAT "): %s; Ctrl-C ends %s\n",
	       json_integer_value(json_object_get(reply, "local_qpn")),
	       json_string_value(json_object_get(reply, "flow")),
	       json_integer_value(json_object_get(reply, "qp")),
	       is_new ? "traced from here on" : "traced already; the stored rows come first",
	       is_new ? "it" : "this");
}

/* Runs until a signal of ends(), an error, or a failed write to the output. */
static int
follow(struct trace_reader *r, const struct ctl_options *o)
{
	struct explain_event last = {.kind = EXPLAIN_DONE};
	int rc;

	for (;;) {
		json_t *reply;
		bool more;

		rc = trace_read(r, &reply);
		if (rc != 0)
			return rc;
		print_page(o, reply, &last);
		more = trace_has_more(reply);
		json_decref(reply);
		if (fflush(stdout) != 0 || ferror(stdout))
			return 0;
		if (wait_for_signal(more ? 0 : o->watch_s > 0 ? o->watch_s : READ_INTERVAL_S))
			return 0;
	}
}

/* Did this command start the trace? */
static bool
is_ours_alone(const json_t *reply)
{
	return json_integer_value(json_object_get(reply, "clients")) == 1 &&
	       json_integer_value(json_object_get(reply, "on")) == 0 &&
	       json_integer_value(json_object_get(reply, "trace_qps")) == 0;
}

static int
trace_on(struct client *c, const struct ctl_options *o, const char *id)
{
	struct trace_reader r = {.client = c, .id = id};
	sigset_t set = ends(), closed_pipe;
	json_t *reply;
	json_int_t written;
	bool is_new;
	int rc;

	if (o->watch_s > MOST_READ_INTERVAL_S) {
		say_error("--watch = %g: expected seconds from 0.05 to %g with trace", o->watch_s,
			  MOST_READ_INTERVAL_S);
		return APP_BAD_USAGE;
	}
	/*
	 * Neither a signal outside wait_for_signal() nor a closed pipe ends the process before it
	 * has stopped the trace. SIGPIPE stays pending until then.
	 */
	sigemptyset(&closed_pipe);
	sigaddset(&closed_pipe, SIGPIPE);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	rc = set_trace(c, id, "start", &reply);
	if (rc != 0)
		return rc;
	written = json_integer_value(json_object_get(reply, "written"));
	r.trace = json_integer_value(json_object_get(reply, "trace"));
	is_new = is_ours_alone(reply);
	r.next = is_new || written < EARLIER_ROWS ? 0 : (uint64_t)written - EARLIER_ROWS;
	if (!o->json) {
		say_what(reply, is_new);
		print_head();
	}
	json_decref(reply);
	rc = follow(&r, o);
	if (rc == 0)
		rc = set_trace(c, id, "stop", &reply);
	if (rc == 0)
		json_decref(reply);
	sigprocmask(SIG_UNBLOCK, &closed_pipe, NULL);
	return rc;
}

/* Turn a trace on or off, without following it. */
static int
turn(struct client *c, const struct ctl_options *o, const char *id, const char *word)
{
	json_t *reply;
	int rc;

	if (o->watch_s > 0) {
		say_error("--watch: not allowed with %s, which does not follow the trace", word);
		return APP_BAD_USAGE;
	}
	rc = set_trace(c, id, word, &reply);
	if (rc != 0)
		return rc;
	if (o->json) {
		json_dumpf(reply, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(reply);
	return 0;
}

int
command_trace(const struct command *command, struct client *c, const struct ctl_options *o,
	      const char *const params[COMMAND_PARAMS])
{
	int rc = check_params(params);

	(void)command;
	if (rc != 0)
		return rc;
	if (params[1] == NULL)
		return trace_on(c, o, params[0]);
	if (strcmp(params[1], "on") != 0 && strcmp(params[1], "off") != 0) {
		say_error("%s: expected on or off", params[1]);
		return APP_BAD_USAGE;
	}
	return turn(c, o, params[0], params[1]);
}

int
command_show_trace(const struct command *command, struct client *c, const struct ctl_options *o,
		   const char *const params[COMMAND_PARAMS])
{
	struct explain_event last = {.kind = EXPLAIN_DONE};
	json_t *reply;
	int rc = check_params(params);

	(void)command;
	if (rc == 0)
		rc = trace_read_all(c, params[0], &reply);
	if (rc != 0)
		return rc;
	if (o->json) {
		json_dumpf(reply, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (json_integer_value(json_object_get(reply, "traced")) == 0) {
		printf("QP %" JSON_INTEGER_FORMAT
		       " is not traced; \"quenchctl trace qp %s on\" starts a trace\n",
		       json_integer_value(json_object_get(reply, "local_qpn")), params[0]);
	} else {
		print_head();
		print_page(o, reply, &last);
	}
	json_decref(reply);
	return 0;
}
