// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads DCQCN settings of an mlx5 adapter: the output of "mlxconfig query", or names and values
 * from sysfs (ecn/roce_rp, ecn/roce_np) and debugfs (cc_params), as printed by "grep -r . FOLDER".
 * The names, with their units, are aliases in rp_fields and np_fields; this file parses the rest.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/mlx5/mlnx.h"
#include "base/numbers/array.h"
#include "base/numbers/decimal.h"
#include "base/numbers/units.h"
#include "import/conversion/import_log.h"
#include "import/conversion/import_memory.h"

#define MAX_COLUMNS 4
#define MAX_NAME 63
#define MAX_SEEN 256
#define ALL_PRIOS 0xff

/* Our keys whose names are not mlx5's. */
static const char *const unit_endings[] = {"_bps", "_us", "_bytes", "_pct", "_ns"};
static const char *const own_names[] = {"rp_profile", "np_cnp_moderation", "np_cnp_ecn"};

/* Headings in the output of mlxconfig. */
static const char *const headings[] = {
	"Device", "Name:", "Description:", "Configurations:", "Default", "Next Boot", "Current"};

struct setting {
	unsigned int line;
	char text[128];            /* of the line, for error lines */
	char name[MAX_NAME + 1];   /* lower case, without _P1 */
	char folder[MAX_NAME + 1]; /* folder of the name; "": unknown */
	char *value[MAX_COLUMNS];
	unsigned int n_values;
};

struct mlnx {
	struct nic_config *out;
	struct import_log *log;
	bool other_device;
	unsigned int known;
	uint8_t prios_seen, prios_on;
	unsigned int prio_line;
	struct {
		char name[MAX_NAME + 1], value[32];
	} seen[MAX_SEEN];
	unsigned int n_seen;
};

static bool
begins_with_any(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncasecmp(text, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}

static bool
is_own_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(unit_endings); i++) {
		size_t n = strlen(name), end = strlen(unit_endings[i]);

		if (n > end && strcmp(name + n - end, unit_endings[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(own_names); i++)
		if (strcmp(name, own_names[i]) == 0)
			return true;
	/* The adapter does not use the papers' symbols. */
	return strchr(name, '_') == NULL;
}

static const struct field *
find(struct mlnx *m, const char *name, const struct field_alias **alias, void **object)
{
	const struct field *f;

	if (is_own_name(name))
		return NULL;
	*object = &m->out->nic.rp;
	f = field_find(rp_fields, rp_fields_n, name, alias);
	if (f == NULL) {
		*object = &m->out->nic.np;
		f = field_find(np_fields, np_fields_n, name, alias);
	}
	return f;
}

static void
copy_name(char *to, const char *from, size_t n)
{
	n = n <= MAX_NAME ? n : MAX_NAME;
	for (size_t i = 0; i < n; i++)
		to[i] = (char)tolower((unsigned char)from[i]);
	to[n] = '\0';
}

/*
 * Remove the port: "RPG_AI_RATE_P1" is rpg_ai_rate of port 1. Other ports must have the same value.
 */
static void
cut_port(char *name)
{
	size_t n = strlen(name);

	if (n > 3 && name[n - 3] == '_' && name[n - 2] == 'p' &&
	    isdigit((unsigned char)name[n - 1]))
		name[n - 3] = '\0';
}

/* Split a line, in place, into name, folder and values. @return false: no name. */
static bool
split(char *line, struct setting *s)
{
	char *name = strrchr(line, '/'), *state = NULL, *end;

	s->folder[0] = '\0';
	s->n_values = 0;
	if (name != NULL) {
		char *folder;

		*name++ = '\0';
		folder = strrchr(line, '/');
		folder = folder != NULL ? folder + 1 : line;
		copy_name(s->folder, folder, strlen(folder));
	} else {
		name = line;
	}
	end = name + strcspn(name, " \t=:");
	copy_name(s->name, name, (size_t)(end - name));
	cut_port(s->name);
	for (char *w = *end != '\0' ? strtok_r(end + 1, " \t=:", &state) : NULL; w != NULL;
	     w = strtok_r(NULL, " \t=:", &state)) {
		if (s->n_values == MAX_COLUMNS)
			return false;
		s->value[s->n_values++] = w;
	}
	return s->name[0] != '\0';
}

/* "True(1)" becomes 1, the firmware's value in brackets. In place. */
static void
cut_word(char *value)
{
	char *open = strchr(value, '('), *close = open != NULL ? strchr(open, ')') : NULL;

	if (close == NULL || close[1] != '\0')
		return;
	*close = '\0';
	memmove(value, open + 1, strlen(open + 1) + 1);
}

static int
refuse(struct mlnx *m, const struct setting *s, const char *expected)
{
	return import_refuse(m->log, "%u: %s: expected %s", s->line, s->text, expected);
}

static void
lose(struct mlnx *m, const struct setting *s, const char *why)
{
	import_lost(m->log, "%u: %s: %s", s->line, s->text, why);
}

/* Is this the first occurrence of the setting? A repeated one must have the same value. */
static bool
is_first(struct mlnx *m, const struct setting *s, const char *value)
{
	for (unsigned int i = 0; i < m->n_seen; i++) {
		if (strcmp(m->seen[i].name, s->name) != 0)
			continue;
		if (strcmp(m->seen[i].value, value) != 0)
			lose(m, s,
			     "value of another port, or a second value: the first one is "
			     "used");
		return false;
	}
	if (m->n_seen < MAX_SEEN) {
		snprintf(m->seen[m->n_seen].name, sizeof(m->seen[0].name), "%s", s->name);
		snprintf(m->seen[m->n_seen].value, sizeof(m->seen[0].value), "%.31s", value);
		m->n_seen++;
	}
	return true;
}

/* Of the values Default, Current and Next Boot (mlxconfig -e), use Current. */
static char *
value_in_force(struct mlnx *m, const struct setting *s)
{
	if (s->n_values != 3)
		return s->value[0];
	if (strcmp(s->value[1], s->value[2]) != 0)
		import_note(m->log, "%u: %s: the current value is used, not that of the next boot",
			    s->line, s->text);
	return s->value[1];
}

/* Scope of the adapter's CNP moderation. */
static int
read_moderation(struct mlnx *m, const struct setting *s, const char *value)
{
	static const struct {
		const char *word;
		enum np_moderation is;
	} words[] = {{"PER_QP", NP_PER_QP}, {"PER_IP", NP_PER_IP_PAIR}, {"PER_PORT", NP_PER_PORT}};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strncmp(value, words[i].word, strlen(words[i].word)) == 0) {
			m->out->nic.np.np_cnp_moderation = (int)words[i].is;
			return 0;
		}
	}
	if (strncmp(value, "DEVICE_DEFAULT", 14) == 0)
		import_note(m->log, "%u: %s: np_cnp_moderation = qp is assumed", s->line, s->text);
	else
		lose(m, s, "expected PER_QP, PER_IP or PER_PORT");
	return 0;
}

