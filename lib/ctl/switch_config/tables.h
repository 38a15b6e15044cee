/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of a switch that come in any number, each with a name of its own:
 *
 *   [fdb NAME]          an address that neither ages nor moves
 *   [interface vlan N]  the router's address in a VLAN; [interface port N]: a routed port
 *   [route PREFIX]      next hops, or a blackhole
 *   [neighbor ADDRESS]  one that is never asked for its MAC address
 */
#ifndef QUENCH_CTL_SWITCH_CONFIG_TABLES_H
#define QUENCH_CTL_SWITCH_CONFIG_TABLES_H

#include <stdbool.h>

#include "ctl/config/compare.h"
#include "switch/params/tables.h"

/**
 * Read them all over what out has, which the caller frees with sw_tables_free(), after a failure
 * too. @return 0, -EINVAL or -ENOMEM with err filled in.
 */
int switch_tables_read(struct config *cfg, struct sw_tables *out, struct config_error *err);

/** Refuse for a rule of sw_tables_check(). @return whether why was one; then err is filled in. */
bool switch_tables_refuse(const struct config *cfg, const char *why, struct config_error *err);

/** As rows. */
void switch_tables_rows(const struct sw_tables *tables, struct config_rows *rows);

/** Print their keys, in Markdown. */
void switch_tables_print_reference(FILE *out);

#endif
