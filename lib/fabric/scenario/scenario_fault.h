/* SPDX-License-Identifier: BSD-3-Clause */
/* An error in a scenario. */
#ifndef QUENCH_FABRIC_SCENARIO_SCENARIO_FAULT_H
#define QUENCH_FABRIC_SCENARIO_SCENARIO_FAULT_H

/* Error found by a rule across keys: section, key, and what was expected. */
struct scenario_fault {
	char section[64];
	const char *key;
	char expected[128];
};

/** Fill in fault. @return -EINVAL. */
int scenario_refuse(struct scenario_fault *fault, const char *word, const char *name,
		    const char *key, const char *expected);

#endif
