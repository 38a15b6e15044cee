/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/trace_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* @return what is behind a number up to max, and blanks and commas after it; NULL: none. */
static const char *
parse(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno != 0 || *out > max)
		return NULL;
	return end + strspn(end, " \t,\r\n");
}

static bool
parse_line(const char *text, struct flow_pair *out)
{
	uint64_t src, dst;

	text = parse(text + (*text == 'h'), UINT16_MAX, &src);
	if (text != NULL)
		text = parse(text + (*text == 'h'), UINT16_MAX, &dst);
	if (text != NULL)
		text = parse(text, WORKLOAD_MAX_BYTES, &out->bytes);
	if (text != NULL)
		text = parse(text, 3600 * NS_PER_SEC, &out->at_ns);
	if (text == NULL || *text != '\0' || src == 0 || dst == 0)
		return false;
	out->src = (uint16_t)src;
	out->dst = (uint16_t)dst;
	return true;
}

static int
add_line(struct flow_params *flow, const char *line, unsigned int number, char *why,
	 size_t why_size)
{
	struct flow_pair *pairs = flow->pairs;

	line += strspn(line, " \t\r\n");
	if (*line == '\0' || *line == '#' || (isalpha((unsigned char)*line) && *line != 'h'))
		return 0;
	if ((flow->n_pairs & (flow->n_pairs - 1)) == 0)
		pairs = realloc(pairs,
				(flow->n_pairs == 0 ? 1 : 2ull * flow->n_pairs) * sizeof(*pairs));
	if (pairs == NULL || flow->n_pairs == TRACE_MAX_MESSAGES) {
		snprintf(why, why_size, "a million messages at most, and memory for them");
		return -EINVAL;
	}
	flow->pairs = pairs;
	if (!parse_line(line, &pairs[flow->n_pairs])) {
		snprintf(why, why_size,
			 "src, dst, bytes up to 2^31 and a start up to 3600 s in ns in line %u",
			 number);
		return -EINVAL;
	}
	flow->n_pairs++;
	return 0;
}

static int
read_lines(FILE *file, struct flow_params *flow, char *why, size_t why_size)
{
	unsigned int number = 0;
	char line[256];
	int rc = 0;

	while (rc == 0 && fgets(line, sizeof(line), file) != NULL)
		rc = add_line(flow, line, ++number, why, why_size);
	if (rc == 0 && (ferror(file) || flow->n_pairs == 0)) {
		snprintf(why, why_size, "a file that can be read and has a message");
		rc = -EINVAL;
	}
	return rc;
}

int
trace_file_read(struct config *cfg, const char *section, struct flow_params *flow,
		struct config_error *err)
{
	char path[4096], why[160];
	FILE *file;
	int rc;

	if (flow->pattern != FLOW_TRACE || strcmp(flow->trace, "none") == 0)
		return 0;
	config_beside(cfg, flow->trace, path, sizeof(path));
	file = fopen(path, "re");
	if (file == NULL) {
		snprintf(why, sizeof(why), "a file that can be read (%s)", strerror(errno));
		return config_refuse(cfg, section, "trace", why, err);
	}
	rc = read_lines(file, flow, why, sizeof(why));
	fclose(file);
	return rc == 0 ? 0 : config_refuse(cfg, section, "trace", why, err);
}
