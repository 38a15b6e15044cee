/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_desk.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/output/json.h"
#include "runtime/methods/methods.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/connections/connections.h"
#include "base/numbers/units.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"
#include "base/sets/hist.h"
#include "quench-nic/flows/flows.h"
#include "quench-nic/jobs/jobs.h"

json_t *
remove_reply(struct desk_call *call)
{
	char *flows = desk_words(call, "flows", '\n');
	json_t *o = flows == NULL ? NULL : config_remove_reply(call, flows);

	free(flows);
	return o;
}

static void
walk_free(struct walk *w, uint64_t first, uint64_t count)
{
	walk_number(w, WALK_KEY, "local_qpn", "first of consecutive QP numbers that no flow has",
		    first);
	walk_number(w, WALK_KEY, "count", "how many there are", count);
}

void
free_qpns_result(struct walk *w)
{
	walk_free(w, 0, 0);
}

json_t *
free_qpns_reply(struct desk_call *call)
{
	struct active_config *active = call->desk->active;
	const struct nic_config_context *c = (const struct nic_config_context *)active->program;
	const struct nic_config *config = nic_config_of(active_config_running_begin(active));
	uint64_t count = 1;
	json_t *o = NULL;

	/* The turn keeps a change from taking the numbers while they are looked for, not later. */
	if (desk_number(call, "count", 1, config->nic.max_qps, &count)) {
		int64_t first = flow_registry_free_numbers(c->registry, (uint32_t)count);

		if (first < 0) {
			desk_refuse(call, "a smaller COUNT, or a larger max_qps",
				    "no %u consecutive QP numbers are free", (unsigned int)count);
		} else {
			struct json_walk j = json_walk(json_object());

			o = j.at;
			walk_free(&j.walk, config->nic.first_qpn + (uint64_t)first, count);
		}
	}
	active_config_running_end(active);
	return o;
}

static void
walk_connection(struct walk *w, const struct connection *one)
{
	char ip[FIELD_IP_CHARS];

	walk_text(w, WALK_KEY, "flow", "name of its flow", one->flow);
	walk_flag(w, WALK_KEY, "active", "true: we asked", one->view.active);
	walk_text(w, WALK_KEY, "state",
		  "req_sent, rep_rcvd, req_rcvd, rep_sent, rtu_rcvd or established",
		  cm_state_words[one->view.state]);
	walk_text(w, WALK_KEY, "peer_ip", "address of the peer",
		  field_ip_text(&one->view.peer.ip, ip));
	walk_number(w, WALK_KEY, "cm_port", "port of RDMA CM", one->view.terms.port);
	walk_number(w, WALK_KEY, "local_qpn", "our QP", one->qpn);
	walk_number(w, WALK_KEY, "peer_qpn", "the peer's QP; 0: not known yet",
		    one->view.other.qpn);
}

static void
take_row(void *arg, const struct connection *one)
{
	struct json_walk j = json_walk(json_object());

	walk_connection(&j.walk, one);
	json_array_append_new(arg, j.at);
}

static bool
connection_row(struct walk *w, struct desk_call *call, void *rows, uint64_t number)
{
	static const struct connection none;

	if (call == NULL)
		walk_connection(w, &none);
	else
		json_object_update(((struct json_walk *)w)->at, json_array_get(rows, number));
	return true;
}

void
connections_result(struct walk *w)
{
	desk_list_result(w, connection_row);
}

json_t *
connections_reply(struct desk_call *call)
{
	const struct nic_config_context *c =
		(const struct nic_config_context *)call->desk->active->program;
	json_t *rows = json_array(), *reply;

	connections_visit(c->connections, take_row, rows);
	reply = desk_list_reply(call, &(struct desk_list){.end = json_array_size(rows),
							  .row = connection_row,
							  .arg = rows});
	json_decref(rows);
	return reply;
}

static bool
is_reset(void *program)
{
	const struct nic_config_context *c = (const struct nic_config_context *)program;
	bool done = true;

	for (uint16_t i = 0; i < c->nodes->plan.n_lcores; i++)
		done = done && nic_reset_is_done(c->nodes->node[i]);
	return done;
}

static void
walk_reset(struct walk *w, const char *name, uint64_t qps, uint64_t failed, bool in_force,
	   uint64_t waited_ns)
{
	walk_text(w, WALK_KEY, "flow", "name of the flow or job", name);
	walk_number(w, WALK_KEY, "qps", "QPs that were reset", qps);
	walk_number(w, WALK_KEY, "qps_failed", "those of them that had given up", failed);
	walk_flag(w, WALK_KEY, "in_force", "whether all lcores have done it; false: it is pending",
		  in_force);
	walk_number(w, WALK_KEY, "waited_us", "time waited for the lcores", waited_ns / NS_PER_US);
}

