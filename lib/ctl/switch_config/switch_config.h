/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a switch.
 *
 *   [switch]                       the node and its whole buffer
 *   [qos_map] [wred] [scheduler] [pfc] [router]
 *   [buffer_profile lossless] [buffer_profile lossy]
 *   [buffer_profile egress_lossless] [buffer_profile egress_lossy]
 *   [fdb NAME] [interface ...] [route PREFIX] [neighbor ADDRESS]   see tables.h
 *   [wred NAME] [buffer_profile NAME]  profiles by name, for
 *   [pg N] [pg P|N] [queue N] [queue P|N]  a group, a queue: of every port, of port P
 *   [tc N]                         a traffic class
 *   [port]                         what all ports share
 *   [port 0] [port 1] ...          each port over that, numbered without a gap
 *
 * No function here calls config_finish(): a program may have sections of its own.
 */
#ifndef QUENCH_CTL_SWITCH_CONFIG_SWITCH_CONFIG_H
#define QUENCH_CTL_SWITCH_CONFIG_SWITCH_CONFIG_H

#include "ctl/config/compare.h"
#include "switch/sw.h"

/**
 * Everything but the ports, which are left zero, unchecked: for a program that makes up ports of
 * its own. @return 0, -EINVAL or -ENOMEM with err filled in. The caller frees out->tables.
 */
int switch_config_read_common(struct config *cfg, struct sw_params *out, struct config_error *err);

/**
 * Everything, resolved and checked. A port's address may be left zero: the program puts in that of
 * the device. @return 0, -EINVAL or -ENOMEM with err filled in. The caller frees out->tables.
 */
int switch_config_read(struct config *cfg, struct sw_params *out, struct config_error *err);

/**
 * A copy of now, which is resolved, with the keys that cfg has over it, and profiles and tables'
 * items that it alone has after the others; resolved and checked. The keys of [port] are those that
 * each port has of its own by now. @return as switch_config_read().
 */
int switch_config_set(struct config *cfg, const struct sw_params *now, struct sw_params *out,
		      struct config_error *err);

/**
 * Check resolved params, the ports included: what a program filled in after
 * switch_config_read_common(). @return 0, or -EINVAL with the key to blame in err.
 */
int switch_config_check(const struct config *cfg, const struct sw_params *params,
			struct config_error *err);

/**
 * One switch among several: a section of its own, such as [switch T4], may have the keys of
 * [switch], [wred], [scheduler], [pfc], [router] and [pfcwd], over what params holds; and so may
 * [switch T4 SECTION], SECTION one of the others but profiles by name. @return as
 * switch_config_read_common().
 */
int switch_config_read_one(struct config *cfg, const char *section, struct sw_params *params,
			   struct config_error *err);

/** As switch_config_check(), where the keys of that section are to blame. */
int switch_config_check_one(const struct config *cfg, const char *section,
			    const struct sw_params *params, struct config_error *err);

/** Print that section, the rows of a table of the program's own first; and of the others those that
 * are otherwise than in common. */
void switch_config_print_one(FILE *out, const char *section, const struct field *own,
			     unsigned int n_own, const void *own_object,
			     const struct sw_params *params, const struct sw_params *common);

/** Print the configuration in force as a file that reads back the same; _common: without ports. */
void switch_config_print(FILE *out, const struct sw_params *params);
void switch_config_print_common(FILE *out, const struct sw_params *params);

/** All of it, resolved, as rows to compare. */
void switch_config_rows(const struct sw_params *params, struct config_rows *rows);
/** What one switch among several may have of its own, under the names of those sections. */
void switch_config_rows_one(const char *section, const struct sw_params *params,
			    struct config_rows *rows);

/* [pool], of quench-switch alone: what backs the buffer is the program's business, not the
 * node's. */
struct switch_pool {
	uint32_t backing_frame_bytes;
};

extern const struct field switch_pool_fields[];
extern const unsigned int switch_pool_fields_n;

/** Print every key, in Markdown; _common: without ports. */
void switch_config_print_reference(FILE *out);
void switch_config_print_reference_common(FILE *out);

#endif
