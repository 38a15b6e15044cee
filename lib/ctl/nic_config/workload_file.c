/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/nic_config/workload_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "ctl/ini/file.h"
#include "nic/workload/cdfs.h"

#define LINE_CHARS 256
#define EXPECTED_LINES "lines with bytes and a percentage"

/* Position for error lines. */
struct place {
	const char *path, *section;
	unsigned int line;
	struct config_error *err;
};

/* "a.cdf:3: expected lines with bytes and a percentage ([flow x] message_cdf)". The line itself is
 * not shown: who may change a program may not read each file that the program may. */
static int
refuse(const struct place *at, const char *expected)
{
	config_error_at(at->err, at->path, at->line, " expected %s ([%s] message_cdf)", expected,
			at->section);
	return -EINVAL;
}

/* "bytes percent", or nothing. @return 1 a point, 0 none, -EINVAL something else. */
static int
read_point(const char *line, uint64_t *bytes, double *percent)
{
	char *end;

	line += strspn(line, " \t\r\n");
	if (*line == '\0' || *line == '#')
		return 0;
	if (*line < '0' || *line > '9')
		return -EINVAL;
	*bytes = strtoull(line, &end, 10);
	if (*end != ' ' && *end != '\t')
		return -EINVAL;
	line = end;
	*percent = strtod(line, &end);
	if (end == line)
		return -EINVAL;
	end += strspn(end, " \t\r\n");
	return *end != '\0' && *end != '#' ? -EINVAL : 1;
}

/* Append the point of a line, if it has one. */
static int
add_line(const struct place *at, struct workload_cdf *cdf, const char *line)
{
	uint64_t bytes = 0, last_bytes = cdf->n > 0 ? cdf->bytes[cdf->n - 1] : 0;
	uint64_t last_q32 = cdf->n > 0 ? cdf->share_q32[cdf->n - 1] : 0, share_q32;
	double percent = 0;
	int rc = read_point(line, &bytes, &percent);

	if (rc == 0)
		return 0;
	if (rc < 0)
		return refuse(at, EXPECTED_LINES);
	if (cdf->n == WORKLOAD_CDF_POINTS)
		return refuse(at, "at most 256 lines of sizes");
	if (!(percent >= 0 && percent <= 100))
		return refuse(at, "a percentage from 0 to 100");
	share_q32 = (uint64_t)(percent / 100 * (double)Q32_ONE + 0.5);
	if (bytes > WORKLOAD_MAX_BYTES)
		return refuse(at, "at most 2^31 bytes");
	if (bytes < last_bytes || share_q32 < last_q32)
		return refuse(at, "neither fewer bytes nor a lower percentage than before");
	cdf->bytes[cdf->n] = bytes;
	cdf->share_q32[cdf->n++] = share_q32;
	return 0;
}

static int
read_points(FILE *file, struct place *at, struct workload_cdf *cdf)
{
	char line[LINE_CHARS];

	while (fgets(line, sizeof(line), file) != NULL) {
		at->line++;
		if (strlen(line) + 1 == sizeof(line) && *line != '#')
			return refuse(at, "a line of at most 254 characters");
		if (add_line(at, cdf, line) < 0)
			return -EINVAL;
		/* The rest of a long comment. */
		while (strchr(line, '\n') == NULL && fgets(line, sizeof(line), file) != NULL)
			;
	}
	if (ferror(file)) {
		config_error_at(at->err, at->path, 0, " %s", strerror(errno));
		return -EINVAL;
	}
	if (cdf->n == 0) {
		at->line = 0;
		return refuse(at, EXPECTED_LINES ", found none");
	}
	if (workload_cdf_finish(cdf) == 0)
		return 0;
	/* Generators in Python write such files. */
	if (cdf->share_q32[cdf->n - 1] == (Q32_ONE + 50) / 100)
		return refuse(at, "100 % in the last line, not fractions: 15 % is 15, not 0.15");
	return refuse(at, "100 % in the last line");
}

/* A distribution with its count of users: flows and successive configurations share it. */
struct shared_cdf {
	struct workload_cdf cdf;
	unsigned int users;
};

static int
read_file(struct config *cfg, const char *section, const char *name, struct workload_cdf *cdf,
	  struct config_error *err)
{
	char why[160], path[4096];
	struct place at = {.path = path, .section = section, .err = err};
	const char *fault;
	FILE *file;
	int rc;

	config_beside(cfg, name, path, sizeof(path));
	file = config_file_stream(path, &fault);
	if (file == NULL) {
		snprintf(why, sizeof(why), WORKLOAD_CDF_NAMES ", or a file that can be read (%s)",
			 fault);
		return config_refuse(cfg, section, "message_cdf", why, err);
	}
	rc = read_points(file, &at, cdf);
	fclose(file);
	return rc;
}

/* A distribution by its name, or from a file. */
static int
find_cdf(struct config *cfg, const char *section, struct workload *w, struct config_error *err)
{
	struct shared_cdf *shared = calloc(1, sizeof(*shared));

	if (shared == NULL)
		return config_refuse(cfg, section, "message_cdf", "memory for it", err);
	if (!workload_cdf_of(w->message_cdf, &shared->cdf) &&
	    read_file(cfg, section, w->message_cdf, &shared->cdf, err) < 0) {
		free(shared);
		return -EINVAL;
	}
	shared->users = 1;
	w->cdf = &shared->cdf;
	return 0;
}

int
workload_read_cdf(struct config *cfg, const char *section, struct workload *w,
		  const struct workload *known, struct config_error *err)
{
	if (w->message_size != WORKLOAD_CDF)
		return 0;
	if (known == NULL || known->cdf == NULL || strcmp(known->message_cdf, w->message_cdf) != 0)
		return find_cdf(cfg, section, w, err);
	w->cdf = known->cdf;
	workload_share(w);
	return 0;
}

void
workload_share(const struct workload *w)
{
	struct shared_cdf *shared = (struct shared_cdf *)(uintptr_t)w->cdf;

	if (shared != NULL)
		__atomic_add_fetch(&shared->users, 1, __ATOMIC_RELAXED);
}

void
workload_release(struct workload *w)
{
	struct shared_cdf *shared = (struct shared_cdf *)(uintptr_t)w->cdf;

	if (shared != NULL && __atomic_sub_fetch(&shared->users, 1, __ATOMIC_ACQ_REL) == 0)
		free(shared);
	w->cdf = NULL;
}
