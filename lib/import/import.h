/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configurations of others as ours: NX-OS and SONiC become a quench-switch, mlx5's DCQCN settings a
 * quench-nic; and a quench-switch becomes SONiC's tables.
 *
 * Invariants (tested, and fuzzed): every line or table entry of the input is carried over or stands
 * in the log's lost list with a reason; what is written passes --check-config, as it has been
 * through the same reader; equal input gives equal output.
 *
 * An input is refused whole, with one line that names the place, the value and what was expected,
 * when it is of another dialect, cut off, at odds with itself, or holds a value out of its range.
 *
 * When memory runs out, no function here returns: import_on_no_memory() says what happens instead.
 * An error code could not be kept: jansson goes on after some failed allocations, with a text that
 * is cut off. And the one caller is a program that converts one file: it has nothing to save.
 */
#ifndef QUENCH_IMPORT_IMPORT_H
#define QUENCH_IMPORT_IMPORT_H

#include <stddef.h>
#include <stdio.h>

#include "ctl/nic_config/nic_config.h"
#include "ctl/switch_config/switch_config.h"

/* The largest input, in bytes. */
#define IMPORT_MAX_BYTES (8u << 20)

/* What is said of an import. Texts begin with the place: "12: text: why" or " TABLE|key: why". */
struct import_log {
	const char *file; /* what the input is called; kept by reference */
	char **lost;      /* not carried over */
	unsigned int n_lost;
	char **notes; /* carried over in another form, or assumed */
	unsigned int n_notes;
	char error[1024]; /* of a refusal, the file in front */
};

#define IMPORT_PORT_NAME 31 /* characters */

/* A switch on its way to a file. */
struct import_switch {
	struct sw_params sw;
	struct switch_pool pool;
	char port_names[SW_MAX_PORTS][IMPORT_PORT_NAME + 1];
};

/**
 * Set what happens when memory runs out: end is called and does not return. Without it the process
 * aborts. The call that ran out leaks its memory.
 */
void import_on_no_memory(void (*end)(void));

/** Free what the lists hold. */
void import_log_free(struct import_log *log);

/**
 * Read a running-config of NX-OS, or a part of one.
 *
 * @param text  size bytes.
 * @param out   Large; filled in whole, checked.
 * @return      0, or -EINVAL with log->error filled in.
 */
int import_nxos(const char *text, size_t size, struct import_switch *out, struct import_log *log);

/** The same of SONiC's config_db.json. */
int import_sonic(const char *text, size_t size, struct import_switch *out, struct import_log *log);

/**
 * Read DCQCN settings of an mlx5 adapter: a listing of mlxconfig query, or names of sysfs or
 * debugfs with values.
 *
 * @param out  On success the caller frees it with nic_config_free().
 * @return     As import_nxos().
 */
int import_mlnx(const char *text, size_t size, struct nic_config *out, struct import_log *log);

/** Read an INI of quench-switch. @return as import_nxos(). */
int import_switch_read(const char *text, size_t size, struct import_switch *out,
		       struct import_log *log);

/**
 * Write a switch as a config_db.json. What SONiC has no words for goes to the log's lost list.
 *
 * @return 0, or -EINVAL with log->error filled in and nothing written: a switch that SONiC's tables
 *         cannot hold at all.
 */
int export_sonic(const struct import_switch *sw, FILE *out, struct import_log *log);

/** Print a switch as an INI: what differs from the defaults, after the log's lists. */
void import_switch_print(FILE *out, const struct import_switch *sw, const struct import_log *log);

/** The same of a NIC. */
void import_nic_print(FILE *out, const struct nic_config *nic, const struct import_log *log);

#endif
