/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/params/prober_params.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "wire/roce/roce.h"

static const char *const verbs[] = {"write", "send", NULL};

const struct field prober_fields[] = {
	{FIELD_OF(struct prober_params, mac), .type = FIELD_MAC, .def = "00:00:00:00:00:00",
	 .help = "MAC address of the prober; all zero: that of the port"},
	{FIELD_OF(struct prober_params, ip), .type = FIELD_IP, .min = 1,
	 .help = "IP address of the prober"},
	{FIELD_OF(struct prober_params, second_ip), .type = FIELD_IP, .def = "none",
	 .help = "Another address of the prober, for one more QP after those of qp_count; tells "
		 "whether CNPs are limited by address pair or by port"},
	{FIELD_OF(struct prober_params, peer_mac), .type = FIELD_MAC, .def = "00:00:00:00:00:00",
	 .help = "MAC address of the NIC under test, or of the router towards it; all zero: the "
		 "source of its first frame"},
	{FIELD_OF(struct prober_params, peer_ip), .type = FIELD_IP, .min = 1,
	 .help = "IP address of the NIC under test"},
	{FIELD_OF(struct prober_params, link_speed_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = 1000000, .max = 800 * GBPS, .def = "100G", .aliases = {{.name = "link_speed"}},
	 .help = "Speed of the link to the NIC; pause quanta count its bits"},
	{FIELD_OF(struct prober_params, local_qpn), .type = FIELD_U32, .min = 2, .max = QPN_MASK,
	 .def = "17", .help = "Number of the prober's first QP"},
	{FIELD_OF(struct prober_params, peer_qpn), .type = FIELD_U32, .min = 2, .max = QPN_MASK,
	 .def = "17", .help = "Number of the NIC's first QP, which talks to local_qpn"},
	{FIELD_OF(struct prober_params, qp_count), .type = FIELD_U32, .min = 1,
	 .max = PROBER_MAX_QPS - 1, .def = "1",
	 .help = "Number of QPs between ip and peer_ip; with 2 or more the report has the effect "
		 "of one QP on another"},
	{FIELD_OF(struct prober_params, psn), .type = FIELD_U32, .max = PSN_MASK, .def = "0",
	 .help = "PSN that the NIC expects in the first request; a NAK corrects it"},
	{FIELD_OF(struct prober_params, mtu_bytes), .type = FIELD_U16, .min = 256, .max = 4096,
	 .def = "1024", .aliases = {{.name = "mtu"}}, .help = "Path MTU of the QPs"},
	{FIELD_OF(struct prober_params, verb), .type = FIELD_ENUM, .choices = verbs, .def = "write",
	 .help = "Requests to the NIC: write (to remote_addr and rkey) or send"},
	{FIELD_OF(struct prober_params, remote_addr), .type = FIELD_U64, .max = UINT64_MAX,
	 .def = "0", .help = "Address in the NIC's memory that WRITEs name"},
	{FIELD_OF(struct prober_params, rkey), .type = FIELD_U32, .max = UINT32_MAX, .def = "0",
	 .help = "Remote key of that memory"},
	{FIELD_OF(struct prober_params, vlan_id), .type = FIELD_U16, .max = 4094, .def = "0",
	 .help = "VLAN of the prober's frames; 0: untagged"},
	{FIELD_OF(struct prober_params, vlan_pcp), .type = FIELD_U8, .max = 7, .def = "3",
	 .help = "Priority in their tag"},
	{FIELD_OF(struct prober_params, data_dscp), .type = FIELD_U8, .max = 63, .def = "26",
	 .help = "DSCP of the prober's requests and ACKs"},
	{FIELD_OF(struct prober_params, cnp_dscp), .type = FIELD_U8, .max = 63, .def = "48",
	 .help = "DSCP of the prober's CNPs"},
	{FIELD_OF(struct prober_params, data_prio), .type = FIELD_U8, .max = 7, .def = "3",
	 .help = "Priority of the NIC's data, which the prober pauses"},
	{FIELD_OF(struct prober_params, wait_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1000000, .max = 3600 * NS_PER_SEC, .def = "60s",
	 .help = "Longest wait for the NIC's first frame, before the first experiment"},
	{FIELD_OF(struct prober_params, answer_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1000000, .max = 600 * NS_PER_SEC, .def = "1s",
	 .help = "Longest wait for an answer; also for a retransmission after a time-out"},
	{FIELD_OF(struct prober_params, curve_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1000000, .max = 600 * NS_PER_SEC, .def = "100ms",
	 .help = "Longest recovery from CNPs that is waited for and recorded"},
	{FIELD_OF(struct prober_params, settle_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 10000, .max = 60 * NS_PER_SEC, .def = "2ms",
	 .help = "Rest between the steps of an experiment; more than the interval of the NIC's "
		 "CNPs and the round trip"},
	{FIELD_OF(struct prober_params, np), .type = FIELD_BOOL, .def = "on",
	 .help = "Probe the notification point"},
	{FIELD_OF(struct prober_params, rp), .type = FIELD_BOOL, .def = "on",
	 .help = "Probe the reaction point"},
	{FIELD_OF(struct prober_params, transport), .type = FIELD_BOOL, .def = "on",
	 .help = "Probe the transport"},
	{FIELD_OF(struct prober_params, pfc), .type = FIELD_BOOL, .def = "on",
	 .help = "Probe the reaction to pause frames"},
};
const unsigned int prober_fields_n = ARRAY_LEN(prober_fields);

void
prober_params_default(struct prober_params *params)
{
	int rc;

	memset(params, 0, sizeof(*params));
	rc = field_defaults(prober_fields, prober_fields_n, params);
	assert(rc == 0);
	(void)rc;
}

int
prober_params_check(const struct prober_params *p, char *why, unsigned int why_size)
{
	int rc = fields_check(prober_fields, prober_fields_n, p, why, why_size);

	if (rc != 0)
		return rc;
	if (p->ip.version != p->peer_ip.version)
		return params_refuse(why, why_size,
				     "ip and peer_ip must both be IPv4 or both IPv6");
	if (memcmp(&p->ip, &p->peer_ip, sizeof(p->ip)) == 0)
		return params_refuse(why, why_size, "peer_ip must be another address than ip");
	if (p->second_ip.version != 0 && p->second_ip.version != p->ip.version)
		return params_refuse(why, why_size,
				     "ip and second_ip must both be IPv4 or both IPv6");
	if ((p->mac[0] | p->peer_mac[0]) & 1)
		return params_refuse(why, why_size, "mac and peer_mac must be unicast addresses");
	if ((p->mtu_bytes & (p->mtu_bytes - 1)) != 0)
		return params_refuse(why, why_size,
				     "mtu_bytes must be 256, 512, 1024, 2048 or 4096");
	if (p->local_qpn + prober_qps(p) > QPN_MASK + 1 ||
	    p->peer_qpn + prober_qps(p) > QPN_MASK + 1)
		return params_refuse(why, why_size,
				     "qp_count must leave all QP numbers below 2^24");
	return 0;
}
