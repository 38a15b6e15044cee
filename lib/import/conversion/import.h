/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts configurations of other systems: NX-OS and SONiC to quench-switch, mlx5's DCQCN settings
 * to quench-nic, and quench-switch to SONiC's tables.
 *
 * Invariants (tested and fuzzed): every line or table entry of the input is carried over, or is in
 * the log's lost list with a reason, or is among its asides; an imported configuration passes
 * --check-config, because the same reader has read it; equal input gives equal output.
 *
 * An input is refused as a whole, with one line that names the place, the value and the
 * expectation, if it is of another dialect, truncated, contradictory, or contains a value out of
 * range.
 *
 * If memory runs out, functions do not return, but call the function of import_on_no_memory(). An
 * error code would not be reliable, because after some failed allocations jansson continues with a
 * truncated text. The only caller is a program that converts one file and has no state to save.
 */
#ifndef QUENCH_IMPORT_CONVERSION_IMPORT_H
#define QUENCH_IMPORT_CONVERSION_IMPORT_H

#include <stddef.h>
#include <stdio.h>

#include "ctl/nic_config/nic_config.h"
#include "ctl/switch_config/switch_config.h"

/* The largest input, in bytes. */
#define IMPORT_MAX_BYTES (8u << 20)

/* Log of a conversion. Texts begin with the place: "12: text: why" or " TABLE|key: why". */
struct import_log {
	const char *file;  /* name of the input; kept by reference */
	const char *ports; /* to convert, as of --ports; NULL: the first 64 */
	char **lost;       /* not carried over, though it concerns forwarding or buffering */
	unsigned int n_lost;
	/* Words of lines and tables that concern neither, with their number. */
	struct import_aside {
		char *word;
		unsigned int n;
	} * asides;
	unsigned int n_asides;
	char **notes; /* settings carried over in another form, or assumed */
	unsigned int n_notes;
	char error[1024]; /* of a refusal; begins with the file */
};

#define IMPORT_PORT_NAME SW_PORT_NAME_CHARS

/* A switch being converted, with the tables that it owns. */
struct import_switch {
	struct sw_params sw;
	struct switch_pool pool;
};

/**
 * Set the function to call if memory runs out; it must not return. Default: abort the process. The
 * memory of the failed call is leaked.
 */
void import_on_no_memory(void (*end)(void));

/** The words of log->asides as "ntp, snmp-server (3)". The caller frees it. */
char *import_aside_text(const struct import_log *log);

/** Free the lists. */
void import_log_free(struct import_log *log);

/** Free the tables of a switch. */
void import_switch_free(struct import_switch *sw);

/**
 * Read an INI of quench-switch.
 * @return 0: free it with import_switch_free(); or -EINVAL with log->error filled in.
 */
int import_switch_read(const char *text, size_t size, struct import_switch *out,
		       struct import_log *log);

/**
 * Print a switch as an INI: the log's lists as comments, then [qos_map], [scheduler] and [pool]
 * with all keys, the speed of each port, and the other keys that differ from the defaults.
 */
void import_switch_print(FILE *out, const struct import_switch *sw, const struct import_log *log);

/**
 * The same for a NIC: the log's lists as comments, then [qos_map], [rp] and [np] with all keys, and
 * the other keys that differ from the defaults.
 */
void import_nic_print(FILE *out, const struct nic_config *nic, const struct import_log *log);

#endif
