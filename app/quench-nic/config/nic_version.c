/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/config/nic_version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/notice/say.h"
#include "runtime/port/ports.h"

static void
version_free(struct nic_version *v)
{
	if (v->registry != NULL)
		flow_registry_release(v->registry, &v->config);
	nic_config_free(&v->config);
	free(v->flows);
	free(v->removed);
	free(v->added);
	free(v->streams);
	free(v->awaits.ids);
	free(v->awaits.after);
	free(v->awaits.barriers);
	free(v);
}

/* Streams have the order of start-up, in which the node numbers them. */
static void
order_streams(const struct nic_config *now, struct nic_config *next)
{
	for (uint32_t i = 0; i < next->n_streams; i++)
		for (uint32_t k = i; k < next->n_streams; k++) {
			struct nic_stream found = next->streams[k];

			if (strcmp(found.name, now->streams[i].name) != 0)
				continue;
			next->streams[k] = next->streams[i];
			next->streams[i] = found;
			break;
		}
}

/* But for whether it sends. */
static bool
is_same_stream(const struct nic_stream *a, const struct nic_stream *b)
{
	struct nic_stream other = *b;

	other.stopped = a->stopped;
	other.paused = a->paused;
	return !config_objects_differ(nic_stream_fields, nic_stream_fields_n, a, &other);
}

static void
fill_streams(const struct nic_config *now, struct nic_version *v)
{
	const struct nic_stream *streams = v->config.streams;

	for (uint32_t i = 0; i < v->config.n_streams; i++) {
		bool same = now == NULL || is_same_stream(&now->streams[i], &streams[i]);

		v->streams[i] = (struct nic_frames_update){
			.started = !streams[i].stopped,
			.paused = streams[i].paused,
			.params = same ? NULL : &streams[i].params,
		};
	}
}

