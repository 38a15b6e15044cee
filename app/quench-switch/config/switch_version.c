/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/config/switch_version.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <rte_common.h>
#include <rte_version.h>

#include "runtime/port/ports.h"
#include "runtime/release/release.h"
#include "runtime/run/run.h"
#include "ctl/switch_config/switch_tables.h"
#include "quench-switch/config/threshold_advice.h"
#include "switch/params/port_names.h"

static void
version_free(struct switch_version *v)
{
	sw_reload_forget(v->next);
	sw_tables_free(&v->params.tables);
	free(v);
}

/* Read all of cfg: a whole file (now is NULL), or keys to change in now. */
static struct switch_version *
version_read(struct config *cfg, const struct switch_version *now, struct config_error *err)
{
	struct switch_version *v = calloc(1, sizeof(*v));
	int rc;

	if (v == NULL) {
		snprintf(err->text, sizeof(err->text), "%s: out of memory", config_path(cfg));
		return NULL;
	}
	rc = now == NULL ? switch_config_read(cfg, &v->params, err)
			 : switch_config_set(cfg, &now->params, &v->params, err);
	if (rc != 0) {
		free(v);
		return NULL;
	}
	v->shown.params = &v->params;
	field_defaults(switch_pool_fields, switch_pool_fields_n, &v->pool);
	if (now != NULL)
		v->pool = now->pool;
	rc = config_read(cfg, "pool", switch_pool_fields, switch_pool_fields_n, &v->pool, err);
	if (rc == 0 && config_finish(cfg, err) == 0)
		return v;
	version_free(v);
	return NULL;
}

/* LLDP's name is the one under which operators know the machine. */
static void
describe(struct sw_params *params)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) != 0)
		host[0] = '\0';
	snprintf(params->system_name, sizeof(params->system_name), "%.*s", SW_SYSTEM_CHARS, host);
	snprintf(params->system_description, sizeof(params->system_description),
		 "quench-switch %s, %s", release_version, rte_version());
}

struct switch_version *
switch_version_read(struct config *cfg, struct config_error *err)
{
	struct switch_version *v = version_read(cfg, NULL, err);

	if (v != NULL)
		describe(&v->params);
	return v;
}

/* The bytes of xoff_bytes = auto, as a comment. */
static void
print_auto_headroom(FILE *out, const struct sw_params *params)
{
	struct sw_auto_headroom a = sw_auto_headroom(params);

	if (a.most_bytes == 0)
		return;
	fprintf(out, "# xoff_bytes = auto is %" PRIu64 " bytes", a.least_bytes);
	if (a.most_bytes > a.least_bytes)
		fprintf(out,
			" (port %s) to %" PRIu64 " bytes (port %s); --thresholds has all ports",
			sw_port_text(params, a.least_port).text, a.most_bytes,
			sw_port_text(params, a.most_port).text);
	fputc('\n', out);
}

void
switch_version_print(FILE *out, const struct switch_version *v)
{
	switch_config_print(out, &v->params);
	config_print(out, "pool", switch_pool_fields, switch_pool_fields_n, &v->pool);
	print_auto_headroom(out, &v->params);
}

void
switch_version_print_reference(FILE *out)
{
	switch_config_print_reference(out);
	config_print_reference(out, "pool", switch_pool_fields, switch_pool_fields_n);
}

const struct switch_program *
switch_of(const struct desk_call *call)
{
	return &((const struct switch_version *)call->version)->shown;
}

static struct switch_version *
of(const struct config_version *v)
{
	return (struct switch_version *)v;
}

static void
set_burst(struct switch_version *v, const struct switch_config_context *s)
{
	if (v->params.shaper_burst_ns == 0)
		v->params.shaper_burst_ns = s->burst_ns;
}

/* Copy the values that the program determined at start-up from the active version. */
static struct config_version *
op_read(void *program, struct config *cfg, struct config_error *err)
{
	const struct switch_config_context *s = program;
	struct switch_version *v = switch_version_read(cfg, err);

	if (v == NULL)
		return NULL;
	if (v->params.shards == 0)
		v->params.shards = RTE_MIN(run_poll_lcores(), v->params.n_ports);
	for (uint16_t i = 0; i < v->params.n_ports && i < s->running.params.n_ports; i++)
		port_address(s->ethdevs[i], v->params.ports[i].mac);
	set_burst(v, s);
	v->shown.node = s->node;
	return &v->version;
}

static struct config_version *
op_set(void *program, const struct config_version *now, struct config *cfg,
       struct config_error *err)
{
	struct switch_version *v = version_read(cfg, of(now), err);

	if (v == NULL)
		return NULL;
	set_burst(v, program);
	v->shown.node = ((const struct switch_config_context *)program)->node;
	return &v->version;
}

static struct config_version *
op_remove(void *program, const struct config_version *now, struct config *cfg, const char *names,
	  struct config_error *err)
{
	struct switch_version *v = calloc(1, sizeof(*v));

	if (v == NULL) {
		snprintf(err->text, sizeof(err->text), "%s: out of memory", config_path(cfg));
		return NULL;
	}
	v->pool = of(now)->pool;
	if (switch_config_remove(cfg, &of(now)->params, names, &v->params, err) != 0) {
		free(v);
		return NULL;
	}
	v->shown.params = &v->params;
	set_burst(v, program);
	v->shown.node = ((const struct switch_config_context *)program)->node;
	return &v->version;
}

static void
op_free(struct config_version *v)
{
	version_free(of(v));
}

static void
op_rows(const struct config_version *v, struct config_rows *rows)
{
	switch_config_rows(&of(v)->params, rows);
	config_rows_add(rows, "pool", switch_pool_fields, switch_pool_fields_n, &of(v)->pool,
			false);
}

static const struct config_version *
op_running(void *program, const struct config_version *v)
{
	struct switch_config_context *s = program;

	/* A shallow copy: the tables still belong to v. */
	s->running = *of(v);
	s->running.next = NULL;
	sw_running_params(s->node, &s->running.params);
	return &s->running.version;
}

static const char *
op_fault(const struct config_version *now, const struct config_version *next)
{
	return sw_reload_fault(&of(now)->params, &of(next)->params);
}

static int
op_prepare_next(void *program, const struct config_version *now, struct config_version *next,
		const struct config *cfg, struct config_error *err)
{
	const struct switch_config_context *s = program;
	struct switch_version *v = of(next);
	char why[128];

	(void)now;
	if (sw_reload_prepare(s->node, &v->params, &v->next, why, sizeof(why)) == 0)
		return 0;
	switch_tables_refuse(cfg, why, err);
	return -EINVAL;
}

static void
op_warn(const struct config_version *v, const struct config *cfg)
{
	(void)cfg;
	thresholds_warn(&of(v)->params);
}

static void
op_apply(void *program, const struct config_version *v, uint64_t now_ns)
{
	const struct switch_config_context *s = program;
	struct sw_forwarding *next = of(v)->next;

	of(v)->next = NULL;
	sw_reload(s->node, &of(v)->params, next, now_ns);
}

static bool
op_is_done(void *program)
{
	return sw_reload_settle(((const struct switch_config_context *)program)->node);
}

const struct active_config_ops switch_config_ops = {
	.read = op_read,
	.set = op_set,
	.remove = op_remove,
	.free = op_free,
	.rows = op_rows,
	.running = op_running,
	.fault = op_fault,
	.prepare = op_prepare_next,
	.warn = op_warn,
	.apply = op_apply,
	.is_done = op_is_done,
};
