/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_desk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/decimal.h"
#include "base/numbers/fixed.h"
#include "runtime/report/report.h"
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

static json_t *
qp_object(const struct desk_call *call, uint32_t number)
{
	const struct nic_config *config = config_of(call);
	uint32_t i = 0;
	const struct nic_flow *flow = nic_config_flow_of(config, number, &i);
	json_t *o = json_object();

	report_set_u64(o, "local_qpn", config->nic.first_qpn + number);
	/* A flow may be removed while one of its QPs is traced. */
	json_object_set_new(o, "flow", json_string(flow != NULL ? flow->name : ""));
	report_set_u64(o, "qp", i);
	return o;
}

/* Set the number of the trace, its rows, and the clients or the key that started it. */
static void
set_trace(json_t *o, const struct traced *traced)
{
	report_set_u64(o, "trace", traced->serial);
	json_object_set_new(o, "trace_qps", json_boolean(traced->configured));
	json_object_set_new(o, "on", json_boolean(traced->on));
	report_set_u64(o, "clients", traced->clients);
	report_set_u64(o, "began_ns", traced->began_ns);
	report_set_u64(o, "written", nic_trace_written(traced->trace));
}

static json_t *
traces_row(struct desk_call *call, void *arg, uint64_t i)
{
	const struct tracing *t = arg;
	json_t *row = qp_object(call, t->traced[i].number);

	set_trace(row, &t->traced[i]);
	return row;
}

json_t *
traces_reply(struct desk_call *call)
{
	struct tracing *t = tracing_of(call);
	struct desk_list list = {.row = traces_row, .arg = t};
	json_t *o;

	tracing_hold(t, 0);
	list.end = t->n;
	o = json_object();
	report_set_u64(o, "total", t->n);
	report_set_u64(o, "most", NIC_MAX_TRACES);
	o = desk_list_add(call, &list, o);
	tracing_release(t);
	return o;
}

static json_t *
row_object(const struct nic_trace_row *row)
{
	const struct cc_view *v = &row->view;
	char reason[TRACE_REASON_CHARS + 1];
	json_t *o = json_object();

	report_set_u64(o, "time_ns", row->at_ns);
	report_set_u64(o, "rate_bps", v->rate_bps);
	report_set_u64(o, "target_rate_bps", v->target_rate_bps);
	json_object_set_new(o, "alpha", json_real((double)v->alpha_q32 / (double)Q32_ONE));
	report_set_u64(o, "time_stage", v->time_stage);
	report_set_u64(o, "byte_stage", v->byte_stage);
	report_set_u64(o, "rtt_ns", v->rtt_ns);
	report_set_u64(o, "window_bytes", v->window_bytes);
	json_object_set_new(o, "limited", json_boolean(v->limited));
	json_object_set_new(o, "reason",
			    json_string(trace_reason(row->did, reason, sizeof(reason))));
	return o;
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

/* Add the rows from number first on; "end" is the number of the next row. */
static void
add_rows(json_t *o, const struct nic_trace *trace, uint64_t first)
{
	uint64_t number = first, written = nic_trace_written(trace);
	json_t *rows = json_array();
	struct nic_trace_row row;
	bool more = read_first(trace, &number, &row);

	report_set_u64(o, "first", number);
	report_set_u64(o, "lost", number - first);
	while (more) {
		json_array_append_new(rows, row_object(&row));
		number++;
		more = number < written && nic_trace_read(trace, number, &row);
	}
	report_set_u64(o, "end", number);
	json_object_set_new(o, "rows", rows);
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
		const struct nic_flow *flow = nic_config_flow_of(config_of(call), number, NULL);

		o = qp_object(call, number);
		json_object_set_new(o, "cc", json_string(cc_words[config_of(call)->nic.cc]));
		json_object_set_new(o, "verb", json_string(nic_verb_words[flow->qp.verb]));
		json_object_set_new(o, "requester", json_boolean(flow->qp.requester));
		json_object_set_new(o, "sends_data", json_boolean(flows_sends_data(flow)));
		json_object_set_new(o, "traced", json_boolean(traced != NULL));
	}
	if (o != NULL && traced != NULL) {
		traced->read_ns = max_u64(traced->read_ns, desk_now_ns(call));
		set_trace(o, traced);
		add_rows(o, traced->trace, min_u64(first, written));
	}
	tracing_release(t);
	return o;
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
	uint32_t number;
	json_t *o;
	int rc;

	if (!find_qp(call, &number) || !find_word(call, &word))
		return NULL;
	if ((word == TRACING_START || word == TRACING_ON) &&
	    !flows_sends_data(nic_config_flow_of(config_of(call), number, NULL)))
		return refuse_silent(call, number);
	rc = tracing_set(t, number, word, call->desk->stop, desk_now_ns(call));
	if (rc != 0)
		return refuse_change(call, number, rc);
	o = qp_object(call, number);
	traced = tracing_hold(t, number);
	json_object_set_new(o, "traced", json_boolean(traced != NULL));
	if (traced != NULL)
		set_trace(o, traced);
	tracing_release(t);
	return o;
}
