/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/tracing/tracing.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/numbers/fixed.h"
#include "runtime/notice/say.h"
#include "ctl/results/trace_csv.h"

#define TEND_NS NS_PER_SEC
/* Interval and number of checks whether the owners have adopted a change. */
#define OWNER_LOOK_NS 100000l
#define OWNER_LOOKS 20000

/*
 * The traced QPs, as configured at the start: a flow may be removed, and its numbers may then
 * belong to another flow.
 */
static struct configured {
	char flow[NIC_FLOW_NAME_CHARS + 1];
	uint32_t qp;
	struct nic_location at;
} configured[NIC_MAX_TRACES];
static unsigned int n_configured;

int
trace_start(struct node *const *nodes, const struct nic_share *share,
	    const struct nic_config *config)
{
	for (unsigned int f = 0; f < config->n_flows; f++) {
		const struct nic_flow *flow = &config->flows[f];

		for (uint32_t i = 0; i < flow->qp_count && i < flow->trace_qps; i++) {
			struct nic_location at = nic_share_find(share, flow->first_number + i);
			int rc = nic_trace_qp(nodes[at.node], at.item, NIC_TRACE_ROWS);

			if (rc == 0) {
				struct configured *c = &configured[n_configured++];

				*c = (struct configured){.qp = i, .at = at};
				snprintf(c->flow, sizeof(c->flow), "%s", flow->name);
				continue;
			}
			say_error("flow %s: trace of QP %u: %s (at most %u in all)", flow->name, i,
				  strerror(-rc), NIC_MAX_TRACES);
			return APP_FAILED;
		}
	}
	return 0;
}

static void
write_trace(FILE *out, const struct configured *c, const struct nic_trace *trace)
{
	trace_csv_rows(out, c->flow, c->qp, trace);
	if (trace->written > trace->capacity)
		say("trace: %s QP %u: the first %" PRIu64 " rows are lost", c->flow, c->qp,
		    trace->written - trace->capacity);
}

int
trace_write(struct node *const *nodes, uint16_t n_nodes, const char *path)
{
	FILE *out = fopen(path, "w");
	int failed;

	if (out == NULL) {
		say_error("%s: %s", path, strerror(errno));
		return APP_FAILED;
	}
	trace_csv_head(out);
	for (uint16_t at = 0; at < n_nodes; at++) {
		const struct nic_traces *traces = nic_traces(nodes[at]);

		/* Skip traces that were started at the front desk. */
		for (uint32_t i = 0; i < traces->n; i++)
			for (unsigned int k = 0; k < n_configured; k++)
				if (traces->trace[i]->owned && configured[k].at.node == at &&
				    configured[k].at.item == traces->trace[i]->index)
					write_trace(out, &configured[k], traces->trace[i]);
	}
	failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		say_error("%s: %s", path, strerror(errno ? errno : EIO));
		return APP_FAILED;
	}
	return 0;
}

const char *const tracing_words[] = {
	[TRACING_START] = "start", [TRACING_STOP] = "stop", [TRACING_ON] = "on",
	[TRACING_OFF] = "off",     [TRACING_WORDS] = NULL,
};

static struct node *
node_of(const struct tracing *t, uint32_t i)
{
	return t->nodes->node[i];
}

int
tracing_open(struct tracing *t, const struct nic_nodes *nodes)
{
	*t = (struct tracing){.nodes = nodes};
	for (uint32_t at = 0; at < nodes->plan.n_lcores; at++) {
		const struct nic_traces *traces = nic_traces(nodes->node[at]);

		t->told[at] = *traces;
		for (uint32_t i = 0; i < traces->n; i++) {
			assert(t->n < NIC_MAX_TRACES);
			t->traced[t->n++] = (struct traced){
				.trace = traces->trace[i],
				.number = nic_share_number(
					nodes->share, (struct nic_location){at, traces->index[i]}),
				.at = {at, traces->index[i]},
				.serial = ++t->serials,
				.configured = true,
			};
		}
	}
	return -pthread_mutex_init(&t->lock, NULL);
}

static void
free_old(struct tracing *t)
{
	while (t->n_old > 0)
		nic_trace_destroy(t->old[--t->n_old]);
}

void
tracing_close(struct tracing *t)
{
	if (t->nodes == NULL)
		return;
	free_old(t);
	for (uint32_t i = 0; i < t->n; i++)
		if (!t->traced[i].configured)
			nic_trace_destroy(t->traced[i].trace);
	pthread_mutex_destroy(&t->lock);
	*t = (struct tracing){0};
}

static struct traced *
find(struct tracing *t, uint32_t number)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->traced[i].number == number && !nic_trace_has_ended(t->traced[i].trace))
			return &t->traced[i];
	return NULL;
}

static bool
all_taken_over(const struct tracing *t)
{
	bool all = true;

	for (uint32_t i = 0; i < t->nodes->plan.n_lcores; i++)
		all = all && nic_traces_are_set(node_of(t, i));
	return all;
}

