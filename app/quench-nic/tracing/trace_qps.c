/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/tracing/trace_qps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/notice/say.h"
#include "ctl/results/trace_csv.h"

/*
 * The traced QPs, as configured at the start: a flow may be removed, and its numbers may then
 * belong to another flow.
 */
static struct traced {
	char flow[NIC_FLOW_NAME_CHARS + 1];
	uint32_t qp;
	struct nic_location at;
} traced[NIC_MAX_TRACES];
static unsigned int n_traced;

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
				struct traced *t = &traced[n_traced++];

				*t = (struct traced){.qp = i, .at = at};
				snprintf(t->flow, sizeof(t->flow), "%s", flow->name);
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
write_trace(FILE *out, const struct traced *t, const struct nic_trace *trace)
{
	trace_csv_rows(out, t->flow, t->qp, trace);
	if (trace->written > trace->capacity)
		say("trace: %s QP %u: the first %" PRIu64 " rows are lost", t->flow, t->qp,
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
			for (unsigned int k = 0; k < n_traced; k++)
				if (traces->trace[i]->owned && traced[k].at.node == at &&
				    traced[k].at.item == traces->trace[i]->index)
					write_trace(out, &traced[k], traces->trace[i]);
	}
	failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		say_error("%s: %s", path, strerror(errno ? errno : EIO));
		return APP_FAILED;
	}
	return 0;
}
