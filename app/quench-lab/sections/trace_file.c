/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/sections/trace_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/decimal.h"
#include "base/numbers/units.h"
#include "ctl/ini/file.h"

#define FIELDS 5u
/* Without the last one. */
#define LEAST_FIELDS 4u
#define BLANKS " \t\r\n"
/* Characters of a field shown in an error line. */
#define SHOWN_CHARS 40

/* The fields of a line, in order. */
static const struct {
	const char *name, *expected;
	uint64_t min, max;
} fields[FIELDS] = {
	{"src", "a host's number such as 3 or h3", 1, TOPOLOGY_MAX_HOSTS},
	{"dst", "a host's number such as 3 or h3", 1, TOPOLOGY_MAX_HOSTS},
	{"bytes", "a whole number up to 2^50", 0, 1ull << 50},
	{"start_ns", "a whole number of ns up to 3600 s", 0, 3600 * NS_PER_SEC},
	{"after", "the number of an earlier message, from 1 on, or 0", 0, FLOW_MOST_MESSAGES},
};

/* Position for error lines. */
struct place {
	const char *path, *section;
	unsigned int line;
	struct config_error *err;
};

/* "t.csv:3: src = T1/1: expected a host's number such as 3 or h3 ([flow x] trace)" */
static int
refuse(const struct place *at, const char *what, const char *value, const char *expected)
{
	char shown[SHOWN_CHARS + 1];

	snprintf(shown, sizeof(shown), "%.*s", (int)strcspn(value, "\r\n"), value);
	config_error_set(at->err, at->path, "%u: %s = %s: expected %s ([%s] trace)", at->line, what,
			 shown, expected, at->section);
	return -EINVAL;
}

/*
 * Fields are separated by a comma, by blanks, or by both: between two commas is a field, which may
 * be empty. @return the number of fields, at most FIELDS + 1.
 */
static unsigned int
split(char *line, char *words[FIELDS + 1])
{
	unsigned int n = 0;
	bool comma = false;

	line += strspn(line, BLANKS);
	while ((*line != '\0' || comma) && n <= FIELDS) {
		char *end = line + strcspn(line, BLANKS ",");
		char *next = end + strspn(end, BLANKS);

		comma = *next == ',';
		next += comma;
		words[n++] = line;
		line = next + strspn(next, BLANKS);
		*end = '\0';
	}
	return n;
}

/* Is the line a heading? Each field must begin with a letter, and none may be a host such as h3. */
static bool
is_heading(char *const words[FIELDS + 1], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		bool host = words[i][0] == 'h' && isdigit((unsigned char)words[i][1]);

		if (!isalpha((unsigned char)words[i][0]) || host)
			return false;
	}
	return true;
}

static int
parse_field(const struct place *at, unsigned int field, const char *text, uint64_t *out)
{
	bool is_host = field < 2;
	const char *digits = text + (is_host && *text == 'h');

	if (decimal_parse(digits, fields[field].min, fields[field].max, out))
		return 0;
	return refuse(at, fields[field].name, text, fields[field].expected);
}

static int
parse_pair(const struct place *at, char *const words[FIELDS + 1], unsigned int n,
	   struct flow_pair *out, uint32_t *after)
{
	uint64_t values[FIELDS] = {0};

	if (n > FIELDS)
		return refuse(at, "a sixth field", words[FIELDS],
			      "src, dst, bytes, start_ns and after");
	/* As tables are exported, the last field of a message that does not wait is empty. */
	if (n == FIELDS && words[FIELDS - 1][0] == '\0')
		n = LEAST_FIELDS;
	for (unsigned int i = 0; i < LEAST_FIELDS || i < n; i++)
		if (parse_field(at, i, i < n ? words[i] : "", &values[i]) != 0)
			return -EINVAL;
	*after = (uint32_t)values[FIELDS - 1];
	*out = (struct flow_pair){.src = (uint32_t)values[0],
				  .dst = (uint32_t)values[1],
				  .bytes = values[2],
				  .at_ns = values[3]};
	return 0;
}

