/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/say.h"
#include "ctl/trace_csv.h"

int
trace_start(struct node *const *nodes, const struct nic_share *share,
	    const struct nic_config *config)
{
	uint32_t first = 0;

	for (unsigned int f = 0; f < config->n_flows; f++) {
		const struct nic_flow *flow = &config->flows[f];

		for (uint32_t i = 0; i < flow->qp_count && i < flow->trace_qps; i++) {
			struct nic_place at = nic_share_find(share, first + i);
			int rc = nic_trace_qp(nodes[at.node], at.item, NIC_TRACE_ROWS);

			if (rc == 0)
				continue;
			say_error("flow %s: trace of QP %u: %s (at most %u in all)", flow->name, i,
				  strerror(-rc), NIC_MAX_TRACES);
			return APP_FAILED;
		}
		first += flow->qp_count;
	}
	return 0;
}

static void
write_trace(FILE *out, const struct nic_config *config, uint32_t number,
	    const struct nic_trace *trace)
{
	uint32_t qp;
	const struct nic_flow *flow = nic_config_flow_of(config, number, &qp);

	trace_csv_rows(out, flow->name, qp, trace);
	if (trace->written > trace->capacity)
		say("trace: %s QP %u: the first %" PRIu64 " rows are lost", flow->name, qp,
		    trace->written - trace->capacity);
}

int
trace_write(struct node *const *nodes, uint16_t n_nodes, const struct nic_share *share,
	    const struct nic_config *config, const char *path)
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

		/* Not those that people asked for meanwhile. */
		for (uint32_t i = 0; i < traces->n; i++)
			if (traces->trace[i]->owned)
				write_trace(
					out, config,
					nic_share_number(share,
							 (struct nic_place){at, traces->index[i]}),
					traces->trace[i]);
	}
	failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		say_error("%s: %s", path, strerror(errno ? errno : EIO));
		return APP_FAILED;
	}
	return 0;
}
