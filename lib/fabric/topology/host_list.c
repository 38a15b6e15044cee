/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/topology/host_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hosts selected by an item: each step-th of n consecutive ones, of all or of a switch. */
struct choice {
	int64_t sw; /* -1: of all */
	uint32_t first, n, step;
};

/* Parse a number from 1 on, with or without a leading h. @return the rest of the text, or NULL. */
static const char *
parse_number(const char *text, bool may_h, uint32_t *out)
{
	size_t n;

	if (may_h && *text == 'h')
		text++;
	n = strspn(text, "0123456789");
	if (n == 0 || n > 5 || *text == '0')
		return NULL;
	*out = (uint32_t)strtoul(text, NULL, 10);
	return text + n;
}

static int
choose(const char *text, bool may_h, struct choice from, struct choice *out)
{
	uint32_t first, last, step = 1;

	text = parse_number(text, may_h, &first);
	if (text == NULL)
		return -EINVAL;
	last = first;
	if (*text == '-')
		text = parse_number(text + 1, may_h, &last);
	if (text != NULL && *text == ':' && last > first)
		text = parse_number(text + 1, false, &step);
	if (text == NULL || *text != '\0' || last < first)
		return -EINVAL;
	if (last > from.n)
		return -ERANGE;
	*out = (struct choice){.sw = from.sw,
			       .first = first,
			       .n = last - first + 1,
			       .step = step < last ? step : last};
	return 0;
}

static int
hosts_of_switch(const struct topology *t, const char *name, struct choice *out)
{
	int64_t sw = topology_find(t, name);

	if (sw < 0 || !topology_is_switch(t, (uint32_t)sw))
		return -ERANGE;
	*out = (struct choice){.sw = sw, .first = 1, .n = t->switches[sw].n_hosts, .step = 1};
	return 0;
}

static int
parse_item(const struct topology *t, char *item, struct choice *out)
{
	const struct choice all = {.sw = -1, .first = 1, .n = t->n_hosts};
	char *slash = strchr(item, '/');
	struct choice on_switch;
	int rc;

	if (slash != NULL)
		*slash = '\0';
	rc = hosts_of_switch(t, item, &on_switch);
	if (slash == NULL && rc < 0)
		return choose(item, true, all, out);
	if (rc < 0)
		return rc;
	if (slash != NULL)
		return choose(slash + 1, false, on_switch, out);
	*out = on_switch;
	return on_switch.n > 0 ? 0 : -ERANGE;
}

/* Is the number-th of the hosts that the choice is of among those that it selects? */
static bool
has(const struct choice *c, uint32_t number)
{
	return number >= c->first && number < c->first + (uint32_t)c->n &&
	       (number - c->first) % c->step == 0;
}

static void
mark(const struct topology *t, const struct choice *c, bool *chosen)
{
	for (uint32_t h = 1; h <= t->n_hosts; h++) {
		const struct topology_host *host = &t->hosts[h - 1];

		if (c->sw < 0 || host->sw == c->sw)
			chosen[h] |= has(c, c->sw < 0 ? h : host->place + 1u);
	}
}

static int
parse_items(const struct topology *t, const char *list, bool *chosen)
{
	for (const char *at = list;; at++) {
		size_t length;
		struct choice c;
		char item[64];
		int rc;

		at += strspn(at, " ");
		length = strcspn(at, ", ");
		if (length >= sizeof(item))
			return -EINVAL;
		snprintf(item, sizeof(item), "%.*s", (int)length, at);
		rc = parse_item(t, item, &c);
		if (rc < 0)
			return rc;
		mark(t, &c, chosen);
		at += length;
		at += strspn(at, " ");
		if (*at == '\0')
			return 0;
		if (*at != ',')
			return -EINVAL;
	}
}

int32_t
host_list_parse(const struct topology *t, const char *list, uint32_t *out)
{
	bool chosen[TOPOLOGY_MAX_HOSTS + 1], all = strcmp(list, "all") == 0;
	int32_t n = 0;
	int rc = 0;

	memset(chosen, all, (t->n_hosts + 1u) * sizeof(chosen[0]));
	if (!all)
		rc = parse_items(t, list, chosen);
	for (uint32_t h = 1; rc == 0 && h <= t->n_hosts; h++)
		if (chosen[h])
			out[n++] = h;
	return rc < 0 ? rc : n;
}
