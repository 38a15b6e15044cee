/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/params/nic_params.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/array.h"
#include "wire/roce/int_hdr.h"
#include "wire/roce/roce.h"

static const char *const flow_control_words[] = {"off", "pfc", "pause", NULL};
static const char *const control_tx_queue_words[] = {"off", "on", "auto", NULL};
static const char *const measure_words[] = {"off", "on", "auto", NULL};
static const char *const initial_rate_words[] = {"line", "fair", "value", NULL};

const char *const nic_verb_words[] = {"write",   "write_imm", "send", "read",
				      "ud_send", "send_imm",  NULL};

/*
 * The sender of a READ is its responder. Like a UD sender, it receives CNPs and no ACKs. An
 * algorithm with ACKs needs them, even if it hears CNPs as well: those of DCTCP cut the rate, and
 * nothing raises it.
 */
bool
nic_is_uncontrolled(int cc, int verb, bool raw)
{
	return (verb == NIC_READ || verb == NIC_UD_SEND || raw) && cc_algorithms[cc]->ack != NULL;
}

uint32_t
nic_cc_mask(const struct nic_params *p)
{
	return p->cc_of_flows | 1u << p->cc;
}

/*
 * Members of nic_params itself; its structs have their own tables. The first table describes one
 * NIC on its port: a fabric chooses these values for each of its NICs.
 */
