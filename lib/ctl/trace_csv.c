/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/trace_csv.h"

#include <inttypes.h>

#include "base/fixed.h"

void
trace_csv_head(FILE *out)
{
	fputs("time_ns,flow,qp,rate_bps,target_rate_bps,alpha,time_stage,byte_stage,rtt_ns,"
	      "reason\n",
	      out);
}

/* Words of a cc_did mask, joined by '+'. */
static void
print_reason(FILE *out, uint32_t did)
{
	const char *joint = "";

	for (unsigned int i = 0; i < CC_REASONS; i++) {
		if (!(did >> i & 1))
			continue;
		fprintf(out, "%s%s", joint, cc_reason_word(i));
		joint = "+";
	}
}

void
trace_csv_rows(FILE *out, const char *flow, uint32_t qp, const struct nic_trace *trace)
{
	for (uint32_t i = 0; i < nic_trace_rows(trace); i++) {
		const struct nic_trace_row *row = nic_trace_row(trace, i);
		const struct cc_view *v = &row->view;

		fprintf(out, "%" PRIu64 ",%s,%u,%" PRIu64 ",%" PRIu64 ",%.6f,%u,%u,%" PRIu64 ",",
			row->at_ns, flow, qp, v->rate_bps, v->target_rate_bps,
			(double)v->alpha_q32 / (double)Q32_ONE, v->time_stage, v->byte_stage,
			v->rtt_ns);
		print_reason(out, row->did);
		fputc('\n', out);
	}
}
