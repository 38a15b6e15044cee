/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/nic_config/job_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ini/file.h"
#include "job/goal.h"
#include "job/job_check.h"

/* Longest text of a job that is read. */
#define MOST_BYTES (1ull << 32)

struct file_text {
	char path[4096];
	char *text;
	size_t n;
};

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

/* The text of a file beside the one of the section. @return 0, or -EINVAL with err filled in. */
static int
read_text(const struct config *cfg, const char *section, const char *key, const char *name,
	  struct file_text *out, struct config_error *err)
{
	const char *fault;
	char why[160];
	FILE *file;

	config_beside(cfg, name, out->path, sizeof(out->path));
	out->text = NULL;
	file = config_file_stream(out->path, &fault);
	if (file != NULL) {
		out->text = read_all(file, &out->n);
		fault = strerror(errno);
		fclose(file);
	}
	if (out->text != NULL)
		return 0;
	snprintf(why, sizeof(why), "a file that can be read (%s)", fault);
	return config_refuse(cfg, section, key, why, err);
}

static int
end_read(const struct config *cfg, const char *section, const char *key, struct file_text *file,
	 const struct job_fault *fault, int rc, struct config_error *err)
{
	free(file->text);
	if (rc == -ENOMEM)
		return config_refuse(cfg, section, key, "a smaller job: out of memory", err);
	if (rc < 0)
		config_error_at(err, file->path, fault->line, " expected %s ([%s] %s)", fault->why,
				section, key);
	return rc;
}

int
job_file_read(const struct config *cfg, const char *section, struct job_keys *keys,
	      struct job_graph *out, struct config_error *err)
{
	struct job_fault fault = {0};
	struct file_text file;
	int rc;

	if (job_keys_has_matrix(keys) && strcmp(keys->matrix, "none") != 0) {
		rc = read_text(cfg, section, "matrix", keys->matrix, &file, err);
		if (rc < 0)
			return rc;
		rc = matrix_read(file.text, file.n, &keys->sizes, &fault);
		return end_read(cfg, section, "matrix", &file, &fault, rc, err);
	}
	if (!job_keys_has_file(keys))
		return 0;
	rc = read_text(cfg, section, "goal", keys->goal, &file, err);
	if (rc < 0)
		return rc;
	rc = goal_read(file.text, file.n, keys->rendezvous_bytes, out, &fault);
	if (rc == 0)
		rc = job_check(out, &fault);
	return end_read(cfg, section, "goal", &file, &fault, rc, err);
}
