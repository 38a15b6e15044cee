/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/telemetry/nic_telemetry_flows.h"

#include "runtime/report/report.h"
#include "runtime/report/telemetry_config.h"
#include "quench-nic/config/nic_version.h"

json_t *
remove_reply(struct telemetry_call *call)
{
	if (call->n_args == 0)
		return telemetry_refuse(call, "the name of a flow", "FLOW is missing");
	return config_remove_reply(call, call->args[0]);
}

json_t *
free_qpns_reply(struct telemetry_call *call)
{
	struct active_config *active = call->telemetry->active;
	const struct nic_config_context *c = (const struct nic_config_context *)active->program;
	const struct nic_config *config = nic_config_of(active_config_running_begin(active));
	uint64_t count = 1;
	json_t *o = NULL;

	/* The turn keeps a change from taking the numbers while they are looked for, not later. */
	if (telemetry_optional_number(call, 0, "COUNT", 1, config->nic.max_qps, &count)) {
		int64_t first = flow_registry_free_numbers(c->registry, (uint32_t)count);

		if (first < 0) {
			telemetry_refuse(call, "a smaller COUNT, or a larger max_qps",
					 "no %u consecutive QP numbers are free",
					 (unsigned int)count);
		} else {
			o = json_object();
			report_set_u64(o, "local_qpn", config->nic.first_qpn + (uint64_t)first);
			report_set_u64(o, "count", count);
		}
	}
	active_config_running_end(active);
	return o;
}
