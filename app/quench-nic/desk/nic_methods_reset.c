/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_methods_reset.h"

#include <string.h>

#include "base/numbers/units.h"
#include "runtime/report/report.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"
#include "quench-nic/config/nic_version.h"

static bool
is_reset(void *program)
{
	const struct nic_config_context *c = (const struct nic_config_context *)program;
	bool done = true;

	for (uint16_t i = 0; i < c->nodes->plan.n_lcores; i++)
		done = done && nic_reset_is_done(c->nodes->node[i]);
	return done;
}

static json_t *
reset_flow(struct desk_call *call, struct active_config *active, const struct nic_flow *flow)
{
	const struct nic_config_context *c = (const struct nic_config_context *)active->program;
	uint32_t failed = flow_registry_life_info(c->registry, flow->id).qps_failed;
	uint64_t waited_ns;
	bool in_force;
	json_t *o;

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
	o = json_object();
	json_object_set_new(o, "flow", json_string(flow->name));
	report_set_u64(o, "qps", flow->qp_count);
	report_set_u64(o, "qps_failed", failed);
	json_object_set_new(o, "in_force", json_boolean(in_force));
	report_set_u64(o, "waited_us", waited_ns / NS_PER_US);
	return o;
}

json_t *
reset_reply(struct desk_call *call)
{
	struct active_config *active = call->desk->active;
	char digits[DESK_DIGITS];
	const char *name = desk_word(call, "flow", digits);
	const struct nic_flow *flow;
	json_t *o;

	/* No flow is removed during its reset. */
	flow = nic_config_find(nic_config_of(active_config_running_begin(active)), name);
	if (flow != NULL)
		o = reset_flow(call, active, flow);
	else
		o = desk_refuse(call, "a flow of show flows that was not removed",
				"there is no flow %s", name);
	active_config_running_end(active);
	return o;
}
