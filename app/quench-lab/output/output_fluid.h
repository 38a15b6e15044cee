/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of the fluid model, next to those of the packet simulation or alone (--fluid):
 * doc/interface.md. */
#ifndef QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_FLUID_H
#define QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_FLUID_H

#include <stdbool.h>
#include <stdio.h>

#include "base/field/walk.h"
#include "fabric/fluid/fluid_net.h"

struct lab_fluid {
	struct fluid_net *net; /* NULL: refused */
	struct scenario_fault fault;
	const struct topology *topology;
	uint64_t end_ns, measure_from_ns;
	bool partial; /* end_ns is before the end of the run */
	bool ran;     /* false: only the fixed points are known */
};

/**
 * @param alone  Without packets; the size of the model is then not limited.
 * @return       0, also when the model is refused; or -ENOMEM after an error line.
 */
int lab_fluid_open(struct lab_fluid *fluid, const struct scenario *s, bool alone);
void lab_fluid_close(struct lab_fluid *fluid);

/**
 * Run the model up to fluid->end_ns, and write fluid_flows.csv.part and fluid_queues.csv.part into
 * dir (NULL: nowhere). output_csv_keep() or, for the model alone, output_fluid_keep() removes the
 * suffix. Does nothing when the model is refused.
 *
 * @param go_on  Called every sample; false stops the run.
 * @return       0, -EINTR when stopped, or -errno after an error line.
 */
int lab_fluid_run(struct lab_fluid *fluid, const char *dir,
		  bool (*go_on)(void *arg, uint64_t now_ns, uint64_t end_ns), void *arg);

/** The key `fluid` of the results; fluid is NULL with names_only. */
void lab_fluid_walk(struct walk *w, const struct lab_fluid *fluid);

/** Print the fixed points and, if the model ran, its means in the measured window. */
void lab_fluid_table(FILE *out, const struct lab_fluid *fluid);

#endif
