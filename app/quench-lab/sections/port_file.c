/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/sections/port_file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/config/config_sections.h"

/* Rows that describe a device are not keys of a scenario. */
static const struct field *
keys(void)
{
	return sw_port_fields + sw_port_device_fields_n;
}

static unsigned int
n_keys(void)
{
	return sw_port_fields_n - sw_port_device_fields_n;
}

/*
 * Split "port", "port N", "switch NAME port" or "switch NAME port N".
 *
 * @return 0, -ENOENT (another section) or -EINVAL (N is not a port number).
 */
static int
parse_name(const char *name, struct port_section *out)
{
	const char *rest = name, *end;
	unsigned long number;
	char *digits_end;

	*out = (struct port_section){.port = SCENARIO_EVERY_PORT};
	if (strncmp(rest, "switch ", 7) == 0) {
		end = strchr(rest + 7, ' ');
		if (end == NULL || end - (rest + 7) > TOPOLOGY_NAME_CHARS)
			return -ENOENT;
		memcpy(out->sw, rest + 7, (size_t)(end - (rest + 7)));
		rest = end + 1;
	}
	if (strncmp(rest, "port", 4) != 0 || (rest[4] != '\0' && rest[4] != ' '))
		return -ENOENT;
	if (strlen(name) >= sizeof(out->name))
		return -EINVAL;
	strcpy(out->name, name);
	if (rest[4] == '\0')
		return 0;
	rest += 5;
	number = strtoul(rest, &digits_end, 10);
	if (*rest < '0' || *rest > '9' || (*rest == '0' && rest[1] != '\0') ||
	    *digits_end != '\0' || number >= SW_MAX_PORTS)
		return -EINVAL;
	out->port = (uint16_t)number;
	return 0;
}

static int
rank(const struct port_section *section)
{
	return 2 * (section->sw[0] != '\0') + (section->port != SCENARIO_EVERY_PORT);
}

static int
read_section(struct config *cfg, struct port_section *section, struct config_error *err)
{
	static const char not_here[] = "no such key here: it follows from the port's link";
	int rc = config_refuse_given(cfg, section->name, sw_port_fields, sw_port_device_fields_n,
				     not_here, err);

	assert(sw_port_fields_n <= 64);
	if (rc == 0)
		rc = field_defaults(keys(), n_keys(), &section->keys);
	if (rc == 0)
		rc = config_read(cfg, section->name, keys(), n_keys(), &section->keys, err);
	for (unsigned int k = sw_port_device_fields_n; rc == 0 && k < sw_port_fields_n; k++)
		if (config_gives(cfg, section->name, sw_port_fields[k].name))
			section->given |= UINT64_C(1) << k;
	return rc;
}

/* Read the sections of one rank that begin with this word. */
static int
read_rank(struct config *cfg, const char *word, int wanted, struct scenario *s,
	  struct config_error *err)
{
	char expected[64];

	for (const char *at = NULL; (at = config_next(cfg, word, at)) != NULL;) {
		struct port_section section, *grown;
		int rc = parse_name(at, &section);

		if (rc == -EINVAL) {
			snprintf(expected, sizeof(expected), "a port number from 0 to %d",
				 SW_MAX_PORTS - 1);
			return config_refuse(cfg, at, NULL, expected, err);
		}
		if (rc < 0 || rank(&section) != wanted)
			continue;
		grown = realloc(s->ports, (s->n_ports + 1) * sizeof(*grown));
		if (grown == NULL)
			return config_refuse(cfg, at, NULL, "fewer sections: out of memory", err);
		s->ports = grown;
		if (read_section(cfg, &section, err) < 0)
			return -EINVAL;
		s->ports[s->n_ports++] = section;
	}
	return 0;
}

int
port_file_read(struct config *cfg, struct scenario *s, struct config_error *err)
{
	int rc = 0;

	for (int wanted = 0; rc == 0 && wanted < 4; wanted++)
		rc = read_rank(cfg, wanted < 2 ? "port" : "switch", wanted, s, err);
	return rc;
}

/* Blame a section of the port that breaks a rule: the most specific one that gives the key. */
static int
refuse(const struct config *cfg, const struct scenario *s, uint32_t sw, const char *why,
       struct config_error *err)
{
	struct config_rows rows = {0};
	unsigned int port;
	int rc = 0;

	if (sscanf(why, "port %u:", &port) != 1)
		return 0;
	for (uint32_t i = s->n_ports; i-- > 0;)
		if (scenario_port_applies(s, &s->ports[i], sw, (uint16_t)port))
			config_rows_add(&rows, s->ports[i].name, keys(), n_keys(),
					&s->ports[i].keys, false);
	if (rows.n > 0)
		rc = config_rows_refuse(cfg, &rows, why, err);
	config_rows_free(&rows);
	return rc;
}

int
port_file_check(const struct config *cfg, const struct scenario *s, struct config_error *err)
{
	struct sw_params *params = s->n_ports > 0 ? malloc(sizeof(*params)) : NULL;
	char why[512];
	int rc = 0;

	if (s->n_ports == 0)
		return 0;
	for (uint32_t i = 0; rc == 0 && i < s->topology->n_switches; i++) {
		if (params == NULL || scenario_switch_build(s, i, params) < 0) {
			rc = config_refuse(cfg, s->ports[0].name, NULL,
					   "fewer switches: out of memory", err);
			break;
		}
		if (sw_params_check(params, why, sizeof(why)) < 0)
			rc = refuse(cfg, s, i, why, err);
		scenario_switch_release(s, params);
	}
	free(params);
	return rc;
}

void
port_file_print(FILE *out, const struct scenario *s)
{
	for (uint32_t i = 0; i < s->n_ports; i++) {
		fprintf(out, "[%s]\n", s->ports[i].name);
		for (unsigned int k = 0; k < sw_port_fields_n; k++)
			if (s->ports[i].given >> k & 1)
				config_print_keys(out, &sw_port_fields[k], 1, &s->ports[i].keys);
		fputc('\n', out);
	}
}

void
port_file_print_reference(FILE *out)
{
	config_print_reference(out, "port, port N, switch NAME port, switch NAME port N", keys(),
			       n_keys());
}

void
port_file_rows(const char *section, const struct sw_params *params, struct config_rows *rows)
{
	for (uint16_t p = 0; p < params->n_ports; p++) {
		char name[CONFIG_MAX_NAME + 1];

		snprintf(name, sizeof(name), "%s port %u", section, p);
		config_rows_add(rows, name, keys(), n_keys(), &params->ports[p], false);
	}
}
