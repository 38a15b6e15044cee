/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of a switch of which a file may have any number, each with its own name:
 *
 *   [fdb NAME]          an address that neither ages nor moves
 *   [interface vlan N]  the router's address in a VLAN; [interface port N or NAME]: a routed port
 *   [route PREFIX]      next hops, or a blackhole
 *   [neighbor ADDRESS]  a static neighbour: its MAC address is never requested
 */
#ifndef QUENCH_CTL_SWITCH_CONFIG_SWITCH_TABLES_H
#define QUENCH_CTL_SWITCH_CONFIG_SWITCH_TABLES_H

#include <stdbool.h>

#include "ctl/config/config_compare.h"
#include "switch/params/sw_params.h"

/**
 * Read all these sections into params->tables, over its items; the ports have been read. The caller
 * frees the tables with sw_tables_free(), also after a failure.
 * @return 0, -EINVAL or -ENOMEM with err filled in.
 */
int switch_tables_read(struct config *cfg, struct sw_params *params, struct config_error *err);

/** Fill err from why, if it is a clause of sw_tables_check(). @return whether it is. */
bool switch_tables_refuse(const struct config *cfg, const char *why, struct config_error *err);

/** Add all items as rows. */
void switch_tables_rows(const struct sw_tables *tables, struct config_rows *rows);

/** First word of the i-th kind of these sections; NULL: there are no more kinds. */
const char *switch_tables_word(unsigned int i);

/** Print their keys, in Markdown. */
void switch_tables_print_reference(FILE *out);

#endif
