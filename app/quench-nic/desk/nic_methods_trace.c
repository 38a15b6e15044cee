/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_desk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/decimal.h"
#include "base/numbers/fixed.h"
#include "ctl/output/json.h"
#include "ctl/results/explain.h"
#include "ctl/results/trace_csv.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/tracing/tracing.h"

static struct tracing *
tracing_of(const struct desk_call *call)
{
	return (struct tracing *)(uintptr_t)call->desk->program;
}

static const struct nic_config *
config_of(const struct desk_call *call)
{
	return nic_config_of(call->version);
}

static bool
is_number(const char *text)
{
	return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool
refuse_name(struct desk_call *call, const char *text, uint32_t qps)
{
	const struct nic_config *config = config_of(call);
	char expected[DESK_EXPECTED_CHARS + 1];

	snprintf(expected, sizeof(expected),
		 "a QPN from %u to %u, FLOW, or FLOW#I, with a flow such as %s",
		 config->nic.first_qpn, config->nic.first_qpn + qps - 1,
		 config->n_flows > 0 ? config->flows[0].name : "incast");
	desk_refuse_param(call, expected, "ID = %s", text);
	return false;
}

/* FLOW#I, or FLOW for its first QP, as in quench-lab. */
static bool
find_by_flow(struct desk_call *call, const char *text, uint32_t qps, uint32_t *number)
{
	const struct nic_config *config = config_of(call);
	const char *hash = strrchr(text, '#');
	bool has_index = hash != NULL && is_number(hash + 1);
	size_t n = has_index ? (size_t)(hash - text) : strlen(text);
	char expected[64];

	for (unsigned int f = 0; f < config->n_flows; f++) {
		const struct nic_flow *flow = &config->flows[f];
		unsigned long i = has_index ? strtoul(hash + 1, NULL, 10) : 0;

		if (strncmp(flow->name, text, n) != 0 || flow->name[n] != '\0')
			continue;
		*number = flow->first_number + (uint32_t)i;
		if (i < flow->qp_count)
			return true;
		snprintf(expected, sizeof(expected), "an I from 0 to %u", flow->qp_count - 1);
		desk_refuse_param(call, expected, "ID = %s", text);
		return false;
	}
	return refuse_name(call, text, qps);
}

/* Read parameter id as a QP: a number as in show qp, FLOW, or FLOW#I. */
static bool
find_qp(struct desk_call *call, uint32_t *number)
{
	const struct nic_config *config = config_of(call);
	uint32_t first = config->nic.first_qpn, qps = config->nic.max_qps;
	char digits[DESK_DIGITS], expected[64];
	const char *text = desk_word(call, "id", digits);
	uint64_t qpn;

	if (!is_number(text))
		return find_by_flow(call, text, qps, number);
	if (!decimal_parse(text, first, (uint64_t)first + qps - 1, &qpn)) {
		snprintf(expected, sizeof(expected), "a number from %u to %u", first,
			 first + qps - 1);
		desk_refuse_param(call, expected, "QPN = %s", text);
		return false;
	}
	*number = (uint32_t)qpn - first;
	if (nic_config_flow_of(config, *number, NULL) != NULL)
		return true;
	desk_refuse_param(call, "a QPN of show qps", "no flow has QP %" PRIu64, qpn);
	return false;
}

static void
walk_qp(struct walk *w, const struct desk_call *call, uint32_t number)
{
	const struct nic_config *config = call == NULL ? NULL : config_of(call);
	uint32_t i = 0;
	const struct nic_flow *flow = call == NULL ? NULL : nic_config_flow_of(config, number, &i);

	WALK(number, w, KEY, "local_qpn", "number of the QP", config->nic.first_qpn + number);
	/* A flow may be removed while one of its QPs is traced. */
	WALK(text, w, KEY, "flow", "name of its flow; empty: removed",
	     flow != NULL ? flow->name : "");
	walk_number(w, WALK_KEY, "qp", "its number in the flow, from 0 on", i);
}

/* The number of the trace, its rows, and the clients or the key that started it. */
static void
walk_trace(struct walk *w, const struct traced *traced)
{
	WALK(number, w, KEY, "trace", "number of the trace, unique in the run", traced->serial);
	WALK(flag, w, KEY, "trace_qps", "whether the key trace_qps started it", traced->configured);
	WALK(flag, w, KEY, "on", "whether it goes on without clients", traced->on);
	WALK(number, w, KEY, "clients", "clients that have sent start and not stop",
	     traced->clients);
	WALK(number, w, KEY, "began_ns", "when it began, since the start", traced->began_ns);
	WALK(number, w, KEY, "written", "rows written since then",
	     nic_trace_written(traced->trace));
}

static bool
traces_row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	const struct tracing *t = arg;

	walk_qp(w, call, call == NULL ? 0 : t->traced[i].number);
	walk_trace(w, call == NULL ? NULL : &t->traced[i]);
	return true;
}

