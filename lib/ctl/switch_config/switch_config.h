/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a switch.
 *
 *   [switch]                       the node and its whole buffer
 *   [qos_map] [wred] [step] [phantom] [scheduler] [pfc] [router] [pfcwd] [lldp]
 *   [buffer_profile lossless] [buffer_profile lossy]
 *   [buffer_profile egress_lossless] [buffer_profile egress_lossy]
 *   [fdb NAME] [interface ...] [route PREFIX] [neighbor ADDRESS]   see switch_tables.h
 *   [wred NAME] [buffer_profile NAME]  named profiles, which the next two rows may name
 *   [pg N] [queue N]               a group or queue of every port
 *   [pg P|N] [queue P|N]           a group or queue of port P alone
 *   [tc N]                         a traffic class
 *   [port]                         keys that all ports share
 *   [port 0] [port 1] ...          keys in which a port differs; ports are numbered without a gap
 *
 * No function here calls config_finish(): a program may have sections of its own.
 */
#ifndef QUENCH_CTL_SWITCH_CONFIG_SWITCH_CONFIG_H
#define QUENCH_CTL_SWITCH_CONFIG_SWITCH_CONFIG_H

#include "ctl/config/config_compare.h"
#include "switch/sw.h"

/**
 * Read everything but the ports, which stay zero, and the keys of SW_DEVICE_SECTIONS, which it
 * refuses. Rules across keys are not checked. For a program that creates its own switches.
 *
 * @param out  All zero; only rows of ports that have sections of their own are touched.
 * @return     0, -EINVAL or -ENOMEM with err filled in. The caller frees out->tables.
 */
int switch_config_read_common(struct config *cfg, struct sw_params *out, struct config_error *err);

/**
 * Read everything, resolve and check it. A port's MAC address may stay zero: the program replaces
 * it by the device's.
 * @return 0, -EINVAL or -ENOMEM with err filled in. The caller frees out->tables.
 */
int switch_config_read(struct config *cfg, struct sw_params *out, struct config_error *err);

/**
 * Copy `now`, whose params are resolved, to `out`, replace the keys that cfg sets, and append the
 * profiles and table items that only cfg has. Then resolve and check `out`. [port] is read but
 * changes nothing: in `now` each port has a value of every key, so only [port N] counts.
 * @return as switch_config_read().
 */
int switch_config_set(struct config *cfg, const struct sw_params *now, struct sw_params *out,
		      struct config_error *err);

/**
 * Copy `now`, whose params are resolved, to `out`, without some static routes.
 *
 * @param prefixes  Of [route PREFIX], one a line.
 * @return          as switch_config_read(); -EINVAL: there is no such route.
 */
int switch_config_remove(struct config *cfg, const struct sw_params *now, const char *prefixes,
			 struct sw_params *out, struct config_error *err);

/**
 * Check resolved params with their ports, once the program has completed the result of
 * switch_config_read_common(). @return 0, or -EINVAL with the key to blame in err.
 */
int switch_config_check(const struct config *cfg, const struct sw_params *params,
			struct config_error *err);

/**
 * Read the sections of one switch among several. Its own section, such as [switch T4], may have
 * keys of [switch], [wred], [step], [phantom], [scheduler], [pfc], [router] and [pfcwd]; they
 * replace those in params.
 * [switch T4 SECTION] may have the keys of another SECTION of the list above, except named
 * profiles, tables and ports. @return as switch_config_read_common().
 */
int switch_config_read_one(struct config *cfg, const char *section, struct sw_params *params,
			   struct config_error *err);

/** As switch_config_check() for one switch: err names a key of its sections. */
int switch_config_check_one(const struct config *cfg, const char *section,
			    const struct sw_params *params, struct config_error *err);

/** Print the section of one switch, beginning with the program's own keys (own), and then those of
 * its [switch NAME SECTION] that differ from `common`. */
void switch_config_print_one(FILE *out, const char *section, const struct field *own,
			     unsigned int n_own, const void *own_object,
			     const struct sw_params *params, const struct sw_params *common);

/**
 * Print the configuration in force as a file, which reads back the same; _common: without ports and
 * SW_DEVICE_SECTIONS.
 */
void switch_config_print(FILE *out, const struct sw_params *params);
void switch_config_print_common(FILE *out, const struct sw_params *params);

/** List all keys of resolved params as rows to compare. */
void switch_config_rows(const struct sw_params *params, struct config_rows *rows);
/**
 * List the keys that may have values of their own for one switch among several, under the names of
 * its sections.
 */
void switch_config_rows_one(const char *section, const struct sw_params *params,
			    struct config_rows *rows);

/* [pool], of quench-switch alone: the program, not the node, allocates the mbufs that back the
 * buffer. */
struct switch_pool {
	uint32_t backing_frame_bytes;
};

FIELD_TABLE(switch_pool_fields);

/**
 * First word of the i-th kind of sections that a switch reads, [pool] included, such as "wred" of
 * [wred] and [wred NAME]. A word may come twice, and after "buffer_profile" come names that begin
 * with it. NULL: there are no more.
 */
const char *switch_config_word(unsigned int i);

/** Print every key, in Markdown; _common: those of switch_config_print_common(). */
void switch_config_print_reference(FILE *out);
void switch_config_print_reference_common(FILE *out);

#endif
