/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/show/trace_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "runtime/notice/say.h"
#include "nic/measure/trace.h"

int
trace_read(struct trace_reader *r, json_t **reply)
{
	char command[192];
	json_int_t trace;
	int rc;

	snprintf(command, sizeof(command), "/quench/trace,%s,%" PRIu64, r->id, r->next);
	rc = client_ask(r->client, command, reply);
	if (rc != 0)
		return rc;
	trace = json_integer_value(json_object_get(*reply, "trace"));
	if (r->trace != 0 && trace != r->trace) {
		json_decref(*reply);
		*reply = NULL;
		say_error("%s: the trace ended: another client ended it, or nobody read it", r->id);
		return APP_FAILED;
	}
	if (trace != 0)
		r->next = client_u64(*reply, "end");
	r->trace = trace;
	return 0;
}

bool
trace_has_more(const json_t *reply)
{
	return client_u64(reply, "end") < client_u64(reply, "written");
}

/*
 * Read from r->next to the last row that was written before the first reply. Later rows remain for
 * the next call. *lapped: the ring has overwritten rows in the middle.
 */
static int
read_to_end(struct trace_reader *r, json_t **reply, bool *lapped)
{
	int rc = trace_read(r, reply);
	uint64_t until = rc == 0 ? client_u64(*reply, "written") : 0;

	*lapped = false;
	while (rc == 0 && r->next < until && !*lapped) {
		uint64_t at = r->next;
		json_t *page = NULL;

		rc = trace_read(r, &page);
		/* The rows before `until` were written before the first reply. */
		if (rc == 0 && r->next <= at) {
			say_error("%s: trace: expected a row after row %" PRIu64, r->id, at);
			json_decref(page);
			rc = APP_FAILED;
		}
		if (rc != 0) {
			json_decref(*reply);
			*reply = NULL;
			break;
		}
		*lapped = client_u64(page, "lost") > 0;
		json_object_set(*reply, "written", json_object_get(page, "written"));
		/* The reply must not have a gap. */
		if (!*lapped) {
			json_array_extend(json_object_get(*reply, "rows"),
					  json_object_get(page, "rows"));
			json_object_set(*reply, "end", json_object_get(page, "end"));
		}
		json_decref(page);
	}
	return rc;
}

int
trace_read_all(struct client *c, const char *id, json_t **reply)
{
	struct trace_reader r = {.client = c, .id = id};
	bool lapped;
	int rc = read_to_end(&r, reply, &lapped);

	/*
	 * If the program writes rows faster than we read them, try the newest half of the ring,
	 * then a smaller part.
	 */
	for (uint64_t n = NIC_TRACE_ROWS / 2; rc == 0 && lapped && n > 0; n /= 2) {
		uint64_t written = client_u64(*reply, "written");

		json_decref(*reply);
		r.next = written > n ? written - n : 0;
		rc = read_to_end(&r, reply, &lapped);
	}
	if (rc == 0)
		json_object_set(*reply, "lost", json_object_get(*reply, "first"));
	return rc;
}

/* Parse words joined by '+' into a mask; unknown words are ignored. */
static uint32_t
did_of(const char *reason)
{
	uint32_t did = 0;

	while (reason != NULL && *reason != '\0') {
		size_t n = strcspn(reason, "+");

		for (unsigned int i = 0; i < CC_REASONS; i++)
			if (strlen(cc_reason_word(i)) == n &&
			    strncmp(cc_reason_word(i), reason, n) == 0)
				did |= 1u << i;
		reason += n + (reason[n] == '+');
	}
	return did;
}

struct explain_event
trace_event(const json_t *row)
{
	double alpha = json_number_value(json_object_get(row, "alpha"));

	alpha = alpha > 0 ? alpha < 1 ? alpha : 1 : 0;

	return (struct explain_event){
		.at_ns = client_u64(row, "time_ns"),
		.kind = EXPLAIN_RATE,
		.did = did_of(json_string_value(json_object_get(row, "reason"))),
		.after = {.rate_bps = client_u64(row, "rate_bps"),
			  .target_rate_bps = client_u64(row, "target_rate_bps"),
			  .alpha_q32 = (uint64_t)(alpha * (double)Q32_ONE),
			  .rtt_ns = client_u64(row, "rtt_ns"),
			  .time_stage = (uint16_t)client_u64(row, "time_stage"),
			  .byte_stage = (uint16_t)client_u64(row, "byte_stage"),
			  .limited = client_u64(row, "limited") != 0},
	};
}

struct explain_event *
trace_events(const json_t *rows)
{
	struct explain_event *events = calloc(json_array_size(rows) + 1, sizeof(*events));
	json_t *row;
	size_t i;

	if (events == NULL)
		return NULL;
	json_array_foreach (rows, i, row)
		events[i] = trace_event(row);
	explain_set_before(events, (uint32_t)json_array_size(rows));
	return events;
}