static void
walk_total(struct walk *w, uint64_t total)
{
	walk_number(w, WALK_KEY, "total", "number of traced QPs", total);
	walk_number(w, WALK_KEY, "most", "largest possible number", NIC_MAX_TRACES);
}

void
traces_result(struct walk *w)
{
	walk_total(w, 0);
	desk_rows_result(w, traces_row);
}

json_t *
traces_reply(struct desk_call *call)
{
	struct tracing *t = tracing_of(call);
	struct desk_list list = {.row = traces_row, .arg = t};
	struct json_walk j = json_walk(json_object());
	json_t *o;

	tracing_hold(t, 0);
	list.end = t->n;
	walk_total(&j.walk, t->n);
	o = desk_list_add(call, &list, j.at);
	tracing_release(t);
	return o;
}

static struct explain_event
event_of(const struct nic_trace_row *row)
{
	return (struct explain_event){
		.at_ns = row->at_ns, .kind = EXPLAIN_RATE, .did = row->did, .after = row->view};
}

#define WORDS_CHARS 400

/* before: the row before it; NULL: not known. @return text. */
static const char *
words_of(const struct nic_trace_row *row, const struct nic_trace_row *before,
	 char text[static WORDS_CHARS])
{
	struct explain_event events[2] = {event_of(before != NULL ? before : row), event_of(row)};
	FILE *out = fmemopen(text, WORDS_CHARS, "w");
	uint32_t first = before == NULL;

	text[0] = '\0';
	if (out == NULL)
		return text;
	explain_set_before(events + first, 2 - first);
	explain_words(out, &events[1]);
	fclose(out);
	return text;
}

static void
walk_trace_row(struct walk *w, const struct nic_trace_row *row, const struct nic_trace_row *before)
{
	const struct cc_view *v = &row->view;
	char reason[TRACE_REASON_CHARS + 1], words[WORDS_CHARS];

	walk_number(w, WALK_KEY, "time_ns", "since the start", row->at_ns);
	walk_number(w, WALK_KEY, "rate_bps", "rate after the change", v->rate_bps);
	walk_number(w, WALK_KEY, "target_rate_bps", "target rate (R_T)", v->target_rate_bps);
	walk_real(w, WALK_KEY, "alpha", "congestion estimate",
		  (double)v->alpha_q32 / (double)Q32_ONE);
	walk_number(w, WALK_KEY, "time_stage", "stage T of DCQCN", v->time_stage);
	walk_number(w, WALK_KEY, "byte_stage", "stage BC of DCQCN", v->byte_stage);
	walk_number(w, WALK_KEY, "rtt_ns", "round-trip time that led to it; 0: none", v->rtt_ns);
	walk_number(w, WALK_KEY, "window_bytes", "window of the algorithm; 0: none",
		    v->window_bytes);
	walk_flag(w, WALK_KEY, "limited", "whether congestion control limits the QP", v->limited);
	walk_text(w, WALK_KEY, "reason", "as in trace.csv",
		  trace_reason(row->did, reason, sizeof(reason)));
	walk_text(w, WALK_KEY, "what", "the row in words, for people",
		  words_of(row, before, words));
}

/*
 * Read the first row from *number on that has not been overwritten.
 * @return false: there is none yet.
 */
static bool
read_first(const struct nic_trace *trace, uint64_t *number, struct nic_trace_row *row)
{
	uint64_t written = nic_trace_written(trace);

	*number = max_u64(*number, sub_sat(written, trace->capacity));
	while (*number < written && !nic_trace_read(trace, *number, row)) {
		written = nic_trace_written(trace);
		*number = sub_sat(written, trace->capacity) + 1;
	}
	return *number < written;
}

static void
walk_span(struct walk *w, uint64_t first, uint64_t lost, uint64_t end)
{
	walk_number(w, WALK_KEY, "first", "number of the first row", first);
	walk_number(w, WALK_KEY, "lost", "wanted rows that the trace no longer has", lost);
	walk_number(w, WALK_KEY, "end", "first of the next request", end);
}

/* The rows from number first on. */
static void
walk_rows(struct walk *w, const struct nic_trace *trace, uint64_t first)
{
	uint64_t number = first, begin, written = nic_trace_written(trace);
	struct nic_trace_row row, before;
	bool more = read_first(trace, &number, &row);
	bool knows_before = number > 0 && nic_trace_read(trace, number - 1, &before);

	begin = number;
	walk_list(w, "rows");
	while (more) {
		walk_item(w, "rows");
		walk_trace_row(w, &row, knows_before ? &before : NULL);
		walk_leave(w);
		before = row;
		knows_before = true;
		number++;
		more = number < written && nic_trace_read(trace, number, &row);
	}
	walk_span(w, begin, begin - first, number);
}

