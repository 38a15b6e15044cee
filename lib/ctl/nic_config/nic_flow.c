/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/nic_config/nic_flow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "ctl/config/config_sections.h"

#define MAX_FLOW_QPS (1u << 22)

static const char *const connect_words[] = {"off", "cm", "listen", NULL};

const struct field nic_flow_fields[] = {
	{FIELD_IN(struct nic_flow, qp, peer_mac), .type = FIELD_MAC, .def = "00:00:00:00:00:00",
	 .help = "MAC address of the peer, or of the router to it; all zero: found by ARP or "
		 "neighbour discovery"},
	{FIELD_IN(struct nic_flow, qp, peer_ip), .type = FIELD_IP, .min = 1,
	 .help = "IP address of the peer"},
	{FIELD_IN(struct nic_flow, qp, next_hop), .type = FIELD_IP, .def = "none",
	 .help = "IP address of the router to the peer, found by ARP or neighbour discovery in "
		 "place of peer_ip; none: the peer is on the link"},
	{FIELD_IN(struct nic_flow, qp, local_mac), .type = FIELD_MAC, .def = "00:00:00:00:00:00",
	 .help = "MAC address of this end; all zero: that of [nic]"},
	{FIELD_IN(struct nic_flow, qp, local_ip), .type = FIELD_IP, .def = "none",
	 .help = "IP address of this end, for which ARP and neighbour discovery are answered; "
		 "none: that of [nic]. local_mac and local_ip need one polling lcore"},
	{FIELD_IN(struct nic_flow, qp, peer_qpn), .type = FIELD_U32, .min = 2,
	 .max = NIC_FLOW_MAX_QPN, .def = "17",
	 .help = "QP number at the peer of the first QP; the other QPs have the numbers after it"},
	{FIELD_OF(struct nic_flow, connect), .type = FIELD_ENUM, .choices = connect_words,
	 .def = "off",
	 .help = "off: both ends know the numbers of the QPs; cm: ask the peer for them by RDMA CM, "
		 "once for each QP; listen: accept what peers ask for by RDMA CM, peer_ip 0.0.0.0 "
		 "or :: meaning any. With cm and listen, each connection becomes a flow NAME@N "
		 "that has the other keys of this one"},
	{FIELD_OF(struct nic_flow, cm_port), .type = FIELD_U16, .min = 1, .max = 65535,
	 .def = "7471", .help = "port of RDMA CM, at the peer (cm) or here (listen)"},
	{FIELD_OF(struct nic_flow, local_qpn), .type = FIELD_U32, .max = NIC_FLOW_MAX_QPN,
	 .def = "0",
	 .help = "local number of the first QP; the other QPs have the numbers after it; 0: the "
		 "lowest free range, in the order of the file"},
	{FIELD_OF(struct nic_flow, qp_count), .type = FIELD_U32, .min = 1, .max = MAX_FLOW_QPS,
	 .def = "1", .help = "number of QPs of this flow"},
	{FIELD_IN(struct nic_flow, qp, initial_psn), .type = FIELD_U32, .max = NIC_FLOW_MAX_QPN,
	 .def = "0", .help = "PSN of the first packet that this end sends; the peer expects it"},
	{FIELD_IN(struct nic_flow, qp, peer_psn), .type = FIELD_U32, .max = NIC_FLOW_MAX_QPN,
	 .def = "0", .help = "PSN of the first packet of the peer; 0: as initial_psn"},
	{FIELD_IN(struct nic_flow, qp, requester), .type = FIELD_BOOL, .def = "on",
	 .help = "on: send messages; off: answer the messages of the peer"},
	{FIELD_IN(struct nic_flow, qp, stopped), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "on: begin no message until a reload or set changes this key to off"},
	{FIELD_IN(struct nic_flow, qp, verb), .type = FIELD_ENUM, .choices = nic_verb_words,
	 .def = "write",
	 .help = "operation of each message: RDMA WRITE, WRITE with immediate data, SEND, RDMA "
		 "READ (the peer sends the data), or UD SEND of one packet; must be the same at "
		 "the peer"},
	{FIELD_IN(struct nic_flow, qp, cc), .type = FIELD_ENUM, .choices = cc_choice_words,
	 .def = "default",
	 .help = "congestion control of the flow, which decides, too, whether its receiver sends "
		 "CNPs or echoes marks in ACKs; must be the same at the peer; default: cc and "
		 "np_ecn_echo of [nic] and [np]"},
	{FIELD_IN(struct nic_flow, qp, remote_addr), .type = FIELD_U64, .max = UINT64_MAX,
	 .def = "0",
	 .help = "address in the peer's memory that each WRITE or READ of the first QP names; a "
		 "responder of quench accepts every address unless it has local_bytes"},
	{FIELD_IN(struct nic_flow, qp, remote_addr_stride), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .max = 1ull << 40, .def = "0",
	 .help = "distance between the remote_addr of one QP and that of the next QP"},
	{FIELD_IN(struct nic_flow, qp, rkey), .type = FIELD_U32, .max = UINT32_MAX, .def = "0",
	 .help = "R_Key of the peer's memory"},
	{FIELD_IN(struct nic_flow, qp, local_addr), .type = FIELD_U64, .max = UINT64_MAX,
	 .def = "0", .help = "responder: first address that WRITEs and READs may name"},
	{FIELD_IN(struct nic_flow, qp, local_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .max = 1ull << 50, .def = "0",
	 .help = "responder: length of the memory at local_addr; a request for other memory gets "
		 "the NAK remote access error; 0: every address and R_Key is accepted. The "
		 "memory exists only as numbers"},
	{FIELD_IN(struct nic_flow, qp, local_rkey), .type = FIELD_U32, .max = UINT32_MAX,
	 .def = "0", .help = "responder: R_Key of the memory at local_addr"},
	{FIELD_IN(struct nic_flow, qp, max_recv_wr), .type = FIELD_U32, .max = NIC_MAX_RECV_WR,
	 .def = "0",
	 .help = "receive WQEs of each responder QP; each SEND, and each WRITE with immediate "
		 "data, takes one, or gets an RNR NAK if there is none; 0: unlimited"},
	{FIELD_IN(struct nic_flow, qp, post_recv_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NIC_MAX_POST_RECV_NS, .def = "0",
	 .help = "time to repost one receive WQE; WQEs are reposted one after another"},
	{FIELD_IN(struct nic_flow, qp, qkey), .type = FIELD_U32, .max = UINT32_MAX,
	 .def = "0x11111111", .help = "Q_Key of verb = ud_send; must be the same at the peer"},
	{FIELD_IN(struct nic_flow, qp, raw), .type = FIELD_BOOL, .def = "off",
	 .help = "send to a device without a responder: no ACK requests and no retransmissions; "
		 "the flow obeys CNPs"},
	{FIELD_IN(struct nic_flow, qp, tagged), .type = FIELD_BOOL, .def = "off",
	 .help = "send frames with an 802.1Q tag"},
	{FIELD_OF(struct nic_flow, vlan_id), .type = FIELD_U16, .max = 4094, .def = "0",
	 .help = "VLAN of the tag; 0: a priority tag"},
	{FIELD_OF(struct nic_flow, vlan_pcp), .type = FIELD_U8, .max = 7, .def = "0",
	 .help = "priority of the tag"},
	{FIELD_OF(struct nic_flow, dscp), .type = FIELD_I8, .min = -1, .max = 63, .def = "-1",
	 .help = "DSCP of data, and of ACK and NAK without ack_dscp; -1: data_dscp of [nic]; must "
		 "be the same at the peer"},
	{FIELD_IN(struct nic_flow, qp, udp_sport), .type = FIELD_U16, .max = UINT16_MAX, .def = "0",
	 .help = "UDP source port of the flow's packets; 0: one for each pair of QP numbers, so "
		 "that switches and RSS spread the QPs over paths and lcores"},
	{FIELD_OF(struct nic_flow, imm_data), .type = FIELD_U64, .max = NIC_IMM_NUMBER,
	 .def = "4294967296",
	 .help = "immediate data of verb = write_imm or send_imm; 4294967296: number of the message, from 0"},
	{FIELD_IN(struct nic_flow, qp, imm_timestamp), .type = FIELD_BOOL, .def = "off",
	 .help = "immediate data of verb = write_imm is the time at which the packet leaves, in ns "
		 "modulo 2^32; with it, a responder with measure_pacing measures one-way times; "
		 "both ends must run on one machine"},
	{FIELD_IN(struct nic_flow, qp, mtu_bytes), .type = FIELD_U16, .unit = UNIT_BYTES,
	 .min = NIC_MIN_MTU, .max = NIC_MAX_MTU, .def = "1024",
	 .help = "RoCE MTU: largest payload of a packet: " NIC_MTU_TEXT},
	WORKLOAD_FIELDS(struct nic_flow, qp, "1MB", "1"),
	{FIELD_OF(struct nic_flow, after), .type = FIELD_STR, .min = 1, .max = NIC_FLOW_AFTER_CHARS,
	 .def = "none",
	 .help = "names of other requesters here, separated by commas: this flow begins when the "
		 "peers have acknowledged all messages of all of them, and start_ns counts from there"},
	{FIELD_OF(struct nic_flow, barrier), .type = FIELD_STR, .min = 1, .max = FLOW_BARRIER_CHARS,
	 .def = "none",
	 .help = "name of a barrier: the QPs of all flows here with this name send one message each "
		 "in a round, and begin the next round together when all have ended this one; "
		 "messages is the number of rounds"},
	{FIELD_IN(struct nic_flow, qp, rate_cap_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 800 * GBPS, .def = "0", .live = true,
	 .help = "highest rate of one QP, in wire bytes, also when congestion control allows "
		 "more; 0: no cap"},
	{FIELD_IN(struct nic_flow, qp, base_rtt_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "0",
	 .help = "round-trip time of a packet on an idle network, used for the slowdown of "
		 "messages; 0: the lowest one measured"},
	{FIELD_OF(struct nic_flow, trace_qps), .type = FIELD_U16, .max = NIC_MAX_TRACES, .def = "0",
	 .help = "number of QPs, from the first, whose rate changes go to --trace FILE"},
};
const unsigned int nic_flow_fields_n = ARRAY_LEN(nic_flow_fields);

int
nic_config_refuse_flow(const struct config *cfg, const struct nic_flow *flow, const char *why,
		       struct config_error *err)
{
	struct config_rows rows = {0};
	char section[NIC_FLOW_NAME_CHARS + 8];

	snprintf(section, sizeof(section), "flow %s", flow->name);
	config_rows_add(&rows, section, nic_flow_fields, nic_flow_fields_n, flow, false);
	config_rows_refuse(cfg, &rows, why, err);
	config_rows_free(&rows);
	return -EINVAL;
}

static int
take_given(const struct config *cfg, const struct nic_params *nic, struct nic_flow *flow,
	   struct ranges *used, struct config_error *err)
{
	uint64_t end = (uint64_t)nic->first_qpn + nic->max_qps;
	int rc;

	if (flow->local_qpn < nic->first_qpn || flow->local_qpn + flow->qp_count > end)
		return nic_config_refuse_flow(
			cfg, flow,
			"local_qpn to local_qpn + qp_count - 1 must be in [first_qpn, "
			"first_qpn + max_qps - 1] of [nic]",
			err);
	rc = ranges_take_at(used, flow->local_qpn - nic->first_qpn, flow->qp_count);
	if (rc == 0)
		flow->first_number = flow->local_qpn - nic->first_qpn;
	if (rc == -EEXIST)
		return nic_config_refuse_flow(
			cfg, flow,
			"local_qpn to local_qpn + qp_count - 1 must not be numbers of another flow, "
			"or of a removed flow that is not idle yet",
			err);
	return rc;
}

static int
take_free(const struct config *cfg, const struct nic_params *nic, struct nic_flow *flow,
	  struct ranges *used, struct config_error *err)
{
	int64_t first = ranges_take(used, flow->qp_count, nic->max_qps);

	if (first == -ENOSPC)
		return nic_config_refuse_flow(
			cfg, flow,
			"qp_count: max_qps of [nic] leaves no such range of numbers free; a removed "
			"flow that is not idle yet keeps its own",
			err);
	if (first < 0)
		return (int)first;
	flow->first_number = (uint32_t)first;
	return 0;
}

int
nic_config_number(const struct config *cfg, struct nic_config *config, struct ranges *used,
		  bool (*wants)(void *arg, const struct nic_flow *flow), void *arg,
		  struct config_error *err)
{
	int rc = 0;

	/* Flows with a local_qpn first, so that the others avoid their numbers. */
	for (unsigned int given = 2; rc == 0 && given-- > 0;) {
		for (unsigned int i = 0; rc == 0 && i < config->n_flows; i++) {
			struct nic_flow *flow = &config->flows[i];

			if ((flow->local_qpn != 0) != given || (wants != NULL && !wants(arg, flow)))
				continue;
			rc = (given ? take_given : take_free)(cfg, &config->nic, flow, used, err);
		}
	}
	if (rc == -ENOMEM)
		snprintf(err->text, sizeof(err->text), "out of memory");
	return rc;
}

const struct nic_flow *
nic_config_flow_of(const struct nic_config *config, uint32_t number, uint32_t *qp)
{
	for (unsigned int i = 0; i < config->n_flows; i++) {
		const struct nic_flow *flow = &config->flows[i];

		if (number - flow->first_number >= flow->qp_count)
			continue;
		if (qp != NULL)
			*qp = number - flow->first_number;
		return flow;
	}
	return NULL;
}

const struct nic_flow *
nic_config_find(const struct nic_config *config, const char *name)
{
	for (unsigned int i = 0; i < config->n_flows; i++)
		if (strcmp(config->flows[i].name, name) == 0)
			return &config->flows[i];
	return NULL;
}

uint64_t
nic_config_qps(const struct nic_config *config)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < config->n_flows; i++)
		n += config->flows[i].qp_count;
	return n;
}

struct nic_qp_params
nic_flow_qp(const struct nic_flow *flow, uint32_t i)
{
	struct nic_qp_params qp = flow->qp;

	qp.peer_qpn += i;
	qp.remote_addr += i * qp.remote_addr_stride;
	return qp;
}

bool
nic_flow_is_local(const struct nic_flow *flow)
{
	static const uint8_t zero[6];

	return flow->qp.local_ip.version != 0 ||
	       memcmp(flow->qp.local_mac, zero, sizeof(zero)) != 0;
}
