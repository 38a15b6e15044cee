/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/scenario/scenario.h"

#include <errno.h>
#include <stdio.h>

int
scenario_refuse(struct scenario_fault *fault, const char *word, const char *name, const char *key,
		const char *expected)
{
	snprintf(fault->section, sizeof(fault->section), "%s%s%s", word, *name ? " " : "", name);
	fault->key = key;
	snprintf(fault->expected, sizeof(fault->expected), "%s", expected);
	return -EINVAL;
}
