/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of a perftest run in a running quench-nic: one flow for each QP, because each has a PSN
 * and an address of its own. They are added through the telemetry socket, and removed at the end.
 *
 * Invariant: every function that fails has printed one error line.
 */
#ifndef QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_FLOWS_H
#define QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_FLOWS_H

#include "quenchctl/perftest/perftest_options.h"
#include "quenchctl/perftest/perftest_wire.h"
#include "quenchctl/socket/client.h"

/* What the flows did since they were added. */
struct perftest_sums {
	uint64_t messages, payload_bytes, retransmitted_packets;
	uint64_t cnps_handled, cnps_sent, ce_packets;
	uint64_t done, failed; /* QPs */
	uint64_t present;      /* flows that were not removed */
	/* Of the flows together, since the NIC's start: UINT64_MAX and 0 if none has started. */
	uint64_t started_ns, ended_ns;
};

struct perftest_flows {
	struct client *client;
	const struct perftest_options *options;
	bool requester;
	/* Before the number of the flow. A name keeps its counters when it is used again, so it
	 * has the verb and the direction, which say what they count. */
	char prefix[PERFTEST_FLOW_CHARS + 16];
	struct field_ip ip, ip6; /* of the NIC; version 0: none */
	uint32_t max_rd_atomic;
	uint32_t first_qpn;                  /* of options->qp_count free ones */
	uint32_t added;                      /* flows */
	uint32_t numbers[PERFTEST_MOST_QPS]; /* in their names; ascending */
	struct perftest_sums before;         /* of earlier flows of these names */
};

/** Read the NIC's addresses and limits. @return 0 or an exit code. */
int perftest_flows_open(struct perftest_flows *f, struct client *c,
			const struct perftest_options *options, bool requester);

/** Find QP numbers. @return 0 or an exit code. */
int perftest_flows_number(struct perftest_flows *f);

/**
 * Add the flow of the next QP: a stopped requester, or a responder, as open() said.
 * @param ours    QP number, PSN, memory of our QP.
 * @param theirs  The peer's.
 * @return 0 or an exit code.
 */
int perftest_flows_add(struct perftest_flows *f, const struct perftest_end *ours,
		       const struct perftest_end *theirs, uint16_t mtu_bytes);

/** Let all requesters begin, or begin no more messages. @return 0 or an exit code. */
int perftest_flows_stop(struct perftest_flows *f, bool stopped);

/** @return 0 or an exit code. */
int perftest_flows_read(struct perftest_flows *f, struct perftest_sums *sums);

/** Remove the flows that were added. May be called twice. @return 0 or an exit code. */
int perftest_flows_close(struct perftest_flows *f);

#endif
