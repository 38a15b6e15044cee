/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/ranks/lab_ranks.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "base/numbers/decimal.h"
#include "runtime/notice/say.h"

static void *plugin;

/* Number of processes, from those who start them: Open MPI; MPICH and others with PMI. */
static uint64_t
n_processes(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

	for (unsigned int i = 0; i < ARRAY_LEN(names); i++) {
		const char *text = getenv(names[i]);
		uint64_t n;

		if (text != NULL && decimal_parse(text, 1, UINT32_MAX, &n))
			return n;
	}
	return 1;
}

/* Beside the program, as in the folder of a build, or where it is installed. */
static void *
load(void)
{
	char path[PATH_MAX + sizeof(LAB_PLUGIN) + 1] = LAB_PLUGIN_FOLDER "/" LAB_PLUGIN;
	char beside[sizeof(path)], self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		self[n] = '\0';
		snprintf(beside, sizeof(beside), "%s/%s", dirname(self), LAB_PLUGIN);
		if (access(beside, F_OK) == 0)
			memcpy(path, beside, sizeof(path));
	}
	/* Open MPI's own plug-ins look for the symbols of its library. */
	return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void *
symbol(const char *name)
{
	return dlsym(plugin, name);
}

int
lab_ranks_open(struct ranks **out)
{
	const struct lab_plugin_needs needs = {sizeof(struct ranks), rank_bytes_more};
	uint64_t n = n_processes();
	lab_plugin_open_fn open;
	char why[256];

	*out = NULL;
	if (n <= 1)
		return APP_DONE;
	if (n > RANKS_MOST) {
		say_error("started as %u ranks: expected at most %u", (unsigned int)n, RANKS_MOST);
		return APP_BAD_USAGE;
	}
	plugin = load();
	if (plugin == NULL) {
		say_error(
			"started as one of %u ranks, but " LAB_PLUGIN
			" cannot be loaded: %s; expected a build with an MPI library (-Dmpi=enabled)",
			(unsigned int)n, dlerror());
		return APP_BAD_USAGE;
	}
	*(void **)&open = symbol(LAB_PLUGIN_OPEN);
	*out = open == NULL ? NULL : open(&needs, why, sizeof(why));
	if (*out == NULL) {
		say_error("%s: %s", LAB_PLUGIN,
			  open == NULL ? "not the plug-in of quench-lab" : why);
		return APP_FAILED;
	}
	return APP_DONE;
}

void
lab_ranks_close(struct ranks *ranks, bool failed)
{
	lab_plugin_close_fn close;

	if (ranks == NULL)
		return;
	*(void **)&close = symbol(LAB_PLUGIN_CLOSE);
	ranks_free(ranks);
	close(ranks, failed);
}
