/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/run/free_memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/fixed.h"

/* The first line of a file that matches a format with one number. */
static bool
read_number(const char *path, const char *format, uint64_t *number)
{
	FILE *f = fopen(path, "r");
	char line[PATH_MAX];
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = sscanf(line, format, number) == 1;
	if (f != NULL)
		fclose(f);
	return found;
}

static uint64_t
machine_bytes(const char *root)
{
	char path[PATH_MAX];
	uint64_t kb;

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	return read_number(path, "MemAvailable: %" SCNu64, &kb) ? kb << 10 : UINT64_MAX;
}

/* Path of the process's group in version 2, or "". */
static void
find_group(const char *root, char *group, size_t size)
{
	char path[PATH_MAX], line[PATH_MAX];
	FILE *f;

	group[0] = '\0';
	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "0::", 3) == 0) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(group, size, "%s", line + 3);
		}
	if (f != NULL)
		fclose(f);
}

/*
 * A group without a limit has the word max there. Before the kernel kills a program, it drops pages
 * of files that have not been used for a while.
 */
static uint64_t
group_bytes(const char *root, const char *group)
{
	char path[2 * PATH_MAX];
	uint64_t most, used, cached = 0;

	snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s/memory.max", root, group);
	if (!read_number(path, "%" SCNu64, &most))
		return UINT64_MAX;
	snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s/memory.stat", root, group);
	(void)read_number(path, "inactive_file %" SCNu64, &cached);
	snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s/memory.current", root, group);
	return read_number(path, "%" SCNu64, &used) ? sub_sat(most, sub_sat(used, cached))
						    : UINT64_MAX;
}

uint64_t
free_memory_bytes(const char *root)
{
	uint64_t bytes = machine_bytes(root);
	char group[PATH_MAX], *end;

	find_group(root, group, sizeof(group));
	/* A limit of a group holds for all groups in it. In a container, "" has the container's. */
	do {
		bytes = min_u64(bytes, group_bytes(root, group));
		end = strrchr(group, '/');
		if (end != NULL)
			*end = '\0';
	} while (end != NULL);
	return bytes;
}