/* Rows of a trace as events, from number first on. */
struct events {
	struct explain_event *of; /* owned */
	uint32_t n;
	uint64_t first;
};

/* @return false: no memory. */
static bool
read_events(const struct nic_trace *trace, struct events *events)
{
	uint64_t number = 0, written = nic_trace_written(trace);
	struct nic_trace_row row;

	*events = (struct events){.of = calloc(trace->capacity, sizeof(*events->of))};
	if (events->of == NULL)
		return false;
	(void)read_first(trace, &number, &row);
	events->first = number;
	for (; number < written; number++) {
		if (nic_trace_read(trace, number, &row)) {
			events->of[events->n++] = event_of(&row);
			continue;
		}
		/* The QP writes faster than this reads: leave the oldest rows to it. */
		written = nic_trace_written(trace);
		events->first = written - trace->capacity / 8 * 7;
		events->n = 0;
		number = events->first - 1;
	}
	explain_set_before(events->of, events->n);
	return true;
}

static void
walk_last_cut(struct walk *w, const struct explain_event *events, uint32_t n)
{
	while (n > 0 && !(events[n - 1].did & CC_DID_CUT))
		n--;
	walk_maybe(w, WALK_KEY, "last_cut_ns", "when the last cut was, since the start; null: none",
		   n > 0 ? events[n - 1].at_ns : 0, n == 0);
}

static void
walk_line(struct walk *w, const char *line)
{
	walk_text(w, WALK_KEY, "line", "one event, or several that follow each other", line);
}