/* Make room for one more message. The array's size is a power of two. */
static int
make_room(const struct place *at, struct flow_params *flow)
{
	struct flow_pair *pairs;
	char text[24];

	if (flow->n_pairs < FLOW_MOST_MESSAGES && (flow->n_pairs & (flow->n_pairs - 1)) != 0)
		return 0;
	pairs = flow->n_pairs == FLOW_MOST_MESSAGES
			? NULL
			: realloc(flow->pairs,
				  (flow->n_pairs == 0 ? 1 : 2ull * flow->n_pairs) * sizeof(*pairs));
	if (pairs != NULL) {
		flow->pairs = pairs;
		return 0;
	}
	snprintf(text, sizeof(text), "%" PRIu32, flow->n_pairs + 1);
	return refuse(at, "messages", text, "at most a million, and memory for them");
}

/* Room for what all messages wait for, when the first one does. It is touched as it is used. */
static int
make_after(const struct place *at, struct flow_params *flow, const char *word)
{
	flow->trace_after = calloc(FLOW_MOST_MESSAGES, sizeof(*flow->trace_after));
	if (flow->trace_after != NULL)
		return 0;
	return refuse(at, fields[FIELDS - 1].name, word, "memory for a million such numbers");
}

static int
add_line(const struct place *at, struct flow_params *flow, char *line, size_t bytes)
{
	char *words[FIELDS + 1];
	uint32_t after;
	unsigned int n;

	if (strlen(line) != bytes)
		return refuse(at, "line", line, "a text without a zero byte");
	n = line[strspn(line, BLANKS)] == '#' ? 0 : split(line, words);
	if (n == 0 || (flow->n_pairs == 0 && is_heading(words, n)))
		return 0;
	if (make_room(at, flow) != 0 ||
	    parse_pair(at, words, n, &flow->pairs[flow->n_pairs], &after) != 0)
		return -EINVAL;
	/* So no messages wait for each other in a circle. */
	if (after > flow->n_pairs)
		return refuse(at, fields[FIELDS - 1].name, words[FIELDS - 1],
			      fields[FIELDS - 1].expected);
	if (after > 0 && flow->trace_after == NULL && make_after(at, flow, words[FIELDS - 1]) != 0)
		return -EINVAL;
	if (flow->trace_after != NULL)
		flow->trace_after[flow->n_pairs] = after;
	flow->n_pairs++;
	return 0;
}

static int
read_lines(FILE *file, struct place *at, struct flow_params *flow)
{
	size_t capacity = 0;
	char *line = NULL;
	ssize_t bytes;
	int rc = 0;

	while (rc == 0 && (bytes = getline(&line, &capacity, file)) >= 0) {
		at->line++;
		rc = add_line(at, flow, line, (size_t)bytes);
	}
	free(line);
	return rc;
}

int
trace_file_read(struct config *cfg, const char *section, struct flow_params *flow,
		struct config_error *err)
{
	char path[4096], why[160];
	struct place at = {.path = path, .section = section, .err = err};
	FILE *file;
	bool unread;
	int rc;

	if (flow->pattern != FLOW_TRACE || strcmp(flow->trace, "none") == 0)
		return 0;
	config_beside(cfg, flow->trace, path, sizeof(path));
	file = fopen(path, "re");
	if (file == NULL) {
		snprintf(why, sizeof(why), "a file that can be read (%s)", strerror(errno));
		return config_refuse(cfg, section, "trace", why, err);
	}
	rc = read_lines(file, &at, flow);
	unread = ferror(file) != 0;
	fclose(file);
	if (rc == 0 && (unread || flow->n_pairs == 0))
		rc = config_refuse(cfg, section, "trace",
				   "a file that can be read and has a message", err);
	return rc;
}
