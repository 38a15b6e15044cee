/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/metrics/openmetrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "quenchctl/socket/utf8.h"

const char *const metrics_content_types[METRICS_FORMATS] = {
	[METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	[METRICS_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
};

struct family {
	struct metric metric;
	char help[256];
	struct text samples; /* {labels} value */
};

struct metrics {
	struct family *families;
	size_t n, capacity;
	json_t *by_name; /* index of a family */
	unsigned int clashes;
	bool failed;
};

static bool
make_room(struct text *t, size_t more)
{
	size_t capacity = t->capacity == 0 ? 256 : t->capacity;
	char *at;

	while (capacity - t->used <= more)
		capacity *= 2;
	if (capacity == t->capacity)
		return true;
	at = realloc(t->at, capacity);
	if (at == NULL) {
		t->failed = true;
		return false;
	}
	t->at = at;
	t->capacity = capacity;
	return true;
}

void
text_add(struct text *t, const char *format, ...)
{
	va_list args, again;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	if (n >= 0 && !t->failed && make_room(t, (size_t)n)) {
		vsnprintf(t->at + t->used, (size_t)n + 1, format, again);
		t->used += (size_t)n;
	}
	va_end(again);
	va_end(args);
}

void
text_free(struct text *t)
{
	free(t->at);
	*t = (struct text){0};
}

/* Number of leading bytes of s that need no escape. */
static size_t
plain_bytes(const char *s, const char *special)
{
	size_t plain = 0, n;

	while (s[plain] != '\0' && strchr(special, s[plain]) == NULL &&
	       (n = utf8_char_bytes(s + plain)) > 0)
		plain += n;
	return plain;
}

/*
 * Escape as the formats require: quotes only within quotes. Bytes that are not UTF-8 become '?',
 * because a single one would make a scraper refuse the text of all programs.
 */
static void
add_escaped(struct text *t, const char *s, bool quotes)
{
	const char *special = quotes ? "\n\\\"" : "\n\\";

	while (*s != '\0') {
		size_t plain = plain_bytes(s, special);

		text_add(t, "%.*s", (int)plain, s);
		s += plain;
		if (*s != '\0' && strchr(special, *s) == NULL)
			text_add(t, "?");
		else if (*s != '\0')
			text_add(t, "\\%c", *s == '\n' ? 'n' : *s);
		s += *s != '\0';
	}
}

void
text_add_label(struct text *t, const char *name, const char *value)
{
	text_add(t, "%s%s=\"", t->used > 0 ? "," : "", name);
	add_escaped(t, value, true);
	text_add(t, "\"");
}

/* Unit by the last word of a key, and the metric's base unit (OpenMetrics, "Units"). */
static const struct unit {
	const char *word, *unit;
	unsigned int divide_by, digits;
} units[] = {
	{"_ns", "seconds", 1000000000, 9},  {"_us", "seconds", 1000000, 6},
	{"_bps", "bytes_per_second", 8, 3}, {"_ppm", "ratio", 1000000, 6},
	{"_octets", "bytes", 1, 0},         {"_bytes", "bytes", 1, 0},
	{"_packets", "packets", 1, 0},      {"_frames", "frames", 1, 0},
};

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

struct metric
metric_of(const char *object, const char *key, const char *more, bool counter)
{
	struct metric m = {.counter = counter, .unit = "", .divide_by = 1};
	size_t n = strlen(object);
	char word[METRIC_CHARS], *priority;

	/* Drop the object's name from a key: rp_cnp_handled of rp becomes cnp_handled. */
	if (strncmp(key, object, n) == 0 && key[n] == '_')
		key += n + 1;
	snprintf(word, sizeof(word), "%s%s", key, ends_with(key, more) ? "" : more);
	/* rx_prioN_pause: the priority is a label. */
	priority = strstr(word, "_prioN");
	if (priority != NULL)
		memmove(priority, priority + strlen("_prioN"),
			strlen(priority + strlen("_prioN")) + 1);
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		const struct unit *u = &units[i];

		if (!ends_with(word, u->word))
			continue;
		word[strlen(word) - strlen(u->word)] = '\0';
		m.unit = u->unit;
		m.divide_by = u->divide_by;
		m.digits = u->digits;
		break;
	}
	snprintf(m.name, sizeof(m.name), "quench_%s%s%s%s%s", object, *word != '\0' ? "_" : "",
		 word, *m.unit != '\0' ? "_" : "", m.unit);
	return m;
}

bool
metric_value(const struct metric *metric, const json_t *v, char *text, size_t size)
{
	long long n = json_integer_value(v), whole, part;
	const char *word = json_string_value(v);

	/*
	 * Leave out a negative counter, because parsers of OpenMetrics would refuse the whole text.
	 */
	if (metric->counter && json_number_value(v) < 0)
		return false;
	if (json_is_real(v)) {
		snprintf(text, size, "%.9g", json_real_value(v));
		return true;
	}
	if (json_is_boolean(v))
		n = json_is_true(v);
	else if (word != NULL)
		n = strcmp(word, "up") == 0 || strcmp(word, "stormed") == 0;
	else if (!json_is_integer(v))
		return false;
	whole = n / metric->divide_by;
	part = llabs(n % metric->divide_by);
	if (metric->digits == 0)
		snprintf(text, size, "%lld", n);
	else if (metric->divide_by == 8)
		snprintf(text, size, "%lld.%03lld", whole, part * 125);
	else
		snprintf(text, size, "%s%lld.%0*lld", n < 0 && whole == 0 ? "-" : "", whole,
			 (int)metric->digits, part);
	return true;
}

struct metrics *
metrics_new(void)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (m != NULL)
		m->by_name = json_object();
	return m;
}