/* @return false: no memory. */
static bool
walk_story(struct walk *w, const struct events *events, uint32_t most_lines)
{
	char *text = NULL, *rest;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool good = out != NULL && explain_story(out, events->of, events->n, most_lines) == 0;

	good = out != NULL && fclose(out) == 0 && good;
	walk_list(w, "lines");
	rest = good ? text : NULL;
	for (char *line = rest; good && (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
		walk_item(w, "lines");
		walk_line(w, line);
		walk_leave(w);
	}
	free(text);
	return good;
}

static void
walk_traced(struct walk *w, const struct desk_call *call, uint32_t number, bool traced)
{
	const struct nic_config *config = call == NULL ? NULL : config_of(call);
	const struct nic_flow *flow =
		call == NULL ? NULL : nic_config_flow_of(config, number, NULL);

	walk_qp(w, call, number);
	WALK(text, w, KEY, "cc", "congestion control",
	     cc_words[cc_chosen(flow->qp.cc, config->nic.cc)]);
	WALK(text, w, KEY, "verb", "verb of the flow", nic_verb_words[flow->qp.verb]);
	WALK(flag, w, KEY, "requester", "whether the QP requests", flow->qp.requester);
	WALK(flag, w, KEY, "sends_data", "whether the QP sends the data of its messages",
	     flows_sends_data(flow));
	walk_flag(w, WALK_KEY, "traced", "false: not traced, and there are no more keys", traced);
}

void
trace_result(struct walk *w)
{
	static const struct nic_trace_row none;

	walk_traced(w, NULL, 0, false);
	w->optional = true;
	walk_trace(w, NULL);
	walk_item(w, "rows");
	walk_trace_row(w, &none, NULL);
	walk_leave(w);
	walk_span(w, 0, 0, 0);
	w->optional = false;
}

void
story_result(struct walk *w)
{
	walk_traced(w, NULL, 0, false);
	w->optional = true;
	walk_trace(w, NULL);
	walk_span(w, 0, 0, 0);
	walk_last_cut(w, NULL, 0);
	walk_item(w, "lines");
	walk_line(w, "");
	walk_leave(w);
	w->optional = false;
}

void
set_trace_result(struct walk *w)
{
	walk_qp(w, NULL, 0);
	walk_flag(w, WALK_KEY, "traced", "whether the QP is traced now", false);
	w->optional = true;
	walk_trace(w, NULL);
	w->optional = false;
}

json_t *
trace_reply(struct desk_call *call)
{
	struct tracing *t = tracing_of(call);
	struct traced *traced;
	uint64_t first = 0, written;
	uint32_t number;
	json_t *o = NULL;

	if (!find_qp(call, &number))
		return NULL;
	traced = tracing_hold(t, number);
	written = traced != NULL ? nic_trace_written(traced->trace) : 0;
	if (desk_number(call, "first", 0, UINT64_MAX, &first)) {
		struct json_walk j = json_walk(json_object());

		o = j.at;
		walk_traced(&j.walk, call, number, traced != NULL);
		if (traced != NULL) {
			traced->read_ns = max_u64(traced->read_ns, desk_now_ns(call));
			walk_trace(&j.walk, traced);
			walk_rows(&j.walk, traced->trace, min_u64(first, written));
		}
	}
	tracing_release(t);
	return o;
}

#define STORY_LINES 24
#define MOST_LINES 1000

/* Events are read while the trace is held, and told later: it may take a moment. */
static bool
tell_story(struct desk_call *call, struct walk *w, uint32_t number, uint32_t most_lines)
{
	struct traced *traced = tracing_hold(tracing_of(call), number);
	struct events events = {0};
	bool good = true;

	walk_traced(w, call, number, traced != NULL);
	if (traced != NULL) {
		traced->read_ns = max_u64(traced->read_ns, desk_now_ns(call));
		walk_trace(w, traced);
		good = read_events(traced->trace, &events);
	}
	tracing_release(tracing_of(call));
	if (traced == NULL || !good)
		return good;
	walk_span(w, events.first, events.first, events.first + events.n);
	walk_last_cut(w, events.of, events.n);
	good = walk_story(w, &events, most_lines);
	free(events.of);
	return good;
}

json_t *
story_reply(struct desk_call *call)
{
	struct json_walk j;
	uint64_t lines = STORY_LINES;
	uint32_t number;

	if (!find_qp(call, &number) || !desk_number(call, "lines", 1, MOST_LINES, &lines))
		return NULL;
	j = json_walk(json_object());
	if (tell_story(call, &j.walk, number, (uint32_t)lines))
		return j.at;
	json_decref(j.at);
	return desk_refuse(call, "more memory", "no memory for a story");
}

static bool
find_word(struct desk_call *call, enum tracing_word *word)
{
	char digits[DESK_DIGITS];
	const char *text = desk_word(call, "action", digits);

	for (int w = 0; w < TRACING_WORDS; w++) {
		*word = (enum tracing_word)w;
		if (strcmp(tracing_words[w], text) == 0)
			return true;
	}
	desk_refuse_param(call, "start, stop, on or off", "ACTION = %s", text);
	return false;
}

/* Refuse a QP that sends no data: the peer controls the rate. */
static json_t *
refuse_silent(struct desk_call *call, uint32_t number)
{
	const struct nic_flow *flow = nic_config_flow_of(config_of(call), number, NULL);

	return desk_refuse(call,
			   flow->qp.verb == NIC_READ
				   ? "the responder's QP at the peer, which sends the data of READ"
				   : "a QP that sends data, of a flow with requester = on",
			   "QP %u of flow %s sends no data",
			   config_of(call)->nic.first_qpn + number, flow->name);
}

static json_t *
refuse_full(struct desk_call *call)
{
	struct tracing *t = tracing_of(call);
	char line[DESK_ERROR_CHARS];
	size_t used;

	tracing_hold(t, 0);
	used = (size_t)snprintf(line, sizeof(line), "all %u traces are taken, by QPs", t->n);
	for (uint32_t i = 0; i < t->n && used < sizeof(line); i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, " %u",
					 config_of(call)->nic.first_qpn + t->traced[i].number);
	tracing_release(t);
	if (used < sizeof(line))
		snprintf(line + used, sizeof(line) - used,
			 ": end one of them first (quenchctl trace qp ID off)");
	return desk_refuse_line(call, line);
}

static json_t *
refuse_change(struct desk_call *call, uint32_t number, int rc)
{
	unsigned int qpn = config_of(call)->nic.first_qpn + number;

	if (rc == -ENOSPC)
		return refuse_full(call);
	if (rc == -ENOMEM)
		return desk_refuse(call, "more memory", "QP %u: no memory for a trace", qpn);
	if (rc == -ENOENT)
		return desk_refuse(call, "a QP of show traces", "QP %u is not traced", qpn);
	if (rc == -EPERM)
		return desk_refuse(call, "another QP",
				   "QP %u is traced until the end, by trace_qps", qpn);
	return desk_refuse(call, "a link that is up, and another try",
			   "QP %u: the lcore of the QP has not adopted the change", qpn);
}

json_t *
set_trace_reply(struct desk_call *call)
{
	struct tracing *t = tracing_of(call);
	const struct traced *traced;
	enum tracing_word word;
	struct json_walk j;
	uint32_t number;
	int rc;

	if (!find_qp(call, &number) || !find_word(call, &word))
		return NULL;
	if ((word == TRACING_START || word == TRACING_ON) &&
	    !flows_sends_data(nic_config_flow_of(config_of(call), number, NULL)))
		return refuse_silent(call, number);
	rc = tracing_set(t, number, word, call->desk->stop, desk_now_ns(call));
	if (rc != 0)
		return refuse_change(call, number, rc);
	j = json_walk(json_object());
	walk_qp(&j.walk, call, number);
	traced = tracing_hold(t, number);
	walk_flag(&j.walk, WALK_KEY, "traced", "", traced != NULL);
	if (traced != NULL)
		walk_trace(&j.walk, traced);
	tracing_release(t);
	return j.at;
}
