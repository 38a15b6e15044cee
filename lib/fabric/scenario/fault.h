/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a scenario. */
#ifndef QUENCH_FABRIC_SCENARIO_FAULT_H
#define QUENCH_FABRIC_SCENARIO_FAULT_H

/* What a rule across keys found wrong: section and key, and what was expected. */
struct scenario_fault {
	char section[64];
	const char *key;
	char expected[128];
};

/** Fill fault in. @return -EINVAL. */
int scenario_refuse(struct scenario_fault *fault, const char *word, const char *name,
		    const char *key, const char *expected);

#endif
