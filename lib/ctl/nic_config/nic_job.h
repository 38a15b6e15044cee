/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [job NAME] of a NIC: the ranks that run here, and the flows that carry their messages.
 *
 * All programs of a job read the same sections, in the same order. So each knows the numbers of all
 * QPs, and no program tells another. From first_qpn on, a pair is a rank and another one that it
 * sends to, in the order of ranks; q is qps_per_pair:
 *
 *	pair k    requesters first + 2 k q + i at the sender, responders q after them
 *	          a requester first + 2 n q + 2 k at the receiver, a responder after it
 *	          a requester first + 2 n q + 2 n + 2 j at the sender, a responder after it
 *
 * for QP i of n pairs. The second row is of the flow that asks once a second whether the sender is
 * alive: a rank that only waits for messages has no QP that would give up. The question says the
 * digest of the job as immediate data, so a rank finds that a peer has another job. The third row
 * is of the same question by the sender of pair j of those whose receiver sends nothing back.
 */
#ifndef QUENCH_CTL_NIC_CONFIG_NIC_JOB_H
#define QUENCH_CTL_NIC_CONFIG_NIC_JOB_H

#include "ctl/config/config_kinds.h"
#include "ctl/nic_config/nic_flow.h"

/* Ranks, and flows, of a job here: read once, and shared by the configurations that have it. */
struct nic_job_plan {
	unsigned int users;
	struct job_graph graph;
	struct job_matrix sizes; /* of the keys, which point to it */
	struct field_ip *ips;    /* by rank */
	bool *here;              /* by rank */
	uint32_t n_here;
	struct nic_job_pair {
		uint32_t from, to; /* ranks */
		uint32_t one_way;  /* index among pairs whose receiver sends nothing back; or
				    * JOB_NONE */
	} * pairs;
	uint32_t n_pairs, n_one_way;
	uint32_t digest;       /* of all that the programs of a job must agree on */
	uint32_t first_number; /* of its QPs, counted from first_qpn */
};

/* Rows of [job NAME]. */
extern const struct config_kind nic_job_kind;

/**
 * Put the flows of the jobs before those of sections, in place of those that are there.
 * @return 0; -EINVAL or -ENOMEM with err filled in.
 */
int nic_jobs_add_flows(const struct config *cfg, struct nic_config *config,
		       struct config_error *err);

/** Refuse [flow FLOW], whose name a flow of a job has. @return -EINVAL. */
int nic_job_refuse_name(const struct config *cfg, const char *flow, struct config_error *err);

/** Copy the jobs of a configuration, without their flows. @return 0 or -ENOMEM. */
int nic_jobs_copy(const struct nic_config *from, struct nic_config *out);
void nic_jobs_free(struct nic_config *config);

struct nic_job_plan *nic_job_plan_hold(struct nic_job_plan *plan);
void nic_job_plan_release(struct nic_job_plan *plan);

/* QPs of a pair, counted from first_qpn. */
uint32_t nic_job_requesters(const struct nic_job *job, uint32_t pair);
uint32_t nic_job_responders(const struct nic_job *job, uint32_t pair);
/** The QP at the sender of a pair at which the receiver asks whether it is alive. */
uint32_t nic_job_asked_sender(const struct nic_job *job, uint32_t pair);
/** The QP at the receiver of a pair at which the sender asks; the pair is one-way. */
uint32_t nic_job_asked_receiver(const struct nic_job *job, uint32_t pair);

#endif