/* Wait until the owners have adopted the last change, and free old traces. @return 0 or -EBUSY. */
static int
wait_for_owners(struct tracing *t, const atomic_bool *stop)
{
	const struct timespec pause = {.tv_nsec = OWNER_LOOK_NS};

	for (unsigned int i = 0; i < OWNER_LOOKS && !all_taken_over(t) &&
				 !atomic_load_explicit(stop, memory_order_relaxed);
	     i++)
		nanosleep(&pause, NULL);
	if (!all_taken_over(t))
		return -EBUSY;
	free_old(t);
	return 0;
}

/*
 * Give each node its set of traces, if it changed. Call only when all nodes have adopted their
 * previous sets.
 */
static void
tell_owners(struct tracing *t)
{
	for (uint32_t at = 0; at < t->nodes->plan.n_lcores; at++) {
		struct nic_traces now;

		/* memcmp() compares padding too. */
		memset(&now, 0, sizeof(now));
		for (uint32_t i = 0; i < t->n; i++)
			if (t->traced[i].at.node == at)
				nic_traces_add(&now, t->traced[i].trace);
		if (memcmp(&now, &t->told[at], sizeof(now)) == 0)
			continue;
		t->told[at] = now;
		nic_set_traces(node_of(t, at), &t->told[at]);
	}
}

/* Remove a trace from the list. The caller then calls tell_owners(). */
static void
take_out(struct tracing *t, struct traced *traced)
{
	t->old[t->n_old++] = traced->trace;
	*traced = t->traced[--t->n];
}

static bool
is_forgotten(const struct traced *traced, uint64_t now_ns)
{
	return !traced->configured && (!traced->on || nic_trace_has_ended(traced->trace)) &&
	       sub_sat(now_ns, traced->read_ns) > TRACING_LEASE_NS;
}

static void
take_out_forgotten(struct tracing *t, uint64_t now_ns)
{
	for (uint32_t i = t->n; i-- > 0;)
		if (is_forgotten(&t->traced[i], now_ns))
			take_out(t, &t->traced[i]);
}

/* @return 0 with the QP's trace in *out, or -ENOSPC, -ENOMEM or -EBUSY. */
static int
find_or_begin(struct tracing *t, uint32_t number, uint64_t now_ns, struct traced **out)
{
	struct nic_location at = nic_share_find(t->nodes->share, number);
	struct nic_trace *trace;

	*out = find(t, number);
	if (*out != NULL)
		return 0;
	if (t->n == NIC_MAX_TRACES)
		return -ENOSPC;
	/* The flow was added just now, and its QP has no place yet. */
	if (at.item == NIC_NO_ITEM)
		return -EBUSY;
	trace = nic_trace_create(at.item, NIC_TRACE_ROWS);
	if (trace == NULL)
		return -ENOMEM;
	*out = &t->traced[t->n++];
	**out = (struct traced){
		.trace = trace,
		.number = number,
		.at = at,
		.serial = ++t->serials,
		.began_ns = now_ns,
	};
	return 0;
}

static int
begin(struct tracing *t, uint32_t number, bool on, uint64_t now_ns)
{
	struct traced *traced;
	int rc = find_or_begin(t, number, now_ns, &traced);

	if (rc != 0)
		return rc;
	traced->read_ns = now_ns;
	traced->clients += !on;
	traced->on |= on;
	return 0;
}

static int
end(struct tracing *t, uint32_t number, bool off)
{
	struct traced *traced = find(t, number);

	if (traced == NULL)
		return -ENOENT;
	if (traced->configured && off)
		return -EPERM;
	if (traced->clients > 0)
		traced->clients--;
	if (off || (traced->clients == 0 && !traced->on && !traced->configured))
		take_out(t, traced);
	return 0;
}

int
tracing_set(struct tracing *t, uint32_t number, enum tracing_word word, const atomic_bool *stop,
	    uint64_t now_ns)
{
	int rc;

	pthread_mutex_lock(&t->lock);
	rc = wait_for_owners(t, stop);
	if (rc == 0) {
		take_out_forgotten(t, now_ns);
		rc = word == TRACING_START || word == TRACING_ON
			     ? begin(t, number, word == TRACING_ON, now_ns)
			     : end(t, number, word == TRACING_OFF);
		tell_owners(t);
	}
	if (rc == 0)
		rc = wait_for_owners(t, stop);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

struct traced *
tracing_hold(struct tracing *t, uint32_t number)
{
	pthread_mutex_lock(&t->lock);
	return find(t, number);
}

void
tracing_release(struct tracing *t)
{
	pthread_mutex_unlock(&t->lock);
}

void
tracing_tend(struct tracing *t, uint64_t now_ns)
{
	/*
	 * If another thread holds the lock, it does this work itself or only reads: try again
	 * later.
	 */
	if (now_ns < t->tend_ns || pthread_mutex_trylock(&t->lock) != 0)
		return;
	t->tend_ns = now_ns + TEND_NS;
	if (t->n_old == 0 && all_taken_over(t)) {
		take_out_forgotten(t, now_ns);
		tell_owners(t);
	}
	pthread_mutex_unlock(&t->lock);
}