void
metrics_free(struct metrics *m)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < m->n; i++)
		text_free(&m->families[i].samples);
	free(m->families);
	json_decref(m->by_name);
	free(m);
}

static struct family *
find(struct metrics *m, const struct metric *metric, const char *help)
{
	const json_t *index = json_object_get(m->by_name, metric->name);
	struct family *f;

	if (index != NULL)
		return &m->families[json_integer_value(index)];
	if (m->n == m->capacity) {
		f = realloc(m->families, (2 * m->capacity + 64) * sizeof(*f));
		if (f == NULL) {
			m->failed = true;
			return NULL;
		}
		m->families = f;
		m->capacity = 2 * m->capacity + 64;
	}
	f = &m->families[m->n];
	*f = (struct family){.metric = *metric};
	snprintf(f->help, sizeof(f->help), "%s", help);
	json_object_set_new(m->by_name, metric->name, json_integer((json_int_t)m->n++));
	return f;
}

void
metrics_add(struct metrics *m, const struct metric *metric, const char *help, const char *labels,
	    const char *value)
{
	struct family *f = find(m, metric, help);

	if (f != NULL)
		text_add(&f->samples, "%s%s%s%s%s %s\n", metric->name,
			 f->metric.counter ? "_total" : "", *labels != '\0' ? "{" : "", labels,
			 *labels != '\0' ? "}" : "", value);
}

void
metrics_merge(struct metrics *to, const struct metrics *from)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct family *f = &from->families[i];
		struct family *known = find(to, &f->metric, f->help);

		if (known != NULL && known->metric.counter != f->metric.counter)
			to->clashes++;
		else if (known != NULL && f->samples.used > 0)
			text_add(&known->samples, "%s", f->samples.at);
		to->failed = to->failed || known == NULL || f->samples.failed;
	}
	to->failed = to->failed || from->failed;
}

unsigned int
metrics_clashes(const struct metrics *m)
{
	return m->clashes;
}

static void
print_family(const struct family *f, enum metrics_format format, struct text *text)
{
	const struct metric *m = &f->metric;
	/*
	 * In the older format these lines have the name of the samples, in OpenMetrics that of the
	 * family.
	 */
	const char *total = format == METRICS_TEXT && m->counter ? "_total" : "";

	text_add(text, "# HELP %s%s ", m->name, total);
	add_escaped(text, f->help, format == METRICS_OPENMETRICS);
	text_add(text, "\n# TYPE %s%s %s\n", m->name, total, m->counter ? "counter" : "gauge");
	if (format == METRICS_OPENMETRICS && *m->unit != '\0')
		text_add(text, "# UNIT %s %s\n", m->name, m->unit);
	if (f->samples.used > 0)
		text_add(text, "%s", f->samples.at);
	text->failed = text->failed || f->samples.failed;
}

void
metrics_print(const struct metrics *m, enum metrics_format format, struct text *text)
{
	for (size_t i = 0; i < m->n; i++)
		print_family(&m->families[i], format, text);
	if (format == METRICS_OPENMETRICS)
		text_add(text, "# EOF\n");
	text->failed = text->failed || m->failed;
}
