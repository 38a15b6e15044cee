/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/results/trace_csv.h"

#include <inttypes.h>

#include "base/numbers/fixed.h"

void
trace_csv_head(FILE *out)
{
	fputs("time_ns,flow,qp,rate_bps,target_rate_bps,alpha,time_stage,byte_stage,rtt_ns,"
	      "window_bytes,reason\n",
	      out);
}

const char *
trace_reason(uint32_t did, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "%s", did == 0 ? "state" : "");

	for (unsigned int i = 0; i < CC_REASONS; i++) {
		if (did >> i & 1 && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 used > 0 ? "+" : "", cc_reason_word(i));
	}
	return text;
}

void
trace_csv_rows(FILE *out, const char *flow, uint32_t qp, const struct nic_trace *trace)
{
	for (uint32_t i = 0; i < nic_trace_rows(trace); i++) {
		const struct nic_trace_row *row = nic_trace_row(trace, i);
		const struct cc_view *v = &row->view;
		char reason[TRACE_REASON_CHARS + 1];

		fprintf(out,
			"%" PRIu64 ",%s,%u,%" PRIu64 ",%" PRIu64 ",%.6f,%u,%u,%" PRIu64 ",%u,%s\n",
			row->at_ns, flow, qp, v->rate_bps, v->target_rate_bps,
			(double)v->alpha_q32 / (double)Q32_ONE, v->time_stage, v->byte_stage,
			v->rtt_ns, v->window_bytes, trace_reason(row->did, reason, sizeof(reason)));
	}
}
