/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/nic_config/job_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/goal.h"
#include "job/job_check.h"

/* Longest text of a job that is read. */
#define MOST_BYTES (1ull << 32)

/* The contents of a file, with their size. NULL: they cannot be read, errno says why. */
static char *
read_all(FILE *file, size_t *n)
{
	size_t room = 1u << 16;
	char *text = malloc(room);

	*n = 0;
	while (text != NULL) {
		char *moved;

		*n += fread(text + *n, 1, room - *n, file);
		if (ferror(file) || *n < room)
			break;
		room *= 2;
		moved = room > MOST_BYTES ? NULL : realloc(text, room);
		if (moved == NULL) {
			errno = EFBIG;
			free(text);
		}
		text = moved;
	}
	if (text != NULL && ferror(file)) {
		free(text);
		text = NULL;
	}
	return text;
}

int
job_file_read(const struct config *cfg, const char *section, const struct job_keys *keys,
	      struct job_graph *out, struct config_error *err)
{
	struct job_fault fault = {0};
	char path[4096], why[160];
	char *text = NULL;
	size_t n;
	FILE *file;
	int rc;

	if (!job_keys_has_file(keys))
		return 0;
	config_beside(cfg, keys->goal, path, sizeof(path));
	file = fopen(path, "re");
	if (file != NULL) {
		text = read_all(file, &n);
		fclose(file);
	}
	if (text == NULL) {
		snprintf(why, sizeof(why), "a file that can be read (%s)", strerror(errno));
		return config_refuse(cfg, section, "goal", why, err);
	}
	rc = goal_read(text, n, keys->rendezvous_bytes, out, &fault);
	free(text);
	if (rc == 0)
		rc = job_check(out, &fault);
	if (rc == -ENOMEM)
		return config_refuse(cfg, section, "goal", "a smaller job: out of memory", err);
	if (rc < 0)
		config_error_at(err, path, fault.line, " expected %s ([%s] goal)", fault.why,
				section);
	return rc;
}
