/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/scenario/scenario_headroom.h"

#include <inttypes.h>

#include "runtime/notice/say.h"

void
scenario_print_headroom(FILE *out, const struct scenario *s)
{
	struct sw_auto_headroom least = {0}, most = {0};
	uint32_t least_sw = 0, most_sw = 0;

	for (uint32_t i = 0; i < s->topology->n_switches; i++) {
		struct sw_auto_headroom found = scenario_auto_headroom(s, i);

		if (found.most_bytes == 0)
			continue;
		if (least.least_bytes == 0 || found.least_bytes < least.least_bytes) {
			least = found;
			least_sw = i;
		}
		if (found.most_bytes > most.most_bytes) {
			most = found;
			most_sw = i;
		}
	}
	if (most.most_bytes == 0)
		return;
	fprintf(out, "# xoff_bytes = auto is %" PRIu64 " bytes", least.least_bytes);
	if (most.most_bytes > least.least_bytes)
		fprintf(out, " (switch %s, port %u) to %" PRIu64 " bytes (switch %s, port %u)",
			s->topology->switches[least_sw].name, least.least_port, most.most_bytes,
			s->topology->switches[most_sw].name, most.most_port);
	fputc('\n', out);
}

struct headroom_found {
	struct sw_short_headroom first;
	unsigned int groups; /* in all switches */
	uint32_t sw;         /* of the first */
};

/*
 * Groups whose xoff_bytes is below what their link needs. Hosts and switches of the lab react to a
 * pause at once, unless their port has a peer_response_ns.
 */
static struct headroom_found
find_headroom(const struct scenario *s)
{
	struct headroom_found f = {0};

	for (uint32_t i = 0; i < s->topology->n_switches; i++) {
		struct sw_short_headroom found = scenario_short_headroom(s, i);

		if (f.groups == 0) {
			f.first = found;
			f.sw = i;
		}
		f.groups += found.groups;
	}
	return f;
}

/* @param where  "[event NAME] set: ", or "" for the start. */
static void
warn_of_headroom(const struct scenario *s, const struct headroom_found *f, const char *where)
{
	char others[48] = "";

	if (f->groups > 1)
		snprintf(others, sizeof(others), "; so in %u groups in all", f->groups);
	say_warning("%sswitch %s, port %u, lossless group %u: xoff_bytes = %" PRIu64
		    ", but %" PRIu64
		    " bytes may arrive after a pause: frames may be lost%s (doc/buffer.md)",
		    where, s->topology->switches[f->sw].name, f->first.port, f->first.pg,
		    f->first.has_bytes, f->first.needs_bytes, others);
}

void
scenario_warn_headroom(const struct scenario *s)
{
	struct headroom_found start = find_headroom(s);

	if (start.groups > 0)
		warn_of_headroom(s, &start, "");
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct scenario *next = s->events[i].begin.next;
		struct headroom_found f = next != NULL ? find_headroom(next) : start;
		char where[FLOW_NAME_CHARS + 24];

		snprintf(where, sizeof(where), "[event %s] set: ", s->events[i].name);
		if (f.groups > 0 &&
		    (f.groups != start.groups || f.first.has_bytes != start.first.has_bytes))
			warn_of_headroom(next, &f, where);
	}
}