void
reset_result(struct walk *w)
{
	walk_reset(w, NULL, 0, 0, false, 0);
}

static json_t *
reset_flow(struct desk_call *call, struct active_config *active, const struct nic_flow *flow)
{
	const struct nic_config_context *c = (const struct nic_config_context *)active->program;
	uint32_t failed = flow_registry_life_info(c->registry, flow->id).qps_failed;
	uint64_t waited_ns;
	struct json_walk j;
	bool in_force;

	if (!active_config_wait(active, active->ops->is_done, NULL) ||
	    !active_config_wait(active, is_reset, NULL))
		return desk_refuse(
			call, "another try",
			"nothing was reset: the previous change is not in force yet; try again");
	for (uint16_t i = 0; i < c->nodes->plan.n_lcores; i++)
		if (nic_reset_flow(c->nodes->node[i], flow->id) != 0)
			return desk_refuse(call, "more memory", "out of memory");
	in_force = active_config_wait(active, is_reset, &waited_ns);
	say("reset flow %s: %u QPs, of which %u had given up", flow->name, flow->qp_count, failed);
	j = json_walk(json_object());
	walk_reset(&j.walk, flow->name, flow->qp_count, failed, in_force, waited_ns);
	return j.at;
}

static const struct nic_job *
find_job(const struct nic_config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_jobs; i++)
		if (strcmp(config->jobs[i].name, name) == 0)
			return &config->jobs[i];
	return NULL;
}

static bool
is_restarted(void *program)
{
	const struct nic_config_context *c = (const struct nic_config_context *)program;

	return nic_job_restart_is_done(c->nodes->node[0]);
}

/* The flows first: they drop their messages. */
static bool
restart_job(const struct nic_config_context *c, struct active_config *active,
	    const struct nic_config *config, uint32_t number, uint64_t *qps)
{
	bool done = active_config_wait(active, active->ops->is_done, NULL) &&
		    active_config_wait(active, is_reset, NULL);

	for (unsigned int f = 0; done && f < config->n_job_flows; f++) {
		if (config->flows[f].job.number != number)
			continue;
		*qps += config->flows[f].qp_count;
		done = nic_reset_flow(c->nodes->node[0], config->flows[f].id) == 0 &&
		       active_config_wait(active, is_reset, NULL);
	}
	for (uint32_t k = 0; done && k < jobs_ranks(c->jobs, number); k++) {
		jobs_restart_rank(c->jobs, number, k);
		done = active_config_wait(active, is_restarted, NULL);
	}
	if (done)
		jobs_restarted(c->jobs, number);
	return done;
}

static json_t *
reset_job(struct desk_call *call, struct active_config *active, const struct nic_config *config,
	  const struct nic_job *job)
{
	const struct nic_config_context *c = (const struct nic_config_context *)active->program;
	uint32_t number = (uint32_t)(job - config->jobs) + 1;
	struct json_walk j = json_walk(json_object());
	uint64_t qps = 0;

	if (!job->stopped) {
		json_decref(j.at);
		return desk_refuse(call, "a job that all its programs have stopped",
				   "job %s is not stopped: its ranks may send", job->name);
	}
	if (!restart_job(c, active, config, number, &qps)) {
		json_decref(j.at);
		return desk_refuse(call, "another try",
				   "job %s is not reset: the lcore is busy; try again", job->name);
	}
	say("reset job %s: its ranks begin with the first iteration", job->name);
	walk_reset(&j.walk, job->name, qps, 0, true, 0);
	return j.at;
}

static bool
jobs_row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	const struct nic_config_context *c =
		call == NULL ? NULL
			     : (const struct nic_config_context *)call->desk->active->program;

	(void)arg;
	jobs_walk(w, c == NULL ? NULL : c->jobs, (uint32_t)i,
		  call == NULL ? NULL : nic_config_of(call->version));
	return true;
}

void
jobs_result(struct walk *w)
{
	desk_list_result(w, jobs_row);
}

json_t *
jobs_reply(struct desk_call *call)
{
	const struct nic_config_context *c =
		(const struct nic_config_context *)call->desk->active->program;

	return desk_list_reply(call, &(struct desk_list){.end = c->jobs->n, .row = jobs_row});
}

