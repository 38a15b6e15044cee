/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which class is this packet? DSCP or PCP -> traffic class -> egress queue, priority group, PFC priority.
 * SONiC's maps (DSCP_TO_TC_MAP, DOT1P_TO_TC_MAP, TC_TO_QUEUE_MAP, TC_TO_PRIORITY_GROUP_MAP,
 * MAP_PFC_PRIORITY_TO_QUEUE); defaults are this project's (RoCE data DSCP 26 and 24 -> 3, CNP DSCP 48 -> 7).
 */
#ifndef QUENCH_TM_QOS_MAP_H
#define QUENCH_TM_QOS_MAP_H

#include <stdint.h>

#include "base/field.h"

#define TM_CLASSES 8 /* traffic classes, queues, priority groups, PFC priorities */

enum qos_trust { QOS_TRUST_DSCP, QOS_TRUST_PCP };

struct qos_map_params {
	int trust; /* enum qos_trust */
	uint8_t dscp_to_tc_map[64];
	uint8_t dot1p_to_tc_map[8];
	uint8_t tc_to_queue_map[TM_CLASSES];
	uint8_t tc_to_priority_group_map[TM_CLASSES];
	uint8_t pfc_priority_to_queue_map[TM_CLASSES];
	uint8_t pfc_enable; /* mask of priorities */
};

extern const struct field qos_map_fields[];
extern const unsigned int qos_map_fields_n;

int qos_map_params_check(const struct qos_map_params *params, const char **why);

struct qos_class {
	uint8_t tc;
	uint8_t queue;
	uint8_t pg; /* a priority group generates PFC for the priority of the same number */
};

/**
 * @param dscp  0..63, or -1 when the frame carries no IP header.
 * @param pcp   0..7, or -1 when the frame is untagged.
 */
struct qos_class qos_map_classify(const struct qos_map_params *params, int dscp, int pcp);

/** Queues that a set of paused priorities stops. */
uint8_t qos_map_paused_queues(const struct qos_map_params *params, uint8_t paused_prios);

#endif
