/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/release/release.h"

void
release_print(FILE *out, const char *program)
{
	fprintf(out, "%s %s (commit %s)\n", program, release_version, release_commit);
}