static const struct field nic_device_fields[] = {
	{FIELD_OF(struct nic_params, mac), .type = FIELD_MAC, .def = "00:00:00:00:00:00",
	 .help = "MAC address of the NIC; all zero: that of the port"},
	{FIELD_OF(struct nic_params, ip), .type = FIELD_IP, .max = 4, .def = "none",
	 .aliases = {{.name = "ipv4"}}, .help = "IPv4 address of the NIC, or none"},
	{FIELD_OF(struct nic_params, ip6), .type = FIELD_IP, .max = 6, .def = "none",
	 .aliases = {{.name = "ipv6"}}, .help = "IPv6 address of the NIC, or none"},
	{FIELD_OF(struct nic_params, link_speed_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = 1000000, .max = 800 * GBPS, .def = "100G", .aliases = {{.name = "link_speed"}},
	 .help = "Speed of the port; sets its shaper, the pause quanta and DCQCN's maximum rate"},
	{FIELD_OF(struct nic_params, shaper_burst_ns), .type = FIELD_U32, .unit = UNIT_NS,
	 .max = 10000000, .def = "0",
	 .help = "Largest burst after a late poll: of the port, as time at line rate; of [frames "
		 "NAME], as time at its rate. 0: 2 us, and if the device is virtual, 4 x "
		 "(--idle-sleep + 50 us)"},
	{FIELD_OF(struct nic_params, first_qpn), .type = FIELD_U32, .min = 2, .max = QPN_MASK,
	 .def = "17", .help = "Number of the first QP; 0 and 1 are reserved by InfiniBand"},
	{FIELD_OF(struct nic_params, max_qps), .type = FIELD_U32, .min = 1, .max = 1u << 22,
	 .def = "1024",
	 .help = "Largest number of QPs, including those of flows that a reload adds; memory is "
		 "allocated at the start"},
	{FIELD_OF(struct nic_params, control_tx_queue), .type = FIELD_ENUM,
	 .choices = control_tx_queue_words, .def = "auto",
	 .help = "Separate transmit queue of each lcore for pause frames, CNPs, ACKs and NAKs "
		 "(quench-nic); auto: on a hardware NIC with enough queues; on: on virtual "
		 "devices too, at both ends"},
	{FIELD_OF(struct nic_params, cm_response_timeout), .type = FIELD_U8, .min = 8, .max = 22,
	 .def = "20",
	 .help = "connect = cm: time within which each end answers a message of the connection "
		 "manager, as exponent n: 4.096 us x 2^n; 20: 4.3 s"},
	{FIELD_OF(struct nic_params, cm_max_retries), .type = FIELD_U8, .max = 15, .def = "15",
	 .help = "connect = cm: number of times that a message without an answer is sent again"},
	{FIELD_OF(struct nic_params, rx_frame_bytes), .type = FIELD_U16, .unit = UNIT_BYTES,
	 .max = 9216, .def = "0",
	 .help = "Largest frame to receive, with FCS, if it is larger than those of flows: test "
		 "frames of other ports"},
	{FIELD_OF(struct nic_params, signatures), .type = FIELD_U32, .max = NIC_TRACKED_MOST,
	 .def = "0",
	 .help = "Streams of signed frames (signature of [frames NAME], here or at other ports) "
		 "that are counted on arrival, a power of two: those with the signatures 1 to "
		 "one less than this; 0: received frames are not looked at"},
	{FIELD_OF(struct nic_params, signature_key), .type = FIELD_U64, .max = UINT64_MAX,
	 .def = "0", .live = true,
	 .help = "Key of signatures: frames that were signed with another one do not count"},
	{FIELD_OF(struct nic_params, neigh_retrans_time_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1000000, .max = 3600 * NS_PER_SEC, .def = "1s",
	 .help = "Time between two ARP requests or neighbour solicitations to a peer that does "
		 "not answer"},
	{FIELD_OF(struct nic_params, neigh_reachable_time_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1000000, .max = UINT64_MAX, .def = "30s",
	 .help = "Time after which the NIC asks again for the MAC address of a peer"},
};
static const unsigned int nic_device_fields_n = ARRAY_LEN(nic_device_fields);

static const struct field nic_fields[] = {
	{FIELD_OF(struct nic_params, qp_burst_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .max = 1000000000, .def = "2048", .live = true,
	 .help = "Largest burst of a QP after a late poll, in wire bytes"},
	{FIELD_OF(struct nic_params, spread_starts), .type = FIELD_BOOL, .def = "on", .live = true,
	 .help = "QPs with rate_cap_bps, and [frames NAME], that start together: spread their first "
		 "packets over the time of one packet at this rate; off: each sends its first "
		 "packet at once, and those of one rate send together from then on"},
	{FIELD_OF(struct nic_params, icrc_check), .type = FIELD_BOOL, .def = "on", .live = true,
	 .help = "Verify the ICRC of received frames"},
	{FIELD_OF(struct nic_params, cc), .type = FIELD_ENUM, .choices = cc_words, .def = "dcqcn",
	 .help = "Congestion control algorithm of flows without one of their own; its keys are in the section of its name, those "
		 "of dcqcn in [rp]; the receiver sends CNPs as [np] says: set N = 0 there for "
		 "dctcp; none: fixed rate, PFC only"},
	{FIELD_OF(struct nic_params, flow_control), .type = FIELD_ENUM,
	 .choices = flow_control_words, .def = "pfc",
	 .help = "Pause frames that the NIC obeys, and sends as a slow receiver: pfc: 802.1Qbb; "
		 "pause: 802.3x; off: none"},
	{FIELD_OF(struct nic_params, initial_rate), .type = FIELD_ENUM,
	 .choices = initial_rate_words, .def = "line", .live = true,
	 .help = "Rate at which a QP starts while other QPs of the NIC are active: line: line "
		 "rate; fair: link speed divided by the number of active QPs, the new one "
		 "included; value: initial_rate_bps. Without other active QPs: line rate"},
	{FIELD_OF(struct nic_params, initial_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 800 * GBPS, .def = "0", .live = true,
	 .help = "Initial rate with initial_rate = "
		 "value"},
	{FIELD_OF(struct nic_params, data_dscp), .type = FIELD_U8, .max = 63, .def = "26",
	 .help = "DSCP of data, and of ACK and NAK without ack_dscp"},
	{FIELD_OF(struct nic_params, ack_dscp), .type = FIELD_I8, .min = -1, .max = 63, .def = "-1",
	 .help = "DSCP of ACK and NAK; -1: that of the flow's data"},
	{FIELD_OF(struct nic_params, data_ecn), .type = FIELD_ENUM, .choices = np_code_points,
	 .def = "ect0",
	 .help = "ECN code point of data; not_ect: switches drop it where they would mark it, "
		 "and no CNP slows it down"},
	{FIELD_OF(struct nic_params, ack_ecn), .type = FIELD_ENUM, .choices = np_code_points,
	 .def = "ect0", .help = "ECN code point of ACK and NAK"},
	{FIELD_OF(struct nic_params, local_ack_timeout), .type = FIELD_U8, .max = 31, .def = "14",
	 .aliases = {{.name = "timeout"}},
	 .help = "Retransmission timeout as exponent n: 4.096 us x 2^n without an ACK; 0: never"},
	{FIELD_OF(struct nic_params, retry_cnt), .type = FIELD_U8, .max = 255, .def = "7",
	 .live = true,
	 .help = "Number of retransmissions without progress before a QP is in error; InfiniBand's "
		 "count has three bits, so connect = cm tells its peer at most 7"},
	{FIELD_OF(struct nic_params, rnr_retry), .type = FIELD_U8, .max = 7, .def = "7",
	 .live = true,
	 .help = "Number of successive RNR NAKs after which a QP still tries again; one more "
		 "puts it in error; 7: no limit"},
	{FIELD_OF(struct nic_params, min_rnr_timer), .type = FIELD_U8, .max = 31, .def = "12",
	 .live = true,
	 .help = "Timer code in RNR NAKs that the NIC sends: the peer waits 10 us (1), 640 us "
		 "(12), 491.52 ms (31), 655.36 ms (0)"},
	{FIELD_OF(struct nic_params, max_rd_atomic), .type = FIELD_U8, .min = 1, .max = 128,
	 .def = "16",
	 .help = "Largest number of outstanding READs of a QP, as requester and as "
		 "responder"},
	{FIELD_OF(struct nic_params, ack_every), .type = FIELD_U16, .min = 1, .max = 65535,
	 .def = "16",
	 .help = "Number of packets per ACK request; the last packet of a message always "
		 "requests an ACK. Default 1 with a cc that has a window (hpcc, swift)"},
	{FIELD_OF(struct nic_params, window_packets), .type = FIELD_U32, .min = 1,
	 .max = NIC_MAX_WINDOW, .def = "4096",
	 .help = "Window: largest number of unacknowledged "
		 "packets of a QP"},
	{FIELD_OF(struct nic_params, rate_window_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .max = 1000000000, .def = "0",
	 .help = "Window that follows the rate, with a cc that has none (VAR_WIN of HPCC's "
		 "simulator): a packet leaves while the unacknowledged payload is below this x "
		 "rate / speed of the port; 0: window_packets alone"},
	{FIELD_OF(struct nic_params, int_slots), .type = FIELD_U8, .min = 1, .max = INT_MAX_HOPS,
	 .def = "5",
	 .help = "Slots of the header for in-band telemetry (doc/int.md) in data packets, one for "
		 "each switch of the longest path, with a cc that needs it (hpcc). Default of "
		 "quench-lab: as many as the longest path has switches"},
	{FIELD_OF(struct nic_params, measure_pacing), .type = FIELD_BOOL, .def = "off",
	 .help = "Measure the pacing of packets: jitter where the data of a flow leaves, gaps "
		 "between bursts and one-way times where it arrives; the JSON of quench-nic "
		 "also shows how late packets leave"},
	{FIELD_OF(struct nic_params, measure_times), .type = FIELD_ENUM, .choices = measure_words,
	 .def = "auto",
	 .help = "Measure completion times and slowdowns of messages, and round-trip times, in "
		 "histograms of each flow; auto: on with at most 32768 QPs on an lcore (184 bytes "
		 "for each QP)"},
};
static const unsigned int nic_fields_n = ARRAY_LEN(nic_fields);

const struct field_section nic_sections[] = {
	{"nic", nic_device_fields, &nic_device_fields_n, 0},
	{"nic", nic_fields, &nic_fields_n, 0},
#define CC(id, word, section)                                                                      \
	FIELD_SECTION(#section, section##_fields, struct nic_params,                               \
		      cc_params.of[CC_SLOT(CC_##id)]),
#include "cc/cc_table.h"
#undef CC
	FIELD_SECTION("np", np_fields, struct nic_params, np),
	FIELD_SECTION("receiver", rx_drain_fields, struct nic_params, receiver),
	FIELD_SECTION("qos_map", qos_map_fields, struct nic_params, qos),
	FIELD_SECTION("pfc", pfc_fields, struct nic_params, pfc),
};
const unsigned int nic_sections_n = ARRAY_LEN(nic_sections);
/* A switch shares the tables of the last two and changes them live; a NIC does not. */
const unsigned int nic_live_sections_n = ARRAY_LEN(nic_sections) - 2;

void
nic_params_default(struct nic_params *p)
{
	int rc;

	memset(p, 0, sizeof(*p));
	rc = field_sections_defaults(nic_sections, nic_sections_n, p);
	assert(rc == 0);
	(void)rc;
}

/* Is this a station's address, neither zero nor a group address (IEEE 802-2014 8.2)? */
static bool
is_station(const uint8_t mac[6])
{
	static const uint8_t zero[6];

	return memcmp(mac, zero, 6) != 0 && !(mac[0] & 1);
}

static const char *
own_fault(const struct nic_params *p)
{
	if (!is_station(p->mac))
		return "mac must be a unicast address other than zero";
	if (p->ip.version == 0 && p->ip6.version == 0)
		return "ip or ip6 must be set";
	if ((p->signatures & (p->signatures - 1)) != 0 || p->signatures == 1)
		return "signatures must be 0 or a power of two from 2 on";
	if (p->max_qps > QPN_MASK + 1 - p->first_qpn)
		return "first_qpn + max_qps must not exceed 2^24";
	if (cc_needs_of(nic_cc_mask(p)).has_window && p->ack_every != 1)
		return "ack_every must be 1 with a cc, here or of a flow, whose window moves with "
		       "each ACK";
	if (p->rate_window_bytes > 0 && cc_algorithms[p->cc]->has_window)
		return "rate_window_bytes must be 0 with this cc, which has a window of its own";
	if (p->rate_window_bytes > 0 && p->ack_every != 1)
		return "ack_every must be 1 with rate_window_bytes, which a cut makes smaller";
	if (p->initial_rate == NIC_INITIAL_VALUE && p->initial_rate_bps == 0)
		return "initial_rate_bps must not be 0 with initial_rate = value";
	if (p->initial_rate == NIC_INITIAL_VALUE && p->initial_rate_bps > p->link_speed_bps)
		return "initial_rate_bps must not exceed link_speed_bps";
	if (p->rp.rp_max_rate_bps > p->link_speed_bps)
		return "rp_max_rate_bps must not exceed link_speed_bps";
	return NULL;
}

/* The section of an algorithm other than DCQCN is checked only if it is in force. */
int
nic_params_check(const struct nic_params *p, char *why, unsigned int why_size)
{
	int rc = fields_check(nic_device_fields, nic_device_fields_n, p, why, why_size);
	const char *fault = NULL;
	struct rp_params rp = p->rp;

	if (rc == 0)
		rc = fields_check(nic_fields, nic_fields_n, p, why, why_size);
	if (rc == 0)
		fault = own_fault(p);
	if (fault != NULL)
		return params_refuse(why, why_size, "%s", fault);
	if (rp.rp_max_rate_bps == 0)
		rp.rp_max_rate_bps = p->link_speed_bps;
	if (rc == 0)
		rc = qos_map_params_check(&p->qos, why, why_size);
	if (rc == 0)
		rc = rp_params_check(&rp, why, why_size);
	for (int i = CC_NONE + 1; i < CC_ALGORITHMS && rc == 0; i++)
		if (i != CC_DCQCN && (nic_cc_mask(p) >> i & 1))
			rc = cc_params_check((enum cc_algorithm)i, &p->cc_params, p->link_speed_bps,
					     why, why_size);
	if (rc == 0)
		rc = rx_drain_params_check(&p->receiver, why, why_size);
	if (rc == 0)
		rc = fields_check(pfc_fields, pfc_fields_n, &p->pfc, why, why_size);
	return rc == 0 ? np_params_check(&p->np, why, why_size) : rc;
}

struct field_ip
nic_qp_local_ip(const struct nic_params *nic, const struct nic_qp_params *qp)
{
	if (qp->local_ip.version != 0)
		return qp->local_ip;
	return qp->peer_ip.version == 4 ? nic->ip : nic->ip6;
}

bool
nic_is_mtu(uint16_t mtu_bytes)
{
	bool ibta = mtu_bytes <= NIC_MAX_IBTA_MTU;

	return mtu_bytes >= NIC_MIN_MTU && mtu_bytes <= NIC_MAX_MTU &&
	       (ibta ? mtu_bytes & (mtu_bytes - 1) : mtu_bytes % NIC_MIN_MTU) == 0;
}

static bool
names_memory(int verb)
{
	return verb == NIC_WRITE || verb == NIC_WRITE_IMM || verb == NIC_READ;
}

int
nic_qp_params_check(const struct nic_qp_params *params, const struct nic_params *nic, char *why,
		    unsigned int why_size)
{
	static const uint8_t no_mac[6];
	const char *fault;

	if (params->peer_mac[0] & 1)
		fault = "peer_mac must be a unicast address or zero";
	else if (params->peer_ip.version != 4 && params->peer_ip.version != 6)
		fault = "peer_ip must be set";
	else if (params->next_hop.version != 0 &&
		 (params->next_hop.version != params->peer_ip.version ||
		  memcmp(params->peer_mac, no_mac, sizeof(no_mac)) != 0))
		fault = "next_hop must be of the version of peer_ip, and without peer_mac";
	else if (params->local_mac[0] & 1)
		fault = "local_mac must be a unicast address or zero";
	else if (params->local_ip.version != 0 &&
		 params->local_ip.version != params->peer_ip.version)
		fault = "local_ip must be of the version of peer_ip";
	else if (params->peer_qpn < 2 || params->peer_qpn > QPN_MASK)
		fault = "peer_qpn must be in [2, 2^24 - 1]";
	else if (params->initial_psn > PSN_MASK)
		fault = "initial_psn must not exceed 2^24 - 1";
	else if (params->peer_psn > PSN_MASK)
		fault = "peer_psn must not exceed 2^24 - 1";
	else if (!nic_is_mtu(params->mtu_bytes))
		fault = "mtu_bytes must be " NIC_MTU_TEXT;
	else if (params->cc > 0 && !(nic_cc_mask(nic) >> cc_chosen(params->cc, nic->cc) & 1))
		fault = "cc must be an algorithm that the NIC had at its start";
	else if (params->has_dscp && params->dscp > 63)
		fault = "dscp must not exceed 63";
	else if (params->max_recv_wr > NIC_MAX_RECV_WR ||
		 params->post_recv_ns > NIC_MAX_POST_RECV_NS)
		fault = "max_recv_wr must not exceed 65536, and post_recv_ns must not exceed an "
			"hour";
	else if (params->max_recv_wr > 0 && params->post_recv_ns == 0)
		fault = "post_recv_ns must not be 0 with max_recv_wr";
	else if (params->local_addr + params->local_bytes < params->local_addr)
		fault = "local_addr + local_bytes must not exceed 2^64 - 1";
	else if (params->local_bytes == 0 && (params->local_addr > 0 || params->local_rkey > 0))
		fault = "local_bytes must not be 0 with local_addr and local_rkey";
	else if (!names_memory(params->verb) && params->remote_addr > 0)
		fault = "remote_addr must be 0 with verb = send, send_imm or ud_send";
	else if (!names_memory(params->verb) && params->remote_addr_stride > 0)
		fault = "remote_addr_stride must be 0 with verb = send, send_imm or ud_send";
	else if (!names_memory(params->verb) && params->rkey > 0)
		fault = "rkey must be 0 with verb = send, send_imm or ud_send";
	else if (!names_memory(params->verb) && params->local_bytes > 0)
		fault = "local_bytes must be 0 with verb = send, send_imm or ud_send";
	else if (params->imm_timestamp && (params->verb != NIC_WRITE_IMM || params->has_imm))
		fault = "imm_timestamp needs verb = write_imm, and no imm_data";
	else if (params->barrier && !params->requester)
		fault = "barrier must be none with requester = off: the peer begins its messages";
	else if (params->barrier && params->arrival != WORKLOAD_CLOSED &&
		 params->arrival != WORKLOAD_INCAST)
		fault = "arrival must be closed or incast with barrier: each round is one message";
	else if (params->raw && params->verb == NIC_READ)
		fault = "raw must be off with verb = read: nobody would send the data";
	else if (params->requester && params->verb == NIC_UD_SEND &&
		 workload_largest_bytes(&params->work) > params->mtu_bytes)
		fault = params->message_size == WORKLOAD_CDF
				? "message_cdf must have no message above mtu_bytes with verb = "
				  "ud_send"
				: "message_bytes must not exceed mtu_bytes with verb = ud_send";
	else if (params->verb == NIC_READ && params->depth > nic->max_rd_atomic &&
		 !workload_is_open(&params->work))
		fault = "depth must not exceed max_rd_atomic of [nic] with verb = read";
	else if (params->requester)
		return workload_check(&params->work, why, why_size);
	else
		return 0;
	return params_refuse(why, why_size, "%s", fault);
}
