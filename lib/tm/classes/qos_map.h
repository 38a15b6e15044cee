/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classification: DSCP or PCP -> traffic class -> egress queue, priority group, PFC priority.
 *
 * The maps are SONiC's (DSCP_TO_TC_MAP, DOT1P_TO_TC_MAP, TC_TO_QUEUE_MAP, TC_TO_PRIORITY_GROUP_MAP,
 * MAP_PFC_PRIORITY_TO_QUEUE). The defaults are this project's: RoCE data DSCP 26 and 24 -> 3, CNP
 * DSCP 48 -> 7, the rest 0. A priority group generates PFC for the priority of the same number. TC,
 * queue and PG are otherwise independent numbers; only these maps relate them.
 *
 * Invariant (qos_map_params_check): pfc_priority_to_queue_map[pg] = queue of every class in a
 * lossless pg.
 */
#ifndef QUENCH_TM_CLASSES_QOS_MAP_H
#define QUENCH_TM_CLASSES_QOS_MAP_H

#include <stdint.h>

#include "base/field/field.h"

#define TM_CLASSES 8 /* number of traffic classes, queues, priority groups and PFC priorities */
#define TM_DSCPS 64

enum qos_trust { QOS_TRUST_DSCP, QOS_TRUST_PCP };

struct qos_map_params {
	int trust; /* enum qos_trust */
	uint8_t dscp_to_tc_map[TM_DSCPS];
	uint8_t dot1p_to_tc_map[TM_CLASSES];
	uint8_t tc_to_queue_map[TM_CLASSES];
	uint8_t tc_to_priority_group_map[TM_CLASSES];
	uint8_t pfc_priority_to_queue_map[TM_CLASSES];
	uint8_t pfc_enable; /* mask of lossless priorities: they obey and generate PFC */
};

FIELD_TABLE(qos_map_fields);

/**
 * Check that values are in range, that each priority in pfc_enable has a traffic class in its
 * group, and that a pause of a lossless class's priority stops the queue of that class.
 *
 * @return 0, or as params_refuse().
 */
int qos_map_params_check(const struct qos_map_params *params, char *why, unsigned int why_size);

/* Aligned, so that compilers copy it as one word. */
struct qos_class {
	_Alignas(4) uint8_t tc;
	uint8_t queue;
	uint8_t pg; /* a priority group generates PFC for the priority of the same number */
};

/**
 * Trust dscp: DSCP if there is an IP header, else PCP if tagged, else class 0. Trust pcp: PCP if
 * tagged, else class 0; the DSCP is ignored.
 *
 * @param dscp  0..63, or -1 when the frame carries no IP header.
 * @param pcp   0..7, or -1 when the frame is untagged.
 */
struct qos_class qos_map_classify(const struct qos_map_params *params, int dscp, int pcp);

/** Mask of the queues that a set of paused priorities stops. */
uint8_t qos_map_paused_queues(const struct qos_map_params *params, uint8_t paused_prios);

/**
 * Egress queues of lossless traffic: the queues of classes whose priority group is in pfc_enable.
 */
uint8_t qos_map_lossless_queues(const struct qos_map_params *params);

#endif
