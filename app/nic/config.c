/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/config.h"

#include <stdlib.h>

#include "common/ports.h"

void
nic_version_free(struct nic_version *v)
{
	nic_config_free(&v->config);
	free(v->flows);
	free(v);
}

static void
fill_reload(struct nic_version *v)
{
	v->reload = (struct nic_reload){
		.params = v->config.nic, .flows = v->flows, .n_flows = v->config.n_flows};
	for (unsigned int i = 0; i < v->config.n_flows; i++) {
		const struct nic_qp_params *qp = &v->config.flows[i].qp;

		v->flows[i] = (struct nic_flow_live){.stopped = qp->stopped,
						     .rate_cap_bps = qp->rate_cap_bps,
						     .load_bps = qp->load_bps};
	}
}

struct nic_version *
nic_version_read(struct config *cfg, struct config_error *err)
{
	struct nic_version *v = calloc(1, sizeof(*v));
	int rc;

	if (v == NULL || nic_config_read(cfg, &v->config, err) != 0) {
		if (v == NULL)
			snprintf(err->text, sizeof(err->text), "out of memory");
		free(v);
		return NULL;
	}
	rc = config_finish(cfg, err);
	if (rc == 0 && v->config.n_flows == 0)
		rc = config_refuse(cfg, "flow", NULL, "a section [flow NAME] at least", err);
	v->flows = calloc(v->config.n_flows + 1, sizeof(*v->flows));
	if (rc == 0 && v->flows == NULL)
		rc = config_refuse(cfg, "flow", NULL, "fewer flows: out of memory", err);
	if (rc != 0) {
		nic_version_free(v);
		return NULL;
	}
	fill_reload(v);
	return v;
}

static struct nic_version *
of(const struct live_version *v)
{
	return (struct nic_version *)v;
}

static struct live_version *
live_read(void *program, struct config *cfg, struct config_error *err)
{
	const struct nic_live *l = program;
	struct nic_version *v = nic_version_read(cfg, err);

	if (v == NULL)
		return NULL;
	/* As at the start. */
	port_address(l->nodes->ethdev, v->config.nic.mac);
	return &v->live;
}

static void
live_free(struct live_version *v)
{
	nic_version_free(of(v));
}

static void
live_print(const struct live_version *v, FILE *out)
{
	nic_config_print(out, &of(v)->config);
}

static void
live_rows(const struct live_version *v, struct config_rows *rows)
{
	nic_config_rows(&of(v)->config, rows);
}

/* Nothing changes beside it. */
static const struct live_version *
live_running(void *program, const struct live_version *v)
{
	(void)program;
	return v;
}

static const char *
live_fault(const struct live_version *now, const struct live_version *next)
{
	(void)now;
	(void)next;
	return NULL;
}

static void
live_apply(void *program, const struct live_version *v, uint64_t now_ns)
{
	const struct nic_live *l = program;

	(void)now_ns;
	l->flows->config = &of(v)->config;
	for (uint16_t i = 0; i < l->nodes->plan.n_lcores; i++)
		nic_reload(l->nodes->node[i], &of(v)->reload);
}

static bool
live_is_done(void *program)
{
	const struct nic_live *l = program;
	bool done = true;

	for (uint16_t i = 0; i < l->nodes->plan.n_lcores; i++)
		done = done && nic_reload_is_done(l->nodes->node[i]);
	return done;
}

const struct live_ops nic_live_ops = {
	.read = live_read,
	.free = live_free,
	.print = live_print,
	.rows = live_rows,
	.running = live_running,
	.fault = live_fault,
	.apply = live_apply,
	.is_done = live_is_done,
};
