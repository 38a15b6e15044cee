/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows that wait for the ends of others. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/scenario/scenario_parts.h"

/* The next name of a list. @return its length; 0: there is none. */
static size_t
next_name(const char **at, const char **name)
{
	size_t n;

	*at += strspn(*at, ", ");
	*name = *at;
	n = strcspn(*at, ",");
	*at += n;
	while (n > 0 && (*name)[n - 1] == ' ')
		n--;
	return n;
}

static bool
is_called(const struct flow_params *flow, const char *name, size_t n)
{
	return strlen(flow->name) == n && memcmp(flow->name, name, n) == 0;
}

bool
scenario_has_after(const struct flow_params *flow)
{
	return strcmp(flow->after, "none") != 0 && flow->job == NULL;
}

bool
scenario_is_after(const struct flow_params *flow, const struct flow_params *other)
{
	const char *at = flow->after, *name;
	size_t n;

	if (!scenario_has_after(flow))
		return false;
	while ((n = next_name(&at, &name)) > 0)
		if (is_called(other, name, n))
			return true;
	return false;
}

static int
refuse(struct scenario_fault *fault, const struct flow_params *flow, const char *expected)
{
	return scenario_refuse(fault, "flow", flow->name, "after", expected);
}

/* Do all names stand for flows that end? */
static int
check_names(const struct scenario *s, const struct flow_params *flow, struct scenario_fault *fault)
{
	const char *at = flow->after, *name;
	char expected[200];
	uint32_t found = 0;
	size_t n;

	while ((n = next_name(&at, &name)) > 0) {
		const struct flow_params *other = NULL;

		for (uint32_t i = 0; other == NULL && i < s->n_flow_sections; i++)
			if (is_called(&s->flows[i], name, n))
				other = &s->flows[i];
		snprintf(expected, sizeof(expected),
			 "names of sections [flow NAME], separated by commas: there is no "
			 "[flow %.*s]",
			 (int)n, name);
		if (other == NULL)
			return refuse(fault, flow, expected);
		snprintf(expected, sizeof(expected),
			 "flows that end: [flow %s] has no messages, bytes or stop_ns",
			 other->name);
		if (other->pattern != FLOW_TRACE && !workload_ends(&other->work))
			return refuse(fault, flow, expected);
		found++;
	}
	return found > 0 ? 0 : refuse(fault, flow, "none, or names of sections [flow NAME]");
}

/* A flow that this one waits for, and that waits itself; NULL: none. */
static const struct flow_params *
waits_for(const struct scenario *s, const struct flow_params *flow, const bool *waits)
{
	for (uint32_t i = 0; i < s->n_flow_sections; i++)
		if (waits[i] && scenario_is_after(flow, &s->flows[i]))
			return &s->flows[i];
	return NULL;
}

/* Flows that are left when no further one can begin wait in a circle, or for one. */
static int
check_circles(const struct scenario *s, bool *waits, struct scenario_fault *fault)
{
	const struct flow_params *flow = NULL;
	char expected[200];
	bool some = true;

	while (some) {
		some = false;
		for (uint32_t i = 0; i < s->n_flow_sections; i++)
			if (waits[i] && waits_for(s, &s->flows[i], waits) == NULL) {
				waits[i] = false;
				some = true;
			}
	}
	for (uint32_t i = 0; flow == NULL && i < s->n_flow_sections; i++)
		if (waits[i])
			flow = &s->flows[i];
	if (flow == NULL)
		return 0;
	/* After as many steps, the flow is part of the circle. */
	for (uint32_t i = 0; i < s->n_flow_sections; i++)
		flow = waits_for(s, flow, waits);
	snprintf(
		expected, sizeof(expected),
		"flows that do not wait for this one: it waits for [flow %s], which waits for it%s",
		waits_for(s, flow, waits)->name,
		waits_for(s, waits_for(s, flow, waits), waits) == flow ? "" : " in the end");
	return refuse(fault, flow, expected);
}

int
scenario_check_after(const struct scenario *s, struct scenario_fault *fault)
{
	bool *waits = calloc(s->n_flow_sections + 1u, sizeof(*waits));
	int rc = 0;

	if (waits == NULL)
		return scenario_refuse(fault, "flow", "", NULL, "fewer flows: out of memory");
	for (uint32_t i = 0; rc == 0 && i < s->n_flow_sections; i++) {
		waits[i] = scenario_has_after(&s->flows[i]);
		if (waits[i])
			rc = check_names(s, &s->flows[i], fault);
	}
	if (rc == 0)
		rc = check_circles(s, waits, fault);
	free(waits);
	return rc;
}
