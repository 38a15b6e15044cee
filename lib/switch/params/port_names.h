/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of ports, such as Ethernet1/1. Operators may use them in place of numbers.
 *
 * Invariant: of params that sw_params_check() accepts, a text finds one port at most, as a name
 * begins with a letter and no two are equal.
 */
#ifndef QUENCH_SWITCH_PARAMS_PORT_NAMES_H
#define QUENCH_SWITCH_PARAMS_PORT_NAMES_H

#include "switch/params/sw_params.h"

#define SW_PORT_UNNAMED "none"

/** Has the port a name? */
bool sw_port_has_name(const struct sw_port_params *port);

/** The port of that name, in any case, or of that number; -1: there is none. */
int sw_port_find(const struct sw_params *params, const char *text);

/* A port in words. */
struct sw_port_text {
	char text[SW_PORT_NAME_CHARS + 1];
};

/** The name of a port, or its number if it has none. */
struct sw_port_text sw_port_text(const struct sw_params *params, uint16_t port);

/** What is wrong with the name of a port: a clause for sw_params_check(), or NULL. */
const char *sw_port_name_fault(const struct sw_params *params, uint16_t port);

/** Is the text a valid name, which no port may have yet? */
bool sw_port_name_is_valid(const char *name);

#endif
