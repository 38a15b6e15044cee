/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections of switch ports, each of which overrides those above:
 *
 *   [port]                 every port of every switch
 *   [port N]               port N of every switch
 *   [switch NAME port]     every port of one switch
 *   [switch NAME port N]   one port
 */
#ifndef QUENCH_APP_QUENCH_LAB_SECTIONS_PORT_FILE_H
#define QUENCH_APP_QUENCH_LAB_SECTIONS_PORT_FILE_H

#include <stdio.h>

#include "ctl/config/config_compare.h"
#include "fabric/scenario/scenario.h"

/** @return 0, -EINVAL or -ENOMEM with err filled in. */
int port_file_read(struct config *cfg, struct scenario *s, struct config_error *err);

/** Check the rules of switches across the keys of their ports. @return as port_file_read(). */
int port_file_check(const struct config *cfg, const struct scenario *s, struct config_error *err);

/** Print the keys that the sections give. */
void port_file_print(FILE *out, const struct scenario *s);
void port_file_print_reference(FILE *out);

/** Rows of all ports of a switch, under its section ("switch NAME"). */
void port_file_rows(const char *section, const struct sw_params *params, struct config_rows *rows);

#endif
