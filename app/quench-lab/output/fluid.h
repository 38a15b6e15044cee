/* SPDX-License-Identifier: BSD-3-Clause */
/* The fluid model's results beside those of packets, or alone with --fluid (doc/interface.md). */
#ifndef QUENCH_APP_QUENCH_LAB_OUTPUT_FLUID_H
#define QUENCH_APP_QUENCH_LAB_OUTPUT_FLUID_H

#include <stdbool.h>
#include <stdio.h>
#include <jansson.h>

#include "fabric/fluid/fluid_net.h"

struct lab_fluid {
	struct fluid_net *net; /* NULL: refused */
	struct scenario_fault fault;
	const struct topology *topology;
	bool ran; /* else the fixed points alone are known */
};

/**
 * @param alone  The model is all that is asked for: it may take its time.
 * @return       0, also when the model is refused; or -ENOMEM after an error line.
 */
int lab_fluid_open(struct lab_fluid *fluid, const struct scenario *s, bool alone);
void lab_fluid_close(struct lab_fluid *fluid);

/**
 * Run the model, and write fluid_flows.csv and fluid_queues.csv into dir (NULL: nowhere), under
 * their names with ".part" until output_csv_keep(). Does nothing when the model is refused.
 * @return 0, or -errno after an error line.
 */
int lab_fluid_run(struct lab_fluid *fluid, const char *dir);

/** The key `fluid` of the results; the caller owns the reference. */
json_t *lab_fluid_json(const struct lab_fluid *fluid);

/** Fixed points, and what the model did in the measured window if it ran. */
void lab_fluid_table(FILE *out, const struct lab_fluid *fluid);

#endif
