// SPDX-License-Identifier: BSD-3-Clause
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/conversion/import_log.h"
#include "import/conversion/import_memory.h"

/* A switch with default values. */
static const char empty[] = "[port 0]\nlink_speed_bps = 100G\n";

#define BACKING_FRAME_BYTES 2048

static int
read_text(const char *path, const char *text, size_t size, struct sw_params *sw,
	  struct switch_pool *pool, struct config_error *err)
{
	struct config *cfg = config_open_text(path, text, size, err);
	int rc = cfg == NULL ? -EINVAL : switch_config_read(cfg, sw, err);

	if (rc == 0)
		rc = config_read_new(cfg, "pool", switch_pool_fields, switch_pool_fields_n, pool,
				     err);
	if (rc == 0)
		rc = config_finish(cfg, err);
	config_close(cfg);
	if (rc != 0)
		sw_tables_free(&sw->tables);
	return rc;
}

void
import_switch_begin(struct import_switch *out)
{
	struct config_error err = {""};

	memset(out, 0, sizeof(*out));
	if (read_text("defaults", empty, strlen(empty), &out->sw, &out->pool, &err) != 0)
		import_no_memory();
	out->sw.n_ports = 0;
	out->sw.ports[0].shaper_rate_bps = 0;
	/* Converters fill in ports before they know how many there are. */
	sw_params_use_rows(&out->sw, SW_DEVICE_PORTS);
	for (unsigned int i = 1; i < SW_DEVICE_PORTS; i++)
		out->sw.ports[i] = out->sw.ports[0];
	/*
	 * Hardware has large buffers, which contain mostly full frames: allocate fewer mbufs for
	 * the same bytes.
	 */
	out->pool.backing_frame_bytes = BACKING_FRAME_BYTES;
}

int
import_switch_read(const char *text, size_t size, struct import_switch *out, struct import_log *log)
{
	struct config_error err = {""};

	memset(out, 0, sizeof(*out));
	if (read_text(log->file, text, size, &out->sw, &out->pool, &err) == 0)
		return 0;
	import_check_memory(&err);
	snprintf(log->error, sizeof(log->error), "%s", err.text);
	return -EINVAL;
}

void
import_switch_free(struct import_switch *sw)
{
	sw_tables_free(&sw->sw.tables);
}

/* Print the defaults of a switch, and of each kind of section that is optional. */
static char *
print_base(void)
{
	struct import_switch *base = import_alloc(1, sizeof(*base));
	struct sw_queue_params queue = {0};
	struct sw_pg_params pg = {0};
	struct buffer_profile profile = {0};
	struct sw_interface interface = {.ip = "none", .ip6 = "none"};
	char *text;
	size_t size;
	FILE *out = import_text_open(&text, &size);

	import_switch_begin(base);
	switch_config_print(out, &base->sw);
	field_defaults(sw_queue_fields, sw_queue_fields_n, &queue);
	field_defaults(sw_pg_fields, sw_pg_fields_n, &pg);
	field_defaults(buffer_profile_named_fields, buffer_profile_named_fields_n, &profile);
	/* Always print a port's speed. */
	base->sw.ports[0].link_speed_bps = 0;
	config_print(out, "port", sw_port_fields, sw_port_fields_n, &base->sw.ports[0]);
	config_print(out, "queue", sw_queue_fields, sw_queue_fields_n, &queue);
	config_print(out, "pg", sw_pg_fields, sw_pg_fields_n, &pg);
	config_print(out, "interface", sw_interface_fields, sw_interface_fields_n, &interface);
	config_print(out, "buffer_profile", buffer_profile_named_fields,
		     buffer_profile_named_fields_n, &profile);
	import_text_close(out, &text);
	free(base);
	return text;
}

void
import_switch_print(FILE *out, const struct import_switch *sw, const struct import_log *log)
{
	char *text, *base = print_base();
	struct sw_params *plain = import_alloc(1, sizeof(*plain));
	size_t size;
	FILE *full = import_text_open(&text, &size);

	*plain = sw->sw;
	/* Set shaper_rate_bps to 0 again where it equals link_speed_bps: the reader resolves it. */
	for (uint16_t i = 0; i < plain->n_ports; i++)
		if (plain->ports[i].shaper_rate_bps == plain->ports[i].link_speed_bps)
			plain->ports[i].shaper_rate_bps = 0;
	switch_config_print(full, plain);
	import_text_close(full, &text);
	import_print_head(out, "quench-switch", log);
	import_print_changed(out, text, base);
	fputc('\n', out);
	config_print(out, "pool", switch_pool_fields, switch_pool_fields_n, &sw->pool);
	free(text);
	free(base);
	free(plain);
}

bool
import_profile_name(const char *name)
{
	return *name != '\0' && strlen(name) <= SW_PROFILE_NAME &&
	       strpbrk(name, " \t[]#;") == NULL && strcmp(name, SW_PROFILE_DEFAULT) != 0 &&
	       strcmp(name, SW_PROFILE_NONE) != 0;
}

char *
import_switch_text(const struct sw_params *sw)
{
	char *text;
	size_t size;
	FILE *out = import_text_open(&text, &size);

	switch_config_print(out, sw);
	import_text_close(out, &text);
	return text;
}

/* Keys that the file omits must have the same values after reading it, by their defaults. */
static void
assert_same(const struct sw_params *sw, const struct sw_params *back)
{
	char *a = import_switch_text(sw), *b = import_switch_text(back);

	assert(strcmp(a, b) == 0);
	free(a);
	free(b);
}

/* Add the name of the port to a reader's error, which knows its number only. */
static void
name_port(const struct import_switch *sw, const char *error, char *why)
{
	const char *port = strstr(error, "port ");
	char *end;
	unsigned long number;

	strcpy(why, error);
	if (port == NULL || port[5] < '0' || port[5] > '9')
		return;
	number = strtoul(port + 5, &end, 10);
	if (number < sw->sw.n_ports)
		sprintf(why + (end - error), " (%s)%s", sw->sw.ports[number].name, end);
}

int
import_switch_finish(struct import_switch *sw, struct import_log *log)
{
	struct import_switch *back = import_alloc(1, sizeof(*back));
	struct config_error err = {""};
	char why[sizeof(err.text) + IMPORT_PORT_NAME + 4];
	char *text;
	size_t size;
	FILE *out = import_text_open(&text, &size);
	int rc;

	sw_params_resolve(&sw->sw);
	import_switch_print(out, sw, log);
	import_text_close(out, &text);
	rc = read_text("", text, size, &back->sw, &back->pool, &err);
	if (rc == 0)
		assert_same(&sw->sw, &back->sw);
	free(text);
	import_switch_free(back);
	free(back);
	if (rc == 0)
		return 0;
	import_check_memory(&err);
	name_port(sw, err.text + strspn(err.text, ":0123456789 "), why);
	return import_refuse(log, " makes an invalid configuration of quench-switch: %s", why);
}
