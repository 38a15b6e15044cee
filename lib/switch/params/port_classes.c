/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in force on a port: its own maps and scheduler, else those of the switch. */
#include <string.h>

#include "switch/params/sw_params.h"

/* Replace a value by the port's own. Both are uint8_t arrays, or one uint8_t. */
#define TAKE_OWN(merged, own, member)                                                              \
	do {                                                                                       \
		if ((own)->own_##member)                                                           \
			memcpy(&(merged)->member, (own)->member, sizeof((merged)->member));        \
	} while (0)

struct qos_map_params
sw_port_qos(const struct sw_params *params, uint16_t port)
{
	const struct sw_port_classes *own = &params->ports[port].classes;
	struct qos_map_params merged = params->qos;

	if (own->trust != 0)
		merged.trust = own->trust - 1;
	TAKE_OWN(&merged, own, dscp_to_tc_map);
	TAKE_OWN(&merged, own, dot1p_to_tc_map);
	TAKE_OWN(&merged, own, tc_to_queue_map);
	TAKE_OWN(&merged, own, tc_to_priority_group_map);
	TAKE_OWN(&merged, own, pfc_priority_to_queue_map);
	TAKE_OWN(&merged, own, pfc_enable);
	return merged;
}

uint8_t
sw_port_obeyed_prios(const struct sw_params *params, uint16_t port)
{
	const struct sw_port_params *p = &params->ports[port];

	if (p->flow_control != SW_FLOW_PFC && p->flow_control != SW_FLOW_AUTO)
		return 0;
	return p->pfc_asymmetric ? UINT8_MAX : sw_port_qos(params, port).pfc_enable;
}

struct sched_params
sw_port_sched(const struct sw_params *params, uint16_t port)
{
	const struct sw_port_classes *own = &params->ports[port].classes;
	struct sched_params merged = params->sched;

	TAKE_OWN(&merged, own, strict_queues);
	TAKE_OWN(&merged, own, dwrr_weight);
	return merged;
}

#define FILL(own, merged, member) memcpy((own)->member, (merged)->member, sizeof((merged)->member))
#define CLEAR(own, member)                                                                         \
	do {                                                                                       \
		if (!(own)->own_##member)                                                          \
			memset((own)->member, 0, sizeof((own)->member));                           \
	} while (0)

void
sw_port_maps_fill(struct sw_params *params, uint16_t port)
{
	struct sw_port_classes *own = &params->ports[port].classes;
	const struct qos_map_params qos = sw_port_qos(params, port);
	const struct sched_params sched = sw_port_sched(params, port);

	FILL(own, &qos, dscp_to_tc_map);
	FILL(own, &qos, dot1p_to_tc_map);
	FILL(own, &qos, tc_to_queue_map);
	FILL(own, &qos, tc_to_priority_group_map);
	FILL(own, &qos, pfc_priority_to_queue_map);
	FILL(own, &sched, dwrr_weight);
}

void
sw_port_maps_clear(struct sw_params *params, uint16_t port)
{
	struct sw_port_classes *own = &params->ports[port].classes;

	CLEAR(own, dscp_to_tc_map);
	CLEAR(own, dot1p_to_tc_map);
	CLEAR(own, tc_to_queue_map);
	CLEAR(own, tc_to_priority_group_map);
	CLEAR(own, pfc_priority_to_queue_map);
	CLEAR(own, dwrr_weight);
}
