/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says of memory: on the machine, and in control groups. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/run/free_memory.h"
#include "unit/cases.h"

#define MB (1ull << 20)

static char root[] = "free_memory_XXXXXX";

/* A file below root, and the folders to it. */
static void
write_file(const char *path, const char *text)
{
	char whole[512];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *at = whole; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		(void)mkdir(whole, 0700);
		*at = '/';
	}
	f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
remove_root(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

TEST(least_of_the_machine_and_of_all_groups_around_the_process)
{
	assert_non_null(mkdtemp(root));
	assert_true(free_memory_bytes(root) == UINT64_MAX);
	write_file("proc/meminfo", "MemTotal: 4096000 kB\nMemAvailable:    1024000 kB\n");
	assert_int_equal(free_memory_bytes(root), 1000 * MB);
	write_file("proc/self/cgroup", "1:name=x:/other\n0::/a.slice/b.service\n");
	write_file("sys/fs/cgroup/a.slice/b.service/memory.max", "max\n");
	write_file("sys/fs/cgroup/a.slice/b.service/memory.current", "5000\n");
	assert_int_equal(free_memory_bytes(root), 1000 * MB);
	write_file("sys/fs/cgroup/a.slice/memory.max", "524288000\n");
	write_file("sys/fs/cgroup/a.slice/memory.current", "104857600\n");
	assert_int_equal(free_memory_bytes(root), 400 * MB);
	/* Cached pages of files are no bound: the kernel drops them. */
	write_file("sys/fs/cgroup/a.slice/memory.stat",
		   "anon 7\nfile 62914560\ninactive_file 52428800\nactive_file 10485760\n");
	assert_int_equal(free_memory_bytes(root), 450 * MB);
	/* The limit of a container. */
	write_file("sys/fs/cgroup/memory.max", "314572800\n");
	write_file("sys/fs/cgroup/memory.current", "104857600\n");
	assert_int_equal(free_memory_bytes(root), 200 * MB);
	write_file("sys/fs/cgroup/a.slice/b.service/memory.max", "4000\n");
	assert_int_equal(free_memory_bytes(root), 0);
	remove_root();
}

TEST(this_machine_says)
{
	uint64_t bytes = free_memory_bytes("");

	assert_true(bytes > MB && bytes < UINT64_MAX);
}

TEST_MAIN()
