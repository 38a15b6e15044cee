/* SPDX-License-Identifier: BSD-3-Clause */
/* import and export: the converter, a program in Python, takes the place of this one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/notice/say.h"
#include "quenchctl/convert/convert_commands.h"

#define MAX_ARGS 10

/* Write the path of a file beside this program. @return false: it cannot be run. */
static bool
beside(const char *name, char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	if (n < 0)
		return false;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL || snprintf(slash + 1, PATH_MAX - (size_t)(slash + 1 - path), "%s",
				      name) >= PATH_MAX - (slash + 1 - path))
		return false;
	return access(path, X_OK) == 0;
}

static int
convert(const struct ctl_options *o, const char *direction, const char *dialect, const char *file)
{
	const char *args[MAX_ARGS];
	char path[PATH_MAX];
	unsigned int n = 0;

	if (o->json || o->path != NULL || o->prefix != NULL) {
		say_error("import and export: expected no option but --output, since they use no "
			  "running program");
		return APP_BAD_USAGE;
	}
	/* In a build folder, and where programs are installed. */
	if (!beside("quench-convert", path) && !beside("../" QUENCH_CONVERT, path)) {
		say_error("import and export: %s, which converts, cannot be run", path);
		return APP_FAILED;
	}
	args[n++] = path;
	if (o->output != NULL) {
		args[n++] = "--output";
		args[n++] = o->output;
	}
	if (o->ports != NULL) {
		args[n++] = "--ports";
		args[n++] = o->ports;
	}
	args[n++] = "--";
	args[n++] = direction;
	args[n++] = dialect;
	args[n++] = file;
	args[n] = NULL;
	execv(path, (char *const *)args);
	say_error("%s: %s", path, strerror(errno));
	return APP_FAILED;
}

/* For those that have no ports to choose. */
static int
without_ports(const struct ctl_options *o, const char *direction, const char *dialect,
	      const char *file)
{
	if (o->ports != NULL) {
		say_error("--ports: expected import nxos or import sonic");
		return APP_BAD_USAGE;
	}
	return convert(o, direction, dialect, file);
}

int
command_import_nxos(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	return convert(o, "import", "nxos", params[0]);
}

int
command_import_sonic(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	return convert(o, "import", "sonic", params[0]);
}

int
command_import_mlnx(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	return without_ports(o, "import", "mlnx", params[0]);
}

int
command_export_sonic(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	return without_ports(o, "export", "sonic", params[0]);
}
