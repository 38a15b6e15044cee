/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/scenario/scenario_warn.h"

#include <stdio.h>

#include "runtime/notice/say.h"

static void
warn_late(const struct config *cfg, const struct scenario *s, const char *word, const char *name,
	  const char *key, const char *effect)
{
	char section[FLOW_NAME_CHARS + 16], end[FIELD_TEXT_SIZE], expected[FIELD_TEXT_SIZE + 64];
	const struct field_alias *alias;
	struct config_error err;

	field_format(field_find(fabric_fields, fabric_fields_n, "duration_ns", &alias), &s->fabric,
		     end, sizeof(end));
	snprintf(expected, sizeof(expected), "a time in the run, which ends at %s: %s", end,
		 effect);
	snprintf(section, sizeof(section), "%s %s", word, name);
	config_refuse(cfg, section, key, expected, &err);
	say_warning("%s", err.text);
}

/* Does a trace have a message at or after the end? */
static bool
has_late_message(const struct flow_params *flow, uint64_t end_ns)
{
	for (uint32_t i = 0; flow->pattern == FLOW_TRACE && i < flow->n_pairs; i++)
		if (flow->pairs[i].at_ns >= end_ns)
			return true;
	for (uint32_t i = 0; i < flow->n_messages; i++)
		if (flow->messages_of_pairs[i].at_ns >= end_ns)
			return true;
	return false;
}

void
scenario_warn(const struct config *cfg, const struct scenario *s)
{
	uint64_t end_ns = s->fabric.duration_ns;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		if (nic_is_uncontrolled(s->nic.cc, flow->verb))
			say_warning(NIC_UNCONTROLLED, flow->name, nic_verb_words[flow->verb],
				    cc_words[s->nic.cc]);
		if (flow->start_ns >= end_ns)
			warn_late(cfg, s, "flow", flow->name, "start_ns", "the flow never starts");
		else if (has_late_message(flow, end_ns))
			warn_late(cfg, s, "flow", flow->name, "trace",
				  "later messages are not sent");
	}
	/* An event at the very end still happens. */
	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->events[i].at_ns > end_ns)
			warn_late(cfg, s, "event", s->events[i].name, "at_ns",
				  "the event never happens");
}
