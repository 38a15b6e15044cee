// SPDX-License-Identifier: BSD-3-Clause
#include "tm/classes/qos_map.h"

#include "base/numbers/array.h"
#include "base/field/field_table.h"

#include <assert.h>

static const char *const trust_words[] = {"dscp", "pcp", NULL};

#define MAP_FIELD(member, keys, text, defaults)                                                    \
	{                                                                                          \
		FIELD_OF(struct qos_map_params, member), .type = FIELD_MAP, .map_keys = keys,      \
							 .max = TM_CLASSES - 1, .def = defaults,   \
							 .live = true, .help = text                \
	}

const struct field qos_map_fields[] = {
	{FIELD_OF(struct qos_map_params, trust), .type = FIELD_ENUM, .choices = trust_words,
	 .def = "dscp", .live = true,
	 .help = "header field that sets the class: dscp (tagged frames without IP: their PCP), "
		 "or pcp (untagged frames: class 0)"},
	MAP_FIELD(dscp_to_tc_map, TM_DSCPS,
		  "DSCP to traffic class: RoCE data 26 and 24 to 3, CNP 48 to 7, the rest 0",
		  "24:3, 26:3, 48:7, *:0"),
	MAP_FIELD(dot1p_to_tc_map, TM_CLASSES,
		  "PCP to traffic class: RoCE 3, CNP 6 (np_cnp_prio of mlx5) and network control 7 "
		  "to 7, the rest 0",
		  "3:3, 6:7, 7:7, *:0"),
	MAP_FIELD(tc_to_queue_map, TM_CLASSES, "traffic class to egress queue: identity",
		  "0:0, 1:1, 2:2, 3:3, 4:4, 5:5, 6:6, 7:7"),
	MAP_FIELD(tc_to_priority_group_map, TM_CLASSES,
		  "traffic class to ingress priority group; default: 3 is lossless, 7 has its "
		  "own group so that bulk data cannot use up the limit of CNPs, and the other "
		  "classes, which have separate queues, share group 0",
		  "3:3, 7:7, *:0"),
	MAP_FIELD(pfc_priority_to_queue_map, TM_CLASSES,
		  "priority of a received PFC frame to the egress queue that it pauses: identity",
		  "0:0, 1:1, 2:2, 3:3, 4:4, 5:5, 6:6, 7:7"),
	{FIELD_OF(struct qos_map_params, pfc_enable), .type = FIELD_SET8, .def = "3", .live = true,
	 .help = "lossless priorities: the port obeys PFC for them, and their groups generate PFC"},
};

const unsigned int qos_map_fields_n = ARRAY_LEN(qos_map_fields);

static const char *
lossless_fault(const struct qos_map_params *p)
{
	uint8_t without_class = p->pfc_enable;

	for (uint8_t tc = 0; tc < TM_CLASSES; tc++) {
		uint8_t pg = p->tc_to_priority_group_map[tc];

		if (!(p->pfc_enable >> pg & 1))
			continue;
		without_class &= (uint8_t) ~(1u << pg);
		/*
		 * Otherwise a pause by the peer would not stop this class, and the peer would drop
		 * frames.
		 */
		if (p->pfc_priority_to_queue_map[pg] != p->tc_to_queue_map[tc])
			return "pfc_priority_to_queue_map and tc_to_queue_map differ for a class "
			       "in pfc_enable: its pause would stop a wrong queue";
	}
	if (without_class != 0)
		return "pfc_enable names a priority that no class has in tc_to_priority_group_map";
	return NULL;
}

int
qos_map_params_check(const struct qos_map_params *params, char *why, unsigned int why_size)
{
	int rc = fields_check(qos_map_fields, qos_map_fields_n, params, why, why_size);
	const char *fault = rc == 0 ? lossless_fault(params) : NULL;

	return fault == NULL ? rc : params_refuse(why, why_size, "%s", fault);
}

static uint8_t
traffic_class(const struct qos_map_params *params, int dscp, int pcp)
{
	if (params->trust == QOS_TRUST_DSCP && dscp >= 0)
		return params->dscp_to_tc_map[dscp];
	if (pcp >= 0)
		return params->dot1p_to_tc_map[pcp];
	return 0;
}

struct qos_class
qos_map_classify(const struct qos_map_params *params, int dscp, int pcp)
{
	assert(dscp < TM_DSCPS && pcp < TM_CLASSES);
	uint8_t tc = traffic_class(params, dscp, pcp);

	return (struct qos_class){
		.tc = tc,
		.queue = params->tc_to_queue_map[tc],
		.pg = params->tc_to_priority_group_map[tc],
	};
}

uint8_t
qos_map_paused_queues(const struct qos_map_params *params, uint8_t paused_prios)
{
	uint8_t queues = 0;

	for (; paused_prios != 0; paused_prios &= (uint8_t)(paused_prios - 1))
		queues |= (uint8_t)(1u << params->pfc_priority_to_queue_map[__builtin_ctz(
					    paused_prios)]);
	return queues;
}

uint8_t
qos_map_lossless_queues(const struct qos_map_params *params)
{
	uint8_t queues = 0;

	for (uint8_t tc = 0; tc < TM_CLASSES; tc++) {
		if (params->pfc_enable >> params->tc_to_priority_group_map[tc] & 1)
			queues |= (uint8_t)(1u << params->tc_to_queue_map[tc]);
	}
	return queues;
}
