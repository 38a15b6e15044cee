/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_methods_flows.h"

#include <stdlib.h>

#include "runtime/report/report.h"
#include "runtime/methods/config_methods.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/connections/connections.h"

json_t *
remove_reply(struct desk_call *call)
{
	char *flows = desk_words(call, "flows", '\n');
	json_t *o = flows == NULL ? NULL : config_remove_reply(call, flows);

	free(flows);
	return o;
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
			o = json_object();
			report_set_u64(o, "local_qpn", config->nic.first_qpn + (uint64_t)first);
			report_set_u64(o, "count", count);
		}
	}
	active_config_running_end(active);
	return o;
}

static void
take_row(void *arg, const struct connection *one)
{
	char ip[FIELD_IP_CHARS];
	json_t *row = json_object();

	json_object_set_new(row, "flow", json_string(one->flow));
	json_object_set_new(row, "active", json_boolean(one->view.active));
	json_object_set_new(row, "state", json_string(cm_state_words[one->view.state]));
	json_object_set_new(row, "peer_ip", json_string(field_ip_text(&one->view.peer.ip, ip)));
	report_set_u64(row, "cm_port", one->view.terms.port);
	report_set_u64(row, "local_qpn", one->qpn);
	report_set_u64(row, "peer_qpn", one->view.other.qpn);
	json_array_append_new(arg, row);
}

static json_t *
connection_row(struct desk_call *call, void *rows, uint64_t number)
{
	(void)call;
	return json_incref(json_array_get(rows, number));
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
