/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/nic_config/workload_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"

#define LINE_CHARS 256

/* "bytes percent", or nothing. @return 1 a point, 0 none, -EINVAL something else. */
static int
read_point(const char *line, uint64_t *bytes, uint64_t *share_q32)
{
	char *end;
	double percent;

	line += strspn(line, " \t\r\n");
	if (*line == '\0' || *line == '#')
		return 0;
	if (*line < '0' || *line > '9')
		return -EINVAL;
	*bytes = strtoull(line, &end, 10);
	if (*end != ' ' && *end != '\t')
		return -EINVAL;
	line = end;
	percent = strtod(line, &end);
	if (end == line || !(percent >= 0 && percent <= 100))
		return -EINVAL;
	end += strspn(end, " \t\r\n");
	if (*end != '\0' && *end != '#')
		return -EINVAL;
	*share_q32 = (uint64_t)(percent / 100 * (double)Q32_ONE + 0.5);
	return 1;
}

static int
read_points(FILE *file, struct workload_cdf *cdf, char *why, size_t size)
{
	char line[LINE_CHARS];

	for (unsigned int n = 1; fgets(line, sizeof(line), file) != NULL; n++) {
		uint64_t bytes = 0, share_q32 = 0;
		int rc = read_point(line, &bytes, &share_q32);

		if (rc < 0 || (rc > 0 && cdf->n == WORKLOAD_CDF_POINTS)) {
			snprintf(why, size,
				 "a file of lines with bytes and a percentage, at most %d; "
				 "line %u is not one",
				 WORKLOAD_CDF_POINTS, n);
			return -EINVAL;
		}
		if (rc == 0)
			continue;
		cdf->bytes[cdf->n] = bytes;
		cdf->share_q32[cdf->n++] = share_q32;
	}
	if (workload_cdf_finish(cdf) == 0)
		return 0;
	snprintf(why, size,
		 "a file of sizes up to 2^31 and percentages up to 100, neither falling");
	return -EINVAL;
}

/* A distribution with its count of users: flows and successive configurations share it. */
struct shared_cdf {
	struct workload_cdf cdf;
	unsigned int users;
};

static int
read_file(struct config *cfg, const char *section, struct workload *w, struct config_error *err)
{
	struct shared_cdf *shared;
	char why[160], path[4096];
	FILE *file;
	int rc;

	config_beside(cfg, w->message_cdf, path, sizeof(path));
	file = fopen(path, "re");
	if (file == NULL) {
		snprintf(why, sizeof(why), "a file that can be read (%s)", strerror(errno));
		return config_refuse(cfg, section, "message_cdf", why, err);
	}
	shared = calloc(1, sizeof(*shared));
	rc = shared == NULL ? -ENOMEM : read_points(file, &shared->cdf, why, sizeof(why));
	fclose(file);
	if (rc == 0) {
		shared->users = 1;
		w->cdf = &shared->cdf;
		return 0;
	}
	free(shared);
	return config_refuse(cfg, section, "message_cdf", rc == -ENOMEM ? "memory for it" : why,
			     err);
}

int
workload_read_cdf(struct config *cfg, const char *section, struct workload *w,
		  const struct workload *known, struct config_error *err)
{
	if (w->message_size != WORKLOAD_CDF)
		return 0;
	if (known == NULL || known->cdf == NULL || strcmp(known->message_cdf, w->message_cdf) != 0)
		return read_file(cfg, section, w, err);
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