json_t *
reset_reply(struct desk_call *call)
{
	struct active_config *active = call->desk->active;
	char digits[DESK_DIGITS];
	const char *name = desk_word(call, "flow", digits);
	const struct nic_config *config;
	const struct nic_flow *flow;
	const struct nic_job *job;
	json_t *o;

	/* No flow is removed during its reset. */
	config = nic_config_of(active_config_running_begin(active));
	flow = nic_config_find(config, name);
	job = find_job(config, name);
	if (job != NULL)
		o = reset_job(call, active, config, job);
	else if (flow != NULL && flow->job.number != 0)
		o = desk_refuse(call, "the name of its job",
				"flow %s is reset with job %s alone, whose messages it carries",
				name, config->jobs[flow->job.number - 1].name);
	else if (flow != NULL)
		o = reset_flow(call, active, flow);
	else
		o = desk_refuse(call, "a flow of show flows that was not removed, or a job",
				"there is no flow %s", name);
	active_config_running_end(active);
	return o;
}

/* Rows of all histograms in one list: bucket b of histogram h is number h * HIST_BUCKETS + b. */
struct histograms {
	struct {
		const char *measure; /* as in times.csv */
		const struct hist *hist;
	} of[6];
	unsigned int n;
};

static void
add(struct histograms *all, const char *measure, const struct hist *hist)
{
	all->of[all->n].measure = measure;
	all->of[all->n++].hist = hist;
}

static bool
bucket_row(struct walk *w, struct desk_call *call, void *arg, uint64_t number)
{
	const struct histograms *all = arg;
	const struct hist *hist = call == NULL ? NULL : all->of[number / HIST_BUCKETS].hist;
	unsigned int bucket = number % HIST_BUCKETS;

	if (call != NULL && hist->weight[bucket] == 0)
		return false;
	WALK(text, w, KEY, "measure", "as in times.csv", all->of[number / HIST_BUCKETS].measure);
	WALK(number, w, KEY, "at_most", "largest value that the bucket takes",
	     hist_bucket_top(bucket));
	WALK(number, w, KEY, "count", "values in the bucket", hist->weight[bucket]);
	return true;
}

void
times_result(struct walk *w)
{
	walk_text(w, WALK_KEY, "flow", "name of the flow", NULL);
	desk_rows_result(w, bucket_row);
}

static json_t *
times_of(struct desk_call *call, struct flows *flows, struct nic_pacing *sum)
{
	const struct nic_times *times;
	const struct nic_pacing *pacing;
	struct histograms all = {0};
	char digits[DESK_DIGITS];
	const char *name = desk_word(call, "flow", digits);
	unsigned int i;
	json_t *o;

	flows_list(flows);
	i = flows_find(flows, name);
	if (i == flows->n_shown)
		return desk_refuse_param(call, "a flow of show flows", "FLOW = %s", name);
	times = flows_times(flows, i);
	pacing = flows_pacing(flows, i, sum);
	if (times != NULL) {
		add(&all, "completion_ns", &times->completion_ns);
		add(&all, "slowdown_milli", &times->slowdown_milli);
		add(&all, "rtt_ns", &times->rtt_ns);
	}
	if (pacing != NULL && pacing->has & NIC_PACING_JITTER)
		add(&all, "jitter_ns", &pacing->jitter_ns);
	if (pacing != NULL && pacing->has & NIC_PACING_BURSTS)
		add(&all, "burst_gap_ns", &pacing->burst_gap_ns);
	if (pacing != NULL && pacing->has & NIC_PACING_ONE_WAY)
		add(&all, "one_way_ns", &pacing->one_way_ns);
	if (all.n == 0)
		return desk_refuse_param(call, "a requester with measure_times, or measure_pacing",
					 "FLOW = %s: it has no times", name);
	o = json_object();
	json_object_set_new(o, "flow", json_string(flows->shown[i].flow->name));
	return desk_list_add(call,
			     &(struct desk_list){.end = (uint64_t)all.n * HIST_BUCKETS,
						 .row = bucket_row,
						 .arg = &all},
			     o);
}

json_t *
times_reply(struct desk_call *call)
{
	const struct nic_version *version = (const struct nic_version *)call->version;
	struct nic_pacing *pacing = malloc(sizeof(*pacing));
	struct flows flows = {0};
	json_t *o = NULL;

	if (pacing == NULL ||
	    flows_open(&flows, nic_config_of(call->version), version->registry, NULL) != 0) {
		desk_refuse(call, "more memory", "out of memory");
	} else {
		flow_registry_read_begin(version->registry);
		o = times_of(call, &flows, pacing);
		flow_registry_read_end(version->registry);
	}
	flows_close(&flows);
	free(pacing);
	return o;
}
