/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows that wait for others: for their ends (after), or in rounds (barrier). */
#include <errno.h>
#include <stdlib.h>

#include "fabric/scenario/scenario_parts.h"

bool
scenario_has_after(const struct flow_params *flow)
{
	return flow->job == NULL && flow_order_is_given(flow->after);
}

bool
scenario_has_barrier(const struct flow_params *flow)
{
	return flow->job == NULL && flow_order_is_given(flow->barrier);
}

int
scenario_order_flows(struct scenario *s, struct scenario_fault *fault)
{
	struct flow_words *words = calloc(s->n_flow_sections + 1u, sizeof(*words));
	struct flow_order_fault why;
	int rc = words == NULL ? -ENOMEM : 0;

	for (uint32_t i = 0; rc == 0 && i < s->n_flow_sections; i++) {
		const struct flow_params *flow = &s->flows[i];
		bool ends = flow->pattern == FLOW_TRACE || workload_ends(&flow->work);

		words[i] = (struct flow_words){
			.name = flow->name,
			.after = flow->after,
			.barrier = flow->barrier,
			.endless = ends ? NULL : "has no messages, bytes or stop_ns",
		};
	}
	if (rc == 0)
		rc = flow_order_read(&s->order, words, s->n_flow_sections, &why);
	free(words);
	if (rc == -ENOMEM)
		return scenario_refuse(fault, "flow", "", NULL, "fewer flows: out of memory");
	if (rc == 0)
		return 0;
	return scenario_refuse(fault, "flow", s->flows[why.flow].name, "after", why.expected);
}