/* Parse a number from 0 to max. @return 0 or -EINVAL. */
static int
number(struct mlnx *m, const struct setting *s, char *value, uint64_t max, uint64_t *out)
{
	char expected[64];

	cut_word(value);
	if (decimal_parse(value, 0, max, out))
		return 0;
	snprintf(expected, sizeof(expected), "a whole number from 0 to %" PRIu64, max);
	return refuse(m, s, expected);
}

/* Read settings that do not correspond to a single key of ours. @return 1: another setting. */
static int
read_special(struct mlnx *m, const struct setting *s, char *value)
{
	bool is_prio = strcmp(s->folder, "enable") == 0 && isdigit((unsigned char)s->name[0]);
	uint64_t n;
	int rc;

	if (strcmp(s->name, "roce_cc_cnp_moderation") == 0) {
		m->known++;
		return is_first(m, s, value) ? read_moderation(m, s, value) : 0;
	}
	if (strcmp(s->name, "roce_cc_prio_mask") == 0) {
		rc = number(m, s, value, ALL_PRIOS, &n);
		m->known++;
		if (rc == 0 && is_first(m, s, value)) {
			m->prios_seen = ALL_PRIOS;
			m->prios_on = (uint8_t)n;
			m->prio_line = s->line;
		}
		return rc;
	}
	if (strcmp(s->name, "np_cnp_prio_mode") == 0) {
		rc = number(m, s, value, 1, &n);
		m->known++;
		if (rc == 0 && n != 0)
			lose(m, s, "CNPs use the priority of np_cnp_prio");
		return rc;
	}
	if (!is_prio || s->name[1] != '\0' || s->name[0] > '7')
		return 1;
	rc = number(m, s, value, 1, &n);
	m->known++;
	m->prio_line = s->line;
	m->prios_seen |= (uint8_t)(1u << (s->name[0] - '0'));
	m->prios_on |= (uint8_t)(n << (s->name[0] - '0'));
	return rc;
}

