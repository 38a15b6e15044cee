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

/* Who starts several processes says so by a variable, and needs the plug-in of its MPI library. */
static const struct launcher {
	const char *variable, *plugin;
} launchers[] = {
	{"OMPI_COMM_WORLD_SIZE", LAB_PLUGIN("mpi")},
	{"PMI_SIZE", LAB_PLUGIN("mpich")},
	/* The system's library may be MPICH, or another one with PMI. */
	{"PMI_SIZE", LAB_PLUGIN("mpi")},
};

static uint64_t
n_processes(const struct launcher *l)
{
	const char *text = getenv(l->variable);
	uint64_t n;

	return text != NULL && decimal_parse(text, 1, UINT32_MAX, &n) ? n : 1;
}

/* Who has started several processes, and the path of its plug-in; NULL: nobody has. */
static const struct launcher *
find_launcher(char path[PATH_MAX])
{
	const struct launcher *last = NULL;
	char self[PATH_MAX], *own;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	own = dirname(self);
	for (unsigned int i = 0; i < ARRAY_LEN(launchers); i++) {
		const struct launcher *l = &launchers[i];
		/* Beside the program, as in the folder of a build, or where it is installed. */
		const char *const folders[] = {own, LAB_PLUGIN_FOLDER};

		if (n_processes(l) <= 1)
			continue;
		last = l;
		for (unsigned int k = 0; k < ARRAY_LEN(folders); k++)
			if (snprintf(path, PATH_MAX, "%s/%s", folders[k], l->plugin) < PATH_MAX &&
			    access(path, F_OK) == 0)
				return l;
	}
	return last;
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
	const struct launcher *launcher;
	lab_plugin_open_fn open;
	char why[256], path[PATH_MAX];
	uint64_t n;

	*out = NULL;
	launcher = find_launcher(path);
	if (launcher == NULL)
		return APP_DONE;
	n = n_processes(launcher);
	if (n > RANKS_MOST) {
		say_error("started as %u processes: expected at most %u", (unsigned int)n,
			  RANKS_MOST);
		return APP_BAD_USAGE;
	}
	/* Plug-ins of an MPI library itself look for its symbols. */
	plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (plugin == NULL) {
		say_error("started as one of %u processes, but %s cannot be loaded: %s; expected a "
			  "build with an MPI library (-Dmpi=enabled)",
			  (unsigned int)n, launcher->plugin, dlerror());
		return APP_BAD_USAGE;
	}
	*(void **)&open = symbol(LAB_PLUGIN_OPEN);
	*out = open == NULL ? NULL : open(&needs, why, sizeof(why));
	if (*out == NULL) {
		say_error("%s: %s", launcher->plugin,
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
