/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meanings of the keys in replies: a list of objects, each with the tables of its counters or
 * gauges. The methods `counters` and `gauges` return it, and exporters of metrics take names, kinds
 * and help texts from there. The unit is the last word of a name.
 *
 * An N in a name stands for a priority: rx_prioN_pause.
 */
#ifndef QUENCH_APP_RUNTIME_REPORT_CATALOGUE_H
#define QUENCH_APP_RUNTIME_REPORT_CATALOGUE_H

#include <jansson.h>

#include "base/field/field.h"

/* Meaning of a value that is not a member of a struct of counters. */
struct meaning {
	const char *name;
	const char *help;
};

/* One table of an object, which may have several. One of fields, meanings and params is set. */
struct catalogue {
	const char *object;
	const struct counter_field *fields;
	unsigned int n_fields;
	const struct meaning *meanings; /* ends with a row without a name */
	const struct field *params;     /* only their numbers and switches count */
	unsigned int n_params;
};

/* Shared by quench-nic and quench-switch. */
extern const struct meaning run_counters[];
extern const struct meaning run_meanings[];
extern const struct meaning port_counter_meanings[];
extern const struct meaning port_gauge_meanings[];
extern const struct meaning device_meanings[];
extern const struct meaning pfc_meanings[];

/** New object with rows: object, name and help of the rows of n tables. */
json_t *catalogue_object(const struct catalogue *tables, unsigned int n);

#endif
