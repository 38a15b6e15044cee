/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/output/output.h"

#include <errno.h>
#include <inttypes.h>

#include "base/numbers/fixed.h"
#include <string.h>

#include "runtime/notice/say.h"
#include "ctl/results/trace_csv.h"

/* Write the rows flow by flow and QP by QP, so that those of a QP are contiguous. */
static void
write_rows(FILE *out, const struct net *net)
{
	trace_csv_head(out);
	for (uint32_t i = 0; i < net_flow_count(net); i++) {
		const struct net_flow *flow = net_flow(net, i);
		for (uint16_t qp = 0; qp < min_u64(flow->qps, NIC_MAX_TRACES); qp++) {
			const struct nic_trace *trace = net_trace_of(net, i, qp);

			if (trace == NULL)
				continue;
			trace_csv_rows(out, flow->name, qp, trace);
			if (trace->written > trace->capacity)
				say("trace.csv: %s QP %u: the first %" PRIu64 " rows are lost",
				    flow->name, qp, trace->written - trace->capacity);
		}
	}
}

static bool
any_trace(const struct scenario *s)
{
	for (uint32_t i = 0; i < s->n_flows; i++)
		if (s->flows[i].trace_qps > 0)
			return true;
	return false;
}

int
output_trace(const struct lab_run *run, const char *dir)
{
	char path[4096];
	FILE *out;
	int failed;

	if (!any_trace(run->scenario))
		return 0;
	snprintf(path, sizeof(path), "%s/trace.csv.part", dir);
	out = fopen(path, "w");
	if (out == NULL) {
		say_error("%s: %s", path, strerror(errno));
		return -EIO;
	}
	write_rows(out, run->net);
	failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		say_error("%s: %s", path, strerror(errno ? errno : EIO));
		return -EIO;
	}
	return 0;
}