static int
read_setting(struct mlnx *m, const struct setting *s)
{
	const struct field_alias *alias;
	char expected[FIELD_TEXT_SIZE];
	const struct field *f;
	void *object = NULL;
	char *value;
	int rc;

	if (m->other_device) {
		lose(m, s, "belongs to a second device; a file describes one port");
		return 0;
	}
	f = find(m, s->name, &alias, &object);
	value = s->n_values > 0 ? value_in_force(m, s) : NULL;
	rc = value != NULL ? read_special(m, s, value) : 1;
	if (rc <= 0)
		return rc;
	if (f == NULL) {
		lose(m, s, "not a DCQCN setting with a counterpart");
		return 0;
	}
	m->known++;
	field_expected(f, alias, expected, sizeof(expected));
	if (value == NULL)
		return refuse(m, s, expected);
	cut_word(value);
	/* Values are bare numbers: a suffix means another dialect. */
	if (value[strspn(value, "0123456789")] != '\0')
		return refuse(m, s, expected);
	if (!is_first(m, s, value))
		return 0;
	return field_parse(f, alias, value, object, NULL, 0) == 0 ? 0 : refuse(m, s, expected);
}

static bool
is_heading(struct mlnx *m, const char *line)
{
	if (line[strspn(line, "-=")] == '\0' || *line == '#')
		return true;
	if (!begins_with_any(line, headings, ARRAY_LEN(headings)))
		return false;
	if (strncmp(line, "Device #", 8) == 0)
		m->other_device = atoi(line + 8) > 1;
	return true;
}

/* Copy the line for messages, with one blank between words. */
static void
squeeze(char *to, size_t size, const char *from)
{
	size_t n = 0;

	for (; *from != '\0' && n + 1 < size; from++)
		if (!isspace((unsigned char)*from) || !isspace((unsigned char)from[1]))
			to[n++] = *from == '\t' ? ' ' : *from;
	to[n] = '\0';
}

static int
read_line(struct mlnx *m, char *line, unsigned int number_of)
{
	struct setting s = {.line = number_of};
	size_t n;

	/* "*" marks values that differ from the default. */
	line += strspn(line, " \t*");
	for (n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]); n--)
		line[n - 1] = '\0';
	if (*line == '\0' || is_heading(m, line))
		return 0;
	squeeze(s.text, sizeof(s.text), line);
	if (!split(line, &s)) {
		lose(m, &s, "expected a name and a value");
		return 0;
	}
	return read_setting(m, &s);
}

/* Set cc: in quench, congestion control is on for all priorities or for none. */
static void
set_cc(struct mlnx *m)
{
	if (m->prios_seen == 0)
		return;
	if (m->prios_on == 0)
		m->out->nic.cc = CC_NONE;
	else if (m->prios_on != m->prios_seen)
		import_lost(m->log,
			    "%u: enabled for priorities 0x%02x only; cc applies to all "
			    "priorities or none",
			    m->prio_line, m->prios_on);
}

static int
read_lines(struct mlnx *m, char *text)
{
	unsigned int n = 0;
	char *next;
	int rc = 0;

	for (char *line = text; rc == 0 && line != NULL; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		rc = read_line(m, line, ++n);
	}
	if (rc == 0 && m->known == 0)
		return import_refuse(m->log,
				     " expected a listing of mlxconfig query, or names of sysfs or "
				     "debugfs with values: RPG_AI_RATE_P1 5, rpg_ai_rate:5");
	return rc;
}

int
import_mlnx(const char *text, size_t size, struct nic_config *out, struct import_log *log)
{
	struct mlnx *m = import_alloc(1, sizeof(*m));
	char *copy = import_copy(text, size);
	int rc;

	m->out = out;
	m->log = log;
	import_nic_begin(out);
	rc = memchr(text, '\0', size) != NULL ? import_refuse(log, " a zero byte: expected text")
					      : read_lines(m, copy);
	set_cc(m);
	if (out->nic.rp.rp_max_rate_bps > out->nic.link_speed_bps)
		out->nic.link_speed_bps = out->nic.rp.rp_max_rate_bps;
	import_note(log,
		    " the listing does not give the speed of the port: link_speed_bps = %" PRIu64
		    "G is assumed",
		    out->nic.link_speed_bps / GBPS);
	import_note(log, " the listing has no address and no peer: ip and [flow peer] are "
			 "examples to replace");
	if (rc == 0)
		rc = import_nic_finish(out, log);
	if (rc != 0)
		nic_config_free(out);
	free(copy);
	free(m);
	return rc;
}
