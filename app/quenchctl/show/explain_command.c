/* SPDX-License-Identifier: BSD-3-Clause */
/* explain: a QP's state and hold, and the causes of its rate changes since its trace began. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "runtime/notice/say.h"
#include "quenchctl/show/show.h"
#include "quenchctl/show/trace_rows.h"

#define STORY_LINES 24u

/* Explanations of the values of the key "hold" (nic_wait_words of nic/observe/wait.h). */
static const struct {
	const char *hold, *words;
} holds[] = {
	{"error", "it gave up: out of retries, or its peer refused; it no longer sends"},
	{"done", "done: all messages are acknowledged"},
	{"responder", "it only answers requests, and no request is pending"},
	{"neighbour", "it waits for its peer's MAC address: nobody has answered ARP or neighbour "
		      "discovery"},
	{"start", "it has not started yet (start)"},
	{"rnr", "it waits because its peer had no receive buffer (RNR NAK)"},
	{"stopped", "its flow is stopped (stopped = on): it begins no message"},
	{"depth", "depth messages are in flight: the next one begins when the peer acknowledges "
		  "one"},
	{"message", "it has nothing to send: its next message has not arrived"},
	{"window", "it waits for an acknowledgement: its window of packets is full"},
	{"pause", "the peer pauses its priority"},
	{"rate", "its next packet waits for the time that the rate allows"},
	{"wire", "its next packet waits for its turn on the wire"},
};

static const char *
word(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text != NULL ? text : "";
}

static void
print_wait(const json_t *qp)
{
	for (unsigned int i = 0; i < ARRAY_LEN(holds); i++)
		if (strcmp(holds[i].hold, word(qp, "hold")) == 0)
			printf("now: %s\n", holds[i].words);
	printf("     %" PRIu64 " of at most %" PRIu64
	       " packets are not acknowledged; paused %" PRIu64 " us so far\n",
	       client_u64(qp, "unacked_packets"), client_u64(qp, "window_packets"),
	       client_u64(qp, "rx_pause_duration_us"));
}

static void
print_rate(const json_t *qp, const json_t *trace)
{
	uint64_t cap = client_u64(qp, "rate_cap_bps"), allowed = client_u64(qp, "cc_rate_bps");
	char rate[24], target[24], lowest[24], most[24];

	printf("rate: %s", explain_rate(rate, client_u64(qp, "rate_bps")));
	if (cap > 0 && cap < allowed)
		printf(", which is rate_cap_bps of its flow; congestion control (%s) would allow "
		       "%s\n",
		       word(trace, "cc"), explain_rate(most, allowed));
	else if (strcmp(word(trace, "cc"), "none") == 0)
		printf(", fixed: cc = none\n");
	else
		printf(", set by congestion control (%s)\n", word(trace, "cc"));
	if (strcmp(word(trace, "cc"), "dcqcn") == 0)
		printf("      target %s, alpha %.4f\n",
		       explain_rate(target, client_u64(qp, "target_rate_bps")),
		       json_number_value(json_object_get(qp, "alpha")));
	printf("since the start: %" PRIu64 " CNPs taken, %" PRIu64 " ignored, %" PRIu64
	       " cuts, lowest rate %s, %" PRIu64 " packets sent again\n",
	       client_u64(qp, "cnps_handled"), client_u64(qp, "cnps_ignored"),
	       client_u64(qp, "rate_cuts"), explain_rate(lowest, client_u64(qp, "min_rate_bps")),
	       client_u64(qp, "retransmitted_packets"));
}

/* If the QP sends no data, the peer controls the rate: say so. */
static bool
explain_silent(const json_t *trace)
{
	if (client_u64(trace, "sends_data") != 0)
		return false;
	if (strcmp(word(trace, "verb"), "read") == 0)
		printf("the QP sends READ requests: the responder at the peer sends the data and "
		       "has the congestion control; run explain there\n");
	else
		printf("the QP only answers: the peer decides the rate of the data; run explain "
		       "there\n");
	return true;
}

static void
print_last_cut(const struct explain_event *events, size_t n, uint64_t now_ns)
{
	for (size_t i = n; i-- > 0;) {
		if (!(events[i].did & CC_DID_CUT))
			continue;
		printf("last cut: %.4f ms ago\n",
		       (double)(now_ns > events[i].at_ns ? now_ns - events[i].at_ns : 0) /
			       NS_PER_MS);
		return;
	}
}

static void
print_length(const json_t *trace, uint64_t now_ns)
{
	uint64_t rows = client_u64(trace, "end");
	/* The first row is the initial state, not an event, unless the trace is from the start. */
	uint64_t n = rows > 0 && client_u64(trace, "trace_qps") == 0 ? rows - 1 : rows;

	printf("traced for %.1f s: %" PRIu64 " event%s%s\n",
	       (double)(now_ns - client_u64(trace, "began_ns")) / (double)NS_PER_SEC, n,
	       n == 1 ? "" : "s", n == 0 ? "; congestion control has done nothing since" : "");
	if (client_u64(trace, "lost") > 0)
		printf("the first %" PRIu64 " rows are lost\n", client_u64(trace, "lost"));
}

static int
print_story(const json_t *trace, const char *id, uint64_t now_ns)
{
	const json_t *rows = json_object_get(trace, "rows");
	size_t n = json_array_size(rows);
	struct explain_event *events;
	int rc = -1;

	if (client_u64(trace, "traced") == 0) {
		printf("not traced: \"quenchctl trace qp %s on\" records the causes of rate "
		       "changes\n",
		       id);
		return 0;
	}
	events = trace_events(rows);
	if (events != NULL) {
		print_last_cut(events, n, now_ns);
		print_length(trace, now_ns);
		rc = explain_story(stdout, events, (uint32_t)n, STORY_LINES);
		if (n > STORY_LINES)
			printf("show trace %s prints each\n", id);
	}
	free(events);
	if (rc == 0)
		return 0;
	say_error("no memory");
	return APP_FAILED;
}

static int
ask_qp(struct client *c, const json_t *trace, json_t **qp)
{
	char command[64];

	snprintf(command, sizeof(command), "/quench/qp,%" PRIu64, client_u64(trace, "local_qpn"));
	return client_ask(c, command, qp);
}

static int
print(const json_t *trace, const json_t *qp, const char *id, uint64_t now_ns)
{
	printf("QP %" PRIu64 " (%s#%" PRIu64 ") to QP %" PRIu64 ", %s\n",
	       client_u64(trace, "local_qpn"), word(trace, "flow"), client_u64(trace, "qp"),
	       client_u64(qp, "peer_qpn"), word(trace, "verb"));
	if (explain_silent(trace))
		return 0;
	print_wait(qp);
	print_rate(qp, trace);
	return print_story(trace, id, now_ns);
}

int
command_explain(const struct command *command, struct client *c, const struct ctl_options *o,
		const char *const params[COMMAND_PARAMS])
{
	json_t *trace = NULL, *qp = NULL, *info = NULL;
	int rc = check_params(params);

	(void)command;
	if (rc == 0)
		rc = trace_read_all(c, params[0], &trace);
	if (rc == 0)
		rc = ask_qp(c, trace, &qp);
	if (rc == 0)
		rc = client_ask(c, "/quench/info", &info);
	if (rc == 0 && o->json) {
		json_t *both = json_pack("{s:O, s:O}", "now", qp, "trace", trace);

		json_dumpf(both, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(both);
	} else if (rc == 0) {
		rc = print(trace, qp, params[0], client_u64(info, "elapsed_ns"));
	}
	json_decref(trace);
	json_decref(qp);
	json_decref(info);
	return rc;
}
