/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/eal/eal_start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <rte_eal.h>

#include "base/numbers/array.h"
#include "base/threads/cores.h"
#include "runtime/notice/say.h"

#define EAL_LIBRARY "librte_eal"

/* EAL's control threads, which it starts meanwhile, read them, too. */
static _Atomic bool starts, all_are_loaded;

/*
 * EAL asks whether its own library is loaded. If not, it is linked statically, and has no plugin
 * folder. EAL's library calls the program's dlopen() before that of the C library.
 */
void *
dlopen(const char *file, int mode)
{
	static void *(*next)(const char *, int);

	if (all_are_loaded && (mode & RTLD_NOLOAD) != 0)
		return NULL;
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	return next(file, mode);
}

/*
 * Load a driver that lies beside EAL's library and has its version: librte_eal.so.23,
 * librte_net_null.so.23.
 */
static bool
load(const char *driver, size_t length)
{
	Dl_info eal;
	const char *name;
	char path[PATH_MAX];
	int n;

	if (length == 0 || dladdr((void *)(uintptr_t)rte_eal_init, &eal) == 0)
		return false;
	name = strrchr(eal.dli_fname, '/');
	if (name == NULL || strncmp(++name, EAL_LIBRARY, strlen(EAL_LIBRARY)) != 0)
		return false; /* linked statically */
	n = snprintf(path, sizeof(path), "%.*slibrte_%.*s%s", (int)(name - eal.dli_fname),
		     eal.dli_fname, (int)length, driver, name + strlen(EAL_LIBRARY));
	return n < (int)sizeof(path) && dlopen(path, RTLD_NOW) != NULL;
}

/*
 * Length of the driver's name in that of a device: net_memif of net_memif0,role=client. 0: it may
 * be no name of a file.
 */
static size_t
driver_length(const char *device)
{
	size_t length = strspn(device, "abcdefghijklmnopqrstuvwxyz_0123456789");

	if (device[length] != '\0' && device[length] != ',')
		return 0;
	while (length > 0 && strchr("0123456789", device[length - 1]) != NULL)
		length--;
	return length;
}

/*
 * Does an option name neither a driver nor a device, whatever its value? EAL also takes the
 * beginning of a long option.
 */
static bool
names_nothing(const char *option)
{
	static const char *const others[] = {
		"--no-huge",     "--no-shconf", "--no-pci",     "--no-telemetry",
		"--no-hpet",     "--lcores",    "--main-lcore", "--socket-mem",
		"--file-prefix", "--log-level", "--iova-mode",  "--huge-dir",
	};
	size_t length = strcspn(option, "=");

	if (*option != '-') /* the value of the option before */
		return true;
	if (option[1] != '-')
		return strchr("clmnv", option[1]) != NULL;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strlen(others[i]) == length && strncmp(others[i], option, length) == 0)
			return true;
	return false;
}

static bool
load_named(int argc, char **argv)
{
	bool no_pci = false, no_shconf = false;

	if (!load("mempool_ring", strlen("mempool_ring")))
		return false;
	for (int i = 1; i < argc; i++) {
		const char *device = NULL;

		if (strcmp(argv[i], "--no-pci") == 0)
			no_pci = true;
		else if (strcmp(argv[i], "--no-shconf") == 0)
			no_shconf = true;
		else if (strcmp(argv[i], "--vdev") == 0 && i + 1 < argc)
			device = argv[++i];
		else if (strncmp(argv[i], "--vdev=", strlen("--vdev=")) == 0)
			device = argv[i] + strlen("--vdev=");
		else if (!names_nothing(argv[i]))
			return false;
		/* An argument in brackets names a further device. */
		if (device != NULL &&
		    (strchr(device, '(') != NULL || !load(device, driver_length(device))))
			return false;
	}
	return no_pci && no_shconf;
}

/* The highest number of a CPU that the system can have, from a list such as 0-3,8-11. */
static long
last_cpu(void)
{
	static long last = -1;
	char list[256] = "";
	const char *from = list;
	FILE *f;

	if (last >= 0)
		return last;
	f = fopen("/sys/devices/system/cpu/possible", "re");
	last = LONG_MAX;
	if (f != NULL && fgets(list, sizeof(list), f) != NULL && strchr(list, '\n') != NULL) {
		for (const char *at = list; *at != '\0'; at++)
			if (*at == ',' || *at == '-')
				from = at + 1;
		last = strtol(from, NULL, 10);
	}
	if (f != NULL)
		fclose(f);
	return last;
}

/*
 * EAL asks whether each of 1024 CPUs exists, and for each of its 128 lcores and each of 32 nodes
 * whether nodeN/cpuM does: 6,000 system calls, a tenth of the start of a small fabric. Beyond the
 * last CPU there is none. EAL's library calls the program's access().
 */
int
access(const char *path, int mode)
{
	static const char cpus[] = "/sys/devices/system/cpu", nodes[] = "/sys/devices/system/node/";
	const char *cpu = NULL;

	if (starts && strncmp(path, cpus, strlen(cpus)) == 0)
		cpu = strstr(path + strlen(cpus), "/cpu");
	else if (starts && strncmp(path, nodes, strlen(nodes)) == 0)
		cpu = strstr(path + strlen(nodes), "/cpu");
	if (cpu == NULL || cpu[4] < '0' || cpu[4] > '9' || strtol(cpu + 4, NULL, 10) <= last_cpu())
		return faccessat(AT_FDCWD, path, mode, 0);
	errno = ENOENT;
	return -1;
}

int
eal_init(int argc, char **argv)
{
	int rc;

	all_are_loaded = load_named(argc, argv);
	starts = true;
	rc = rte_eal_init(argc, argv);
	starts = false;
	all_are_loaded = false;
	return rc;
}

/*
 * Besides the standard files, EAL opens about ten files, and two pipes to each lcore except the
 * first.
 */
#define FILES 32u
#define FILES_PER_LCORE 4u

bool
eal_has_files(unsigned int lcores)
{
	struct rlimit limit;
	uint64_t need;

	if (lcores == 0)
		lcores = usable_cores();
	need = FILES + (uint64_t)FILES_PER_LCORE * (lcores - 1);
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
		return true;
	say_error("at most %ju files may be open: EAL needs %ju (ulimit -n)",
		  (uintmax_t)limit.rlim_cur, (uintmax_t)need);
	return false;
}
