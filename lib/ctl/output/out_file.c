/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/output/out_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Print and flush. A full disk causes an error at the flush at the latest. */
static int
print_all(FILE *out, out_file_print *print, const void *arg)
{
	int rc;

	errno = 0;
	rc = print(out, arg);
	if (rc == 0 && (fflush(out) != 0 || ferror(out)))
		rc = errno ? -errno : -EIO;
	return rc;
}

/* A device or pipe cannot be replaced by renaming a file. */
static int
write_special(const char *path, out_file_print *print, const void *arg)
{
	FILE *out = fopen(path, "we");
	int rc;

	if (!out)
		return -errno;
	rc = print_all(out, print, arg);
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

/* mkstemp() creates a file that only its owner may access; give it the mode of any new file. */
static int
usual_rights(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask) == 0 ? 0 : -errno;
}

static int
write_temporary(int fd, out_file_print *print, const void *arg)
{
	FILE *out = fdopen(fd, "w");
	int rc;

	if (!out) {
		rc = -errno;
		close(fd);
		return rc;
	}
	rc = usual_rights(fd);
	if (rc == 0)
		rc = print_all(out, print, arg);
	if (rc == 0 && fsync(fd) != 0)
		rc = -errno;
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

static int
replace_file(const char *path, out_file_print *print, const void *arg)
{
	char *temporary = NULL;
	int fd, rc;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkstemp(temporary);
	rc = fd < 0 ? -errno : write_temporary(fd, print, arg);
	if (rc == 0 && rename(temporary, path) != 0)
		rc = -errno;
	if (rc != 0 && fd >= 0)
		unlink(temporary);
	free(temporary);
	return rc;
}

int
out_file_write(const char *path, out_file_print *print, const void *arg)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return print_all(stdout, print, arg);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_special(path, print, arg);
	return replace_file(path, print, arg);
}
