/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/telemetry/switch_port_param.h"

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
switch_port_param(struct telemetry_call *call, unsigned int i, uint16_t *port)
{
	const struct sw_params *params = switch_of(call)->params;
	const char *text = i < call->n_args ? call->args[i] : NULL;
	int found = text != NULL ? sw_port_find(params, text) : -1;
	char expected[64];

	*port = (uint16_t)found;
	if (found >= 0)
		return true;
	snprintf(expected, sizeof(expected), "a number from 0 to %u%s", params->n_ports - 1u,
		 has_names(params) ? ", or the name of a port" : "");
	if (text == NULL)
		telemetry_refuse(call, expected, "PORT is missing");
	else
		telemetry_refuse(call, expected, "PORT = %s", text);
	return false;
}
