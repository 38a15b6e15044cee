/* SPDX-License-Identifier: BSD-3-Clause */
/* What the importers write to the log, and what they share. Private to lib/import. */
#ifndef QUENCH_IMPORT_IMPORT_LOG_H
#define QUENCH_IMPORT_IMPORT_LOG_H

#include "import/import.h"

/** Not carried over: place, text and reason. */
__attribute__((format(printf, 2, 3))) void import_lost(struct import_log *log, const char *format,
						       ...);

/** Changed or assumed. */
__attribute__((format(printf, 2, 3))) void import_note(struct import_log *log, const char *format,
						       ...);

/** Fill in the error, the file in front of it. @return -EINVAL. */
__attribute__((format(printf, 2, 3))) int import_refuse(struct import_log *log, const char *format,
							...);

/** A switch of quench's defaults, with the names and speeds of no port. */
void import_switch_begin(struct import_switch *out);

/**
 * Resolve, and read what import_switch_print() writes as quench-switch would.
 * @return 0, or -EINVAL with its objection in log->error.
 */
int import_switch_finish(struct import_switch *sw, struct import_log *log);

/** A NIC of the mlx profile's defaults, with a stand-in for its flow. */
void import_nic_begin(struct nic_config *out);

/** Read what import_nic_print() writes as quench-nic would. @return as import_switch_finish(). */
int import_nic_finish(const struct nic_config *nic, struct import_log *log);

/* Names that a profile may have here. */
#define IMPORT_PROFILE_NAME                                                                        \
	"a name of at most 40 characters without blanks and []#;, neither default nor none"
bool import_profile_name(const char *name);

/** Print what stands at the head of a file: program, input, the lists. */
void import_print_head(FILE *out, const char *program, const struct import_log *log);

/** Each line of text that is not in the same section of is, both printed INIs, is lost. */
void import_lose_changed(struct import_log *log, const char *text, const char *is, const char *why);

/** Print the lines of text whose sections or values are not those of base, both printed INIs. */
void import_print_changed(FILE *out, const char *text, const char *base);

#endif
