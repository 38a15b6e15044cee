/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters of the prober: its addresses, the NIC under test, and the QPs between the two. QP i of
 * the prober, local_qpn + i, talks to QP peer_qpn + i of the NIC.
 */
#ifndef QUENCH_PROBE_PARAMS_PROBER_PARAMS_H
#define QUENCH_PROBE_PARAMS_PROBER_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field_table.h"

/* Most QPs, that of second_ip included. */
#define PROBER_MAX_QPS 64u

enum prober_verb { PROBER_WRITE, PROBER_SEND };

struct prober_params {
	uint8_t mac[6];
	struct field_ip ip;
	struct field_ip second_ip; /* of one more QP, to tell limits by address from those by
				    * port; version 0: none */
	uint8_t peer_mac[6];       /* zero: the source of the first frame from peer_ip */
	struct field_ip peer_ip;
	uint64_t link_speed_bps;
	uint32_t local_qpn, peer_qpn, qp_count;
	uint32_t psn; /* of our first request to each QP */
	uint16_t mtu_bytes;
	int verb; /* enum prober_verb of our requests */
	uint64_t remote_addr;
	uint32_t rkey;
	uint16_t vlan_id; /* 0: untagged */
	uint8_t vlan_pcp;
	uint8_t data_dscp, cnp_dscp;
	uint8_t data_prio;  /* PFC priority of the NIC's data */
	uint64_t wait_ns;   /* longest wait for the NIC's first frame */
	uint64_t answer_ns; /* longest wait for one answer */
	uint64_t curve_ns;  /* longest recovery that is recorded */
	uint64_t settle_ns; /* rest between two steps of an experiment */
	bool np, rp, transport, pfc;
};

FIELD_TABLE(prober_fields);

/** QPs in all. */
static inline uint32_t
prober_qps(const struct prober_params *p)
{
	return p->qp_count + (p->second_ip.version != 0);
}

void prober_params_default(struct prober_params *params);

/** Ranges and rules across keys. mac may be zero: the program fills it in. @return 0, or as
 * params_refuse(). */
int prober_params_check(const struct prober_params *params, char *why, unsigned int why_size);

#endif
