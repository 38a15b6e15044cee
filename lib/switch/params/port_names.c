/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/params/port_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/numbers/decimal.h"

/*
 * Characters of names in NX-OS, SONiC and Linux. None of them separates words of a command, ports
 * of a list, or a port from its queue ("Ethernet1/1|3").
 */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_ALPHABET LETTERS "0123456789/-_.:"

bool
sw_port_has_name(const struct sw_port_params *port)
{
	/* A lab's ports have no name, not even this one. */
	return port->name[0] != '\0' && strcmp(port->name, SW_PORT_UNNAMED) != 0;
}

bool
sw_port_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	return n <= SW_PORT_NAME_CHARS && strspn(name, LETTERS) > 0 &&
	       strspn(name, NAME_ALPHABET) == n && strcasecmp(name, SW_PORT_UNNAMED) != 0;
}

int
sw_port_find(const struct sw_params *params, const char *text)
{
	uint64_t number;

	if (decimal_parse(text, 0, UINT16_MAX, &number))
		return number < params->n_ports ? (int)number : -1;
	for (uint16_t i = 0; i < params->n_ports; i++)
		if (sw_port_has_name(&params->ports[i]) &&
		    strcasecmp(params->ports[i].name, text) == 0)
			return i;
	return -1;
}

struct sw_port_text
sw_port_text(const struct sw_params *params, uint16_t port)
{
	const struct sw_port_params *p = &params->ports[port];
	struct sw_port_text t;

	if (sw_port_has_name(p))
		snprintf(t.text, sizeof(t.text), "%s", p->name);
	else
		snprintf(t.text, sizeof(t.text), "%u", port);
	return t;
}

const char *
sw_port_name_fault(const struct sw_params *params, uint16_t port)
{
	const char *name = params->ports[port].name;

	if (!sw_port_has_name(&params->ports[port]))
		return NULL;
	if (!sw_port_name_is_valid(name))
		return "name: expected a letter, then letters, digits and /-_.:, or none";
	if (sw_port_find(params, name) < port)
		return "name: expected one that no port before it has, in any case";
	return NULL;
}
