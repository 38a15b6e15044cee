/* SPDX-License-Identifier: BSD-3-Clause */
/* The importers' log, and their common functions. Private to lib/import. */
#ifndef QUENCH_IMPORT_CONVERSION_IMPORT_LOG_H
#define QUENCH_IMPORT_CONVERSION_IMPORT_LOG_H

#include "import/conversion/import.h"

/** Log a setting that is not carried over: place, text and reason. */
__attribute__((format(printf, 2, 3))) void import_lost(struct import_log *log, const char *format,
						       ...);

/** Count a line or field that concerns neither forwarding nor buffering, by one or two words. */
__attribute__((format(printf, 2, 3))) void import_aside(struct import_log *log, const char *format,
							...);

/** Log a setting that was changed or assumed. */
__attribute__((format(printf, 2, 3))) void import_note(struct import_log *log, const char *format,
						       ...);

/** Set the error, after the file's name. @return -EINVAL. */
__attribute__((format(printf, 2, 3))) int import_refuse(struct import_log *log, const char *format,
							...);

/** Set a switch to quench's defaults, without ports, and with a larger backing_frame_bytes. */
void import_switch_begin(struct import_switch *out);

/**
 * Resolve the switch, and check it: read the output of import_switch_print() as quench-switch does.
 * @return 0, or -EINVAL with the reader's error in log->error.
 */
int import_switch_finish(struct import_switch *sw, struct import_log *log);

/** Set a NIC to the defaults of the mlx profile, with an example flow. */
void import_nic_begin(struct nic_config *out);

/** Read the output of import_nic_print() as quench-nic does. @return as import_switch_finish(). */
int import_nic_finish(const struct nic_config *nic, struct import_log *log);

/* Valid names of profiles. */
#define IMPORT_PROFILE_NAME                                                                        \
	"a name of at most 40 characters without blanks and []#;, neither default nor none"
bool import_profile_name(const char *name);

/** The switch as an INI of quench-switch, with all keys. The caller frees it. */
char *import_switch_text(const struct sw_params *sw);

/** Print the head of a file: program, input, the log's lists. */
void import_print_head(FILE *out, const char *program, const struct import_log *log);

/**
 * Log as lost each line of `text` that is missing in the same section of `is`. Both are outputs of
 * import_switch_text().
 */
void import_lose_changed(struct import_log *log, const char *text, const char *is, const char *why);

/**
 * Print the lines of text that differ from base or are missing there, all lines of [qos_map],
 * [scheduler], [rp] and [np], and the heads of ports and of profiles that base lacks. Both are INIs
 * with all keys.
 */
void import_print_changed(FILE *out, const char *text, const char *base);

#endif
