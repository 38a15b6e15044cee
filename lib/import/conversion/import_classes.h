/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps and schedulers that differ by port. Private to lib/import. */
#ifndef QUENCH_IMPORT_CONVERSION_IMPORT_CLASSES_H
#define QUENCH_IMPORT_CONVERSION_IMPORT_CLASSES_H

#include "switch/params/params.h"

/**
 * Set [qos_map] to the values that most ports have, the first ones among equals, and the keys of
 * ports that differ. The choice follows from the arguments alone.
 *
 * @param qos  In force on each of sw->n_ports ports.
 */
void import_set_qos(struct sw_params *sw, const struct qos_map_params *qos);

/** The same for [scheduler]. */
void import_set_sched(struct sw_params *sw, const struct sched_params *sched);

#endif
