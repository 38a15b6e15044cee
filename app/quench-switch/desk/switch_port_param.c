/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/desk/switch_port_param.h"

#include <stdio.h>

#include "quench-switch/config/switch_version.h"
#include "switch/params/port_names.h"

static bool
has_names(const struct sw_params *params)
{
	for (uint16_t i = 0; i < params->n_ports; i++)
		if (sw_port_has_name(&params->ports[i]))
			return true;
	return false;
}

bool
switch_port_param(struct desk_call *call, uint16_t *port)
{
	const struct sw_params *params = switch_of(call)->params;
	char expected[64], digits[DESK_DIGITS];
	const char *text = desk_word(call, "port", digits);
	int found = sw_port_find(params, text);

	*port = (uint16_t)found;
	if (found >= 0)
		return true;
	snprintf(expected, sizeof(expected), "a number from 0 to %u%s", params->n_ports - 1u,
		 has_names(params) ? ", or the name of a port" : "");
	desk_refuse_param(call, expected, "PORT = %s", text);
	return false;
}