/* Which flows wait for which, by the flow_ids that they have got. @return 0 or -ENOMEM. */
static int
fill_awaits(struct nic_version *v)
{
	const struct flow_order *o = &v->config.order;
	const struct nic_flow *flows = v->config.flows;
	struct nic_awaits *a = &v->awaits;
	uint32_t n = o->n > 0 ? o->first[o->n] : 0;

	if (o->n == 0)
		return 0;
	a->ids = calloc(n + o->n, sizeof(*a->ids));
	a->after = calloc(o->n, sizeof(*a->after));
	a->barriers = calloc(o->n_barriers + 1u, sizeof(*a->barriers));
	if (a->ids == NULL || a->after == NULL || a->barriers == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		a->ids[i] = flows[o->awaited[i]].id;
	for (uint32_t i = 0; i < o->n; i++)
		if (flow_order_waits(o, i) > 0)
			a->after[a->n_after++] = (struct nic_await_list){flows[i].id, o->first[i],
									 flow_order_waits(o, i)};
	/* First the number of flows of each barrier, then their ids one after the other. */
	a->n_barriers = o->n_barriers;
	for (uint32_t i = 0; i < o->n; i++)
		if (o->barrier[i] > 0)
			a->barriers[o->barrier[i] - 1].n++;
	for (uint32_t b = 0; b < a->n_barriers; b++) {
		a->barriers[b].first = n;
		n += a->barriers[b].n;
		a->barriers[b].n = 0;
	}
	for (uint32_t i = 0; i < o->n; i++) {
		struct nic_await_list *b;

		if (o->barrier[i] == 0)
			continue;
		b = &a->barriers[o->barrier[i] - 1];
		a->ids[b->first + b->n++] = flows[i].id;
	}
	v->reload.awaits = a;
	return 0;
}

/* Fill in the changes that the nodes must make from configuration `now` (NULL: none) to v. */
static int
fill_reload(const struct flow_registry *registry, const struct nic_config *now,
	    struct nic_version *v)
{
	const struct nic_config *config = &v->config;
	unsigned int n_now = now != NULL ? now->n_flows : 0;
	struct nic_reload *r = &v->reload;
	/* For each flow_id: was the flow in `now`, and is it in v? */
	struct {
		bool was, is;
	} *flows = calloc(registry->n_ids, sizeof(*flows));

	v->flows = calloc(registry->n_ids, sizeof(*v->flows));
	v->removed = calloc(n_now + 1, sizeof(*v->removed));
	v->added = calloc(config->n_flows, sizeof(*v->added));
	v->streams = calloc(config->n_streams + 1, sizeof(*v->streams));
	if (flows == NULL || v->flows == NULL || v->removed == NULL || v->added == NULL ||
	    v->streams == NULL) {
		free(flows);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < n_now; i++)
		flows[now->flows[i].id].was = true;
	*r = (struct nic_reload){.params = config->nic,
				 .flows = v->flows,
				 .n_flows = registry->n_ids,
				 .removed = v->removed,
				 .added = v->added,
				 .streams = v->streams};
	fill_streams(now, v);
	for (unsigned int i = 0; i < config->n_flows; i++) {
		const struct nic_qp_params *qp = &config->flows[i].qp;
		uint32_t id = config->flows[i].id;

		v->flows[id] = (struct nic_flow_update){.stopped = qp->stopped,
							.rate_cap_bps = qp->rate_cap_bps,
							.load_bps = qp->load_bps};
		flows[id].is = true;
		if (!flows[id].was)
			v->added[r->n_added++] = id;
	}
	for (unsigned int i = 0; i < n_now; i++)
		if (!flows[now->flows[i].id].is)
			v->removed[r->n_removed++] = now->flows[i].id;
	free(flows);
	return 0;
}

static int
enter(struct flow_registry *registry, const struct config *cfg, const struct nic_config *now,
      struct nic_version *v, struct config_error *err)
{
	int rc = flow_registry_assign(registry, cfg, now, &v->config, err);

	if (rc != 0)
		return rc;
	v->registry = registry;
	rc = fill_reload(registry, now, v);
	if (rc == 0)
		rc = fill_awaits(v);
	if (rc != 0)
		snprintf(err->text, sizeof(err->text), "out of memory");
	return rc;
}

/* Runs on the main lcore. */
static void
apply(const struct nic_nodes *nodes, struct nic_version *v, uint64_t now_ns)
{
	const struct nic_reload *r = &v->reload;

	for (uint32_t i = 0; i < r->n_removed; i++)
		flow_registry_removed(v->registry, r->removed[i], now_ns);
	for (uint32_t i = 0; i < r->n_added; i++)
		flow_registry_added(v->registry, r->added[i], now_ns);
	for (unsigned int i = 0; i < v->config.n_flows; i++)
		v->config.flows[i].added_ns =
			flow_registry_added_ns(v->registry, v->config.flows[i].id);
	for (uint16_t i = 0; i < nodes->plan.n_lcores; i++)
		nic_reload(nodes->node[i], r);
}

int
nic_version_begin(struct flow_registry *registry, struct nic_version *v, struct config_error *err)
{
	const struct nic_nodes *nodes = registry->nodes;
	int rc = enter(registry, NULL, NULL, v, err);

	if (rc != 0)
		return rc;
	apply(nodes, v, 0);
	for (uint16_t i = 0; i < nodes->plan.n_lcores; i++)
		while (!nic_reload_is_done(nodes->node[i]))
			nodes->node[i]->ops->rx(nodes->node[i], 0, NULL, 0, 0);
	return 0;
}

static bool
has_an_end(const struct nic_config *config)
{
	for (unsigned int f = 0; f < config->n_flows + config->n_patterns; f++) {
		const struct nic_qp_params *qp = &config->flows[f].qp;

		if (config->flows[f].connect != NIC_CONNECT_LISTEN && qp->requester &&
		    workload_ends(&qp->work))
			return true;
	}
	return config->n_jobs > 0;
}

/* Complete v after a read that returned read_rc. @return v, or NULL with v freed. */
static struct nic_version *
finish(struct nic_version *v, int read_rc, const struct config *cfg, struct config_error *err)
{
	if (read_rc != 0) {
		free(v);
		return NULL;
	}
	v->ends = has_an_end(&v->config);
	if (config_finish(cfg, err) == 0)
		return v;
	version_free(v);
	return NULL;
}

static struct nic_version *
version_create(struct config_error *err)
{
	struct nic_version *v = calloc(1, sizeof(*v));

	if (v == NULL)
		snprintf(err->text, sizeof(err->text), "out of memory");
	return v;
}

struct nic_version *
nic_version_read(struct config *cfg, const struct nic_config *now, struct config_error *err)
{
	struct nic_version *v = version_create(err);

	if (v != NULL)
		v = finish(v, nic_config_read(cfg, now, &v->config, err), cfg, err);
	return v;
}

static struct nic_version *
of(const struct config_version *v)
{
	return (struct nic_version *)v;
}

static struct config_version *
op_read(void *program, struct config *cfg, struct config_error *err)
{
	const struct nic_config_context *c = program;
	struct nic_version *v = nic_version_read(cfg, nic_config_of(c->active->current), err);

	if (v == NULL)
		return NULL;
	/* As at start-up. */
	port_address(c->nodes->ethdev, v->config.nic.mac);
	if (v->config.nic.shaper_burst_ns == 0)
		v->config.nic.shaper_burst_ns = c->nodes->burst_ns;
	return &v->version;
}

/* A file decides whether the program ends with its flows: a flow that a command adds does not end a
 * program that would have run on. */
static struct config_version *
keep_end(struct nic_version *v, const struct config_version *now)
{
	if (v == NULL)
		return NULL;
	v->ends = v->ends && ((const struct nic_version *)now)->ends;
	return &v->version;
}

static struct config_version *
op_set(void *program, const struct config_version *now, struct config *cfg,
       struct config_error *err)
{
	struct nic_version *v = version_create(err);

	(void)program;
	if (v != NULL)
		v = finish(v, nic_config_set(cfg, nic_config_of(now), &v->config, err), cfg, err);
	return keep_end(v, now);
}

static struct config_version *
op_remove(void *program, const struct config_version *now, struct config *cfg, const char *names,
	  struct config_error *err)
{
	struct nic_version *v = version_create(err);

	(void)program;
	if (v != NULL)
		v = finish(v, nic_config_remove(cfg, nic_config_of(now), names, &v->config, err),
			   cfg, err);
	return keep_end(v, now);
}

static void
op_free(struct config_version *v)
{
	version_free(of(v));
}

static void
op_rows(const struct config_version *v, struct config_rows *rows)
{
	nic_config_rows(&of(v)->config, rows);
}

static void
op_warn(const struct config_version *v, const struct config *cfg)
{
	const struct nic_config *config = &of(v)->config;
	struct config_error doubt;

	if (nic_config_doubt_cc(cfg, &config->nic, &doubt))
		say_warning("%s", doubt.text);
	for (unsigned int i = 0; i < config->n_flows; i++) {
		const struct nic_flow *f = &config->flows[i];
		bool sends = f->qp.requester != (f->qp.verb == NIC_READ);

		int cc = cc_chosen(f->qp.cc, config->nic.cc);

		if (sends && nic_is_uncontrolled(cc, f->qp.verb, f->qp.raw))
			say_warning(NIC_UNCONTROLLED, f->name, nic_verb_words[f->qp.verb],
				    NIC_RAW_TEXT(f->qp.raw), cc_words[cc]);
	}
}

/* Mbufs and the device are for the frames of start-up. */
static int
check_streams(const struct nic_nodes *nodes, const struct config *cfg,
	      const struct nic_config *next, struct config_error *err)
{
	char section[NIC_STREAM_NAME_CHARS + 8], most[64];
	uint32_t sent;
	const struct nic_stream *long_ = nodes_too_long(nodes, next, &sent);

	if (long_ != NULL) {
		snprintf(section, sizeof(section), "frames %s", long_->name);
		snprintf(most, sizeof(most), "at most %u bytes, by the interface's MTU", sent);
		return config_refuse(cfg, section, "frame_bytes", most, err);
	}
	for (uint32_t i = 0; i < next->n_streams; i++) {
		if (next->streams[i].params.template.frame_bytes <= nodes->stream_bytes)
			continue;
		snprintf(section, sizeof(section), "frames %s", next->streams[i].name);
		snprintf(most, sizeof(most), "at most %u bytes while it runs", nodes->stream_bytes);
		return config_refuse(cfg, section, "frame_bytes", most, err);
	}
	return 0;
}

static int
op_prepare_next(void *program, const struct config_version *now, struct config_version *next,
		const struct config *cfg, struct config_error *err)
{
	const struct nic_config_context *c = program;
	const struct nic_flow *unfit = nodes_unfit(c->nodes, &of(next)->config);
	char section[NIC_FLOW_NAME_CHARS + 8];
	int rc = check_streams(c->nodes, cfg, &of(next)->config, err);

	if (rc != 0)
		return rc;
	if (unfit != NULL) {
		snprintf(section, sizeof(section), "flow %s", unfit->name);
		return config_refuse(cfg, section, "local_ip", "none with several polling lcores",
				     err);
	}
	order_streams(&of(now)->config, &of(next)->config);
	return enter(c->registry, cfg, &of(now)->config, of(next), err);
}

static void
op_apply(void *program, const struct config_version *v, uint64_t now_ns)
{
	const struct nic_config_context *c = program;

	c->flows->config = &of(v)->config;
	apply(c->nodes, of(v), now_ns);
}

static bool
op_is_done(void *program)
{
	const struct nic_config_context *c = program;

	return nodes_are_reloaded(c->nodes);
}

const struct active_config_ops nic_config_ops = {
	.read = op_read,
	.set = op_set,
	.remove = op_remove,
	.free = op_free,
	.rows = op_rows,
	.prepare = op_prepare_next,
	.warn = op_warn,
	.apply = op_apply,
	.is_done = op_is_done,
};
