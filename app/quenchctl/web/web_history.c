/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/web/web_history.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct web_series {
	char chart[16];
	char name[80];
	float value[WEB_POINTS]; /* NAN: none */
};

static struct web_series *
find(const struct web_history *h, const char *chart, const char *name, unsigned int likely)
{
	/* A program replies in one order, so that a series is nearly always at its place. */
	for (unsigned int i = 0; i < h->n_series; i++) {
		struct web_series *s = &h->series[(likely + i) % h->n_series];

		if (strcmp(s->name, name) == 0 && strcmp(s->chart, chart) == 0)
			return s;
	}
	return NULL;
}

static struct web_series *
find_or_add(struct web_history *h, const char *chart, const char *name, unsigned int likely)
{
	struct web_series *s = find(h, chart, name, likely);

	if (s != NULL || h->n_series == WEB_SERIES)
		return s;
	s = realloc(h->series, (h->n_series + 1) * sizeof(*s));
	if (s == NULL)
		return NULL;
	h->series = s;
	s += h->n_series++;
	snprintf(s->chart, sizeof(s->chart), "%s", chart);
	snprintf(s->name, sizeof(s->name), "%s", name);
	for (unsigned int i = 0; i < WEB_POINTS; i++)
		s->value[i] = NAN;
	return s;
}

static void
remove_empty(struct web_history *h)
{
	unsigned int kept = 0;

	for (unsigned int s = 0; s < h->n_series; s++) {
		bool empty = true;

		for (unsigned int i = 0; empty && i < WEB_POINTS; i++)
			empty = isnan(h->series[s].value[i]);
		if (!empty && kept != s)
			h->series[kept] = h->series[s];
		kept += !empty;
	}
	h->n_series = kept;
}

int
web_history_add(struct web_history *h, uint64_t number, int64_t at_ms, const json_t *charts)
{
	unsigned int at = h->next, likely = 0;
	const char *chart, *name;
	json_t *values, *value;
	int rc = 0;

	h->at_ms[at] = at_ms;
	h->number[at] = number;
	h->next = (at + 1) % WEB_POINTS;
	for (unsigned int i = 0; i < h->n_series; i++)
		h->series[i].value[at] = NAN;
	json_object_foreach ((json_t *)charts, chart, values) {
		json_object_foreach (values, name, value) {
			struct web_series *s = find_or_add(h, chart, name, likely++);

			if (s != NULL)
				s->value[at] = (float)json_number_value(value);
			else if (h->n_series < WEB_SERIES)
				rc = -ENOMEM;
		}
	}
	remove_empty(h);
	return rc;
}

/* @return the number of points from *first on, which are newer than since. */
static unsigned int
points_since(const struct web_history *h, uint64_t since, unsigned int *first)
{
	unsigned int n = 0;

	while (n < WEB_POINTS) {
		unsigned int at = (h->next + WEB_POINTS - 1 - n) % WEB_POINTS;

		if (h->number[at] <= since)
			break;
		n++;
	}
	*first = (h->next + WEB_POINTS - n) % WEB_POINTS;
	return n;
}

static json_t *
values_of(const struct web_series *s, unsigned int first, unsigned int n)
{
	json_t *values = json_array();
	bool any = false;

	for (unsigned int i = 0; i < n; i++) {
		float v = s->value[(first + i) % WEB_POINTS];

		any |= !isnan(v);
		json_array_append_new(values, isnan(v) ? json_null() : json_real(v));
	}
	if (any)
		return values;
	json_decref(values);
	return NULL;
}

json_t *
web_history_since(const struct web_history *h, uint64_t since)
{
	json_t *times = json_array(), *charts = json_object();
	unsigned int first, n = points_since(h, since, &first);

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(times, json_integer(h->at_ms[(first + i) % WEB_POINTS]));
	for (unsigned int i = 0; i < h->n_series; i++) {
		const struct web_series *s = &h->series[i];
		json_t *values = values_of(s, first, n);

		if (values == NULL)
			continue;
		if (json_object_get(charts, s->chart) == NULL)
			json_object_set_new(charts, s->chart, json_object());
		json_object_set_new(json_object_get(charts, s->chart), s->name, values);
	}
	return json_pack("{s:o,s:o}", "at_ms", times, "charts", charts);
}

void
web_history_clear(struct web_history *h)
{
	free(h->series);
	*h = (struct web_history){0};
}
