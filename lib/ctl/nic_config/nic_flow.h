/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of a NIC's configuration, and the numbers of their QPs.
 *
 * A flow's QPs have consecutive local numbers, beginning with local_qpn if it is given. The other
 * flows then get the lowest free numbers, in the order of the file: if no flow has a local_qpn,
 * all flows are numbered consecutively from first_qpn. QP i of a flow talks to QP peer_qpn + i of
 * the peer. So two files that list their flows in the same order agree if each peer_qpn is the
 * number that the peer's file gives that flow.
 */
#ifndef QUENCH_CTL_NIC_CONFIG_NIC_FLOW_H
#define QUENCH_CTL_NIC_CONFIG_NIC_FLOW_H

#include "base/sets/ranges.h"
#include "ctl/config/config.h"
#include "ctl/nic_config/frame_streams.h"
#include "nic/jobs/job_keys.h"
#include "nic/nic.h"
#include "nic/measure/trace.h"
#include "nic/workload/flow_order.h"

#define NIC_FLOW_NAME_CHARS 32
#define NIC_FLOW_MAX_QPN 0xffffffu
#define NIC_FLOW_AFTER_CHARS 255

/* How the numbers of a flow's QPs are known. */
enum nic_connect { NIC_CONNECT_OFF, NIC_CONNECT_CM, NIC_CONNECT_LISTEN };

/* In the name of a flow that a connection has made: NAME@N, of the flow NAME with connect. */
#define NIC_CONNECTION_SIGN '@'

/* imm_data, which has 32 bits, for the number of the message. */
#define NIC_IMM_NUMBER (1ull << 32)

/* The job of a flow (nic_job.h). */
struct nic_flow_job {
	uint32_t number; /* of the job, from 1 on; 0: the flow is of no job */
	uint32_t pair;
	uint32_t rank, peer; /* of this end, and of the other one */
	bool alive;          /* it asks whether a rank is alive, and says the digest of the job */
};

/* One [flow NAME]. */
struct nic_flow {
	char name[NIC_FLOW_NAME_CHARS + 1];
	struct nic_qp_params qp; /* of the first QP; its vlan_tci is made of vlan_pcp and vlan_id */
	uint32_t qp_count;
	uint32_t local_qpn;    /* of the first QP, from the file; 0: not given */
	uint32_t first_number; /* number of the first QP, minus first_qpn */
	/* set by the program */
	uint32_t id;       /* flow_id */
	uint64_t added_ns; /* when the flow was put in force */
	struct nic_flow_job job;
	uint16_t trace_qps; /* number of traced QPs, from the first */
	uint16_t vlan_id;
	uint8_t vlan_pcp;
	int8_t dscp;       /* -1: data_dscp */
	uint64_t imm_data; /* NIC_IMM_NUMBER: the message's number */
	int connect;       /* enum nic_connect */
	uint16_t cm_port;
	char after[NIC_FLOW_AFTER_CHARS + 1]; /* names of flows; "none", "": none */
	char barrier[FLOW_BARRIER_CHARS + 1]; /* "none", "": none */
};

FIELD_TABLE(nic_flow_fields);

/** Has its end addresses of its own? */
bool nic_flow_is_local(const struct nic_flow *flow);

#define NIC_JOB_RANKS_CHARS 1024
#define NIC_JOB_HERE_CHARS 256

struct nic_job_plan;

/* One [job NAME]. */
struct nic_job {
	char name[NIC_FLOW_NAME_CHARS + 1];
	char ranks[NIC_JOB_RANKS_CHARS + 1];
	char ranks_here[NIC_JOB_HERE_CHARS + 1];
	struct field_ip next_hop; /* version 0: none */
	JOB_KEYS_EMBED;
	struct nic_job_plan *plan;
};

struct nic_config {
	struct nic_params nic;
	struct nic_flow *flows; /* those of jobs, then those of sections in file order; owned */
	unsigned int n_flows, n_job_flows;
	/* Sections with connect: patterns for the flows of their connections. Without QPs of their
	 * own; after flows[], in the same memory. */
	unsigned int n_patterns;
	struct flow_order order;    /* of flows[]; owned */
	struct nic_stream *streams; /* in file order; owned */
	unsigned int n_streams;
	struct nic_job *jobs; /* in file order; owned */
	uint32_t n_jobs;
};

/**
 * Find the flow of a QP number, and the index of the QP in the flow.
 * @return NULL: no flow has this number.
 */
const struct nic_flow *nic_config_flow_of(const struct nic_config *config, uint32_t number,
					  uint32_t *qp);

/** The flow of this name, or NULL. Patterns are no flows. */
const struct nic_flow *nic_config_find(const struct nic_config *config, const char *name);

/** Number of QPs of all flows. */
uint64_t nic_config_qps(const struct nic_config *config);

/**
 * Refuse a flow whose numbers are not available; err as of config_rows_refuse().
 * @param why  A clause that begins with local_qpn or qp_count.
 */
int nic_config_refuse_flow(const struct config *cfg, const struct nic_flow *flow, const char *why,
			   struct config_error *err);

/**
 * Allocate the numbers of the flows for which wants(arg, flow) is true.
 * @param used  Numbers already in use; the allocated ones are added, also after a failure.
 * @return 0; or -EINVAL or -ENOMEM with err filled in.
 */
int nic_config_number(const struct config *cfg, struct nic_config *config, struct ranges *used,
		      bool (*wants)(void *arg, const struct nic_flow *flow), void *arg,
		      struct config_error *err);

/** Parameters of QP i of a flow, i < qp_count. */
struct nic_qp_params nic_flow_qp(const struct nic_flow *flow, uint32_t i);

#endif
