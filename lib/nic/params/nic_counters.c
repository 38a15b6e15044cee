/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/params/nic_counters.h"

#include "base/numbers/array.h"

#include <stddef.h>

#define COUNTER(m, text) COUNTER_FIELD(struct nic_stats, m, text)
#define NEIGH_COUNTER(m, text)                                                                     \
	{                                                                                          \
#m, text, offsetof(struct nic_stats, neigh.m)                                      \
	}
#define CM_COUNTER(m, text)                                                                        \
	{                                                                                          \
#m, text, offsetof(struct nic_stats, cm.m)                                         \
	}
#define DROP(d, word, text)                                                                        \
	{                                                                                          \
		word, text, offsetof(struct nic_stats, drops[NIC_DROP_##d])                        \
	}

/* clang-format off */
const struct counter_field nic_counters[] = {
	COUNTER(rx_packets, "Frames received"),
	COUNTER(rx_bytes, "Bytes received, with FCS"),
	COUNTER(tx_packets, "Frames sent"),
	COUNTER(tx_bytes, "Bytes sent, with FCS"),
	COUNTER(rx_roce_packets, "Valid RoCEv2 packets received"),
	COUNTER(rx_crossed_packets, "RoCEv2 packets handed to the lcore that owns their QP"),
	COUNTER(rx_write_requests, "First packets of WRITE messages received"),
	COUNTER(rx_send_requests, "First packets of SEND messages received"),
	COUNTER(rx_read_requests, "READ requests received"),
	COUNTER(rx_ud_missed_packets, "PSNs missing between two received UD packets"),
	COUNTER(rx_ud_late_packets, "UD packets received late or twice: their PSN is below the "
				    "highest one received"),
	COUNTER(out_of_sequence, "Requests and READ responses received ahead of the expected PSN"),
	COUNTER(packet_seq_err, "NAKs received of kind PSN sequence error"),
	COUNTER(implied_nak_seq_err, "ACKs or NAKs received that imply missing READ responses"),
	COUNTER(duplicate_request, "Requests received more than once"),
	COUNTER(duplicate_response, "READ responses received more than once"),
	COUNTER(local_ack_timeout_err, "Retransmission timeouts"),
	COUNTER(retransmitted_packets, "Data packets sent again"),
	COUNTER(qp_errors, "QPs that failed: their peer did not answer, or refused a request"),
	COUNTER(acks_sent, "ACKs sent"),
	COUNTER(naks_sent, "NAKs sent"),
	COUNTER(acks_received, "ACKs received"),
	COUNTER(rnr_naks_sent, "RNR NAKs sent; naks_sent includes them"),
	COUNTER(rnr_naks_received, "RNR NAKs received"),
	COUNTER(rnr_nak_retry_err, "QPs in error after more than rnr_retry RNR NAKs in a row"),
	COUNTER(no_mbuf, "Times that a frame had to wait for an mbuf"),
	COUNTER(rx_pause_frames, "PFC and 802.3x PAUSE frames received"),
	COUNTER(rx_global_pause_frames, "802.3x PAUSE frames received; rx_pause_frames includes "
					"them"),
	COUNTER(tx_pause_frames, "PFC or 802.3x PAUSE frames sent"),
	{ "tx_pause_storm_warning_events", "Times that the NIC paused a priority for "
					   "device_stall_minor_watermark_ns",
	  offsetof(struct nic_stats, pause_storm.tx_pause_storm_warning_events) },
	{ "tx_pause_storm_error_events",
	  "Times that the NIC paused a priority for device_stall_critical_watermark_ns and "
	  "stopped pausing it",
	  offsetof(struct nic_stats, pause_storm.tx_pause_storm_error_events) },
	COUNTER(neigh_requests_sent, "ARP requests and neighbour solicitations sent"),
	COUNTER(neigh_requests_answered, "ARP requests and neighbour solicitations answered"),
	NEIGH_COUNTER(neigh_learnt, "Peers whose MAC address was learnt"),
	NEIGH_COUNTER(neigh_changed, "Times that a peer had a new MAC address"),
	NEIGH_COUNTER(neigh_contested, "ARP and neighbour discovery messages with another MAC address "
				       "than a peer's known one, which was asked first"),
	NEIGH_COUNTER(neigh_failed, "Times that a peer did not answer a request for its MAC "
				    "address"),
	CM_COUNTER(cm_messages_sent, "Messages of the connection manager sent, and attempts to send "
				     "while the peer's MAC address is unknown"),
	CM_COUNTER(cm_messages_received, "Messages of the connection manager received"),
	CM_COUNTER(cm_retries, "Messages of the connection manager sent again for want of an answer"),
	CM_COUNTER(cm_duplicates, "Messages of the connection manager received again"),
	CM_COUNTER(cm_connected, "Connections established"),
	CM_COUNTER(cm_rejects_sent, "REJ messages sent"),
	CM_COUNTER(cm_rejects_received, "REJ messages received"),
	CM_COUNTER(cm_timeouts, "Connections ended because the peer did not answer"),
	CM_COUNTER(cm_stale, "Connections ended because the peer had forgotten them"),
	CM_COUNTER(cm_doubts, "Dropped: REQ or REP with the numbers of an established connection, whose "
			      "peer was asked about it"),
	CM_COUNTER(cm_evicted, "Handshakes, and connections in TIMEWAIT, given up for new REQs"),
	CM_COUNTER(cm_drop_malformed, "Dropped: message of the connection manager malformed"),
	CM_COUNTER(cm_drop_unsupported, "Dropped: management datagram of another class, version or "
					"attribute"),
	CM_COUNTER(cm_drop_unknown, "Dropped: message for an unknown connection"),
	CM_COUNTER(cm_drop_unexpected, "Dropped: message that does not fit the connection's state"),
	CM_COUNTER(cm_drop_full, "Dropped: REQ or REP, no room for a connection"),
	CM_COUNTER(cm_drop_unsent, "Dropped: message that would exceed the limit of waiting ones"),
	COUNTER(cm_no_mbuf, "Dropped: message of the connection manager, no mbuf free"),
	COUNTER(echo_requests_answered, "ICMP and ICMPv6 echo requests answered"),
	DROP(MALFORMED, "drop_malformed", "Dropped: Ethernet or IP header malformed"),
	DROP(NOT_FOR_US, "drop_not_for_us", "Dropped: destination MAC or IP address is not ours"),
	DROP(NOT_ROCE, "drop_not_roce", "Dropped: not UDP port 4791"),
	DROP(BAD_ROCE, "drop_bad_roce", "Dropped: length, version or pad of RoCEv2 wrong"),
	DROP(UNKNOWN_OPCODE, "drop_unknown_opcode",
	     "Dropped: opcode of a transport other than RC and UD"),
	DROP(BAD_ICRC, "rx_icrc_encapsulated", "Dropped: ICRC wrong"),
	DROP(UNKNOWN_QP, "drop_unknown_qp", "Dropped: unknown destination QP"),
	DROP(WRONG_PEER, "drop_wrong_peer", "Dropped: source address is not the QP's peer"),
	DROP(WRONG_VLAN, "drop_wrong_vlan", "Dropped: VLAN is not that of the QP's flow"),
	DROP(UNEXPECTED_OPCODE, "drop_unexpected_opcode",
	     "Dropped: opcode does not follow the previous one of the message, or is not "
	     "supported"),
	DROP(WRONG_TRANSPORT, "drop_wrong_transport", "Dropped: UD packet for an RC QP, or the reverse"),
	DROP(BAD_QKEY, "qkey_violations", "Dropped: UD packet with a wrong Q_Key"),
	DROP(UNEXPECTED_ACK, "drop_unexpected_ack", "Dropped: ACK or NAK for a PSN that was not "
						    "sent"),
	DROP(UNEXPECTED_RESPONSE, "drop_unexpected_response",
	     "Dropped: READ response without a request, or of the wrong length"),
	DROP(REMOTE_ACCESS, "resp_remote_access_errors",
	     "Dropped: WRITE or READ outside local_addr and local_bytes of the flow, or with "
	     "another R_Key"),
	DROP(OUT_OF_SEQUENCE, "drop_out_of_sequence", "Dropped: PSN after a gap; the peer sends "
						      "the packet again"),
	DROP(OUT_OF_BUFFER, "out_of_buffer", "Dropped: no receive WQE; RC answers with an RNR NAK"),
	DROP(NO_BUFFER, "rx_discards_phy", "Dropped: the priority's receive buffer ([receiver] "
					   "buffer_bytes) is full"),
	DROP(MAC_CONTROL_MALFORMED, "drop_mac_control_malformed",
	     "Dropped: MAC Control frame too short"),
	DROP(MAC_CONTROL_UNKNOWN, "drop_mac_control_unknown",
	     "Dropped: MAC Control opcode neither PFC nor PAUSE"),
	DROP(MAC_CONTROL_ADDRESS, "drop_mac_control_address",
	     "Dropped: MAC Control frame sent neither to 01:80:C2:00:00:01 nor to our address"),
	DROP(NEIGH_MALFORMED, "drop_neigh_malformed",
	     "Dropped: invalid ARP or neighbour discovery message"),
	DROP(CM_LENGTH, "cm_drop_length", "Dropped: datagram to QP 1 that is not 256 bytes long"),
	DROP(CM_ADDRESS, "cm_drop_address",
	     "Dropped: datagram to QP 1 at local_mac or local_ip of a flow: connections are made "
	     "at the addresses of [nic]"),
	DROP(CM_OVERFLOW, "cm_drop_overflow",
	     "Dropped: datagram to QP 1 that the connection manager has no room for"),
	DROP(ANSWER_OVERFLOW, "drop_answer_overflow",
	     "Dropped: ARP request, solicitation or echo request that would exceed the limit of "
	     "answers (1/64 of the link)"),
};
/* clang-format on */
const unsigned int nic_counters_n = ARRAY_LEN(nic_counters);

const char *
nic_drop_name(enum nic_drop d)
{
	static const char *const names[NIC_DROPS] = {
		[NIC_DROP_MALFORMED] = "malformed",
		[NIC_DROP_NOT_FOR_US] = "not_for_us",
		[NIC_DROP_NOT_ROCE] = "not_roce",
		[NIC_DROP_BAD_ROCE] = "bad_roce",
		[NIC_DROP_UNKNOWN_OPCODE] = "unknown_opcode",
		[NIC_DROP_BAD_ICRC] = "bad_icrc",
		[NIC_DROP_UNKNOWN_QP] = "unknown_qp",
		[NIC_DROP_WRONG_PEER] = "wrong_peer",
		[NIC_DROP_WRONG_VLAN] = "wrong_vlan",
		[NIC_DROP_UNEXPECTED_OPCODE] = "unexpected_opcode",
		[NIC_DROP_WRONG_TRANSPORT] = "wrong_transport",
		[NIC_DROP_BAD_QKEY] = "bad_qkey",
		[NIC_DROP_UNEXPECTED_ACK] = "unexpected_ack",
		[NIC_DROP_UNEXPECTED_RESPONSE] = "unexpected_response",
		[NIC_DROP_REMOTE_ACCESS] = "remote_access",
		[NIC_DROP_OUT_OF_SEQUENCE] = "out_of_sequence",
		[NIC_DROP_OUT_OF_BUFFER] = "out_of_buffer",
		[NIC_DROP_NO_BUFFER] = "no_buffer",
		[NIC_DROP_MAC_CONTROL_MALFORMED] = "mac_control_malformed",
		[NIC_DROP_MAC_CONTROL_UNKNOWN] = "mac_control_unknown",
		[NIC_DROP_MAC_CONTROL_ADDRESS] = "mac_control_address",
		[NIC_DROP_NEIGH_MALFORMED] = "neigh_malformed",
		[NIC_DROP_CM_LENGTH] = "cm_length",
		[NIC_DROP_CM_ADDRESS] = "cm_address",
		[NIC_DROP_CM_OVERFLOW] = "cm_overflow",
		[NIC_DROP_ANSWER_OVERFLOW] = "answer_overflow",
	};

	return d < NIC_DROPS ? names[d] : "none";
}
