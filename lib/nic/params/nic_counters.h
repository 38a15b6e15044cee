/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of a NIC node. One writer, the node's owner; any thread may read.
 *
 * Each received frame that is dropped is counted in exactly one of drops[].
 */
#ifndef QUENCH_NIC_PARAMS_NIC_COUNTERS_H
#define QUENCH_NIC_PARAMS_NIC_COUNTERS_H

#include <stdint.h>

#include "base/threads/counter.h"
#include "cc/cc.h"
#include "cc/points/np.h"
#include "fwd/neigh.h"
#include "nic/cm/cm.h"
#include "nic/host/pause_storm.h"

/* Reasons to drop a received frame. */
enum nic_drop {
	NIC_DROP_MALFORMED, /* Ethernet or IP: frame_verdict */
	NIC_DROP_NOT_FOR_US,
	NIC_DROP_NOT_ROCE,
	NIC_DROP_BAD_ROCE,       /* lengths, version, pad: roce_verdict */
	NIC_DROP_UNKNOWN_OPCODE, /* of a transport other than RC and UD */
	NIC_DROP_BAD_ICRC,       /* rx_icrc_encapsulated */
	NIC_DROP_UNKNOWN_QP,
	NIC_DROP_WRONG_PEER, /* source address is not that of the QP's peer */
	NIC_DROP_WRONG_VLAN, /* VLAN is not that of the QP's flow */
	NIC_DROP_UNEXPECTED_OPCODE,
	NIC_DROP_WRONG_TRANSPORT,     /* UD for an RC QP, or the reverse */
	NIC_DROP_BAD_QKEY,            /* qkey_violations */
	NIC_DROP_UNEXPECTED_ACK,      /* acknowledges a PSN not sent yet */
	NIC_DROP_UNEXPECTED_RESPONSE, /* of READ: not requested, or malformed */
	NIC_DROP_REMOTE_ACCESS,       /* a WRITE or READ names memory that the flow does not have */
	NIC_DROP_OUT_OF_SEQUENCE,
	NIC_DROP_OUT_OF_BUFFER, /* no receive WQE */
	NIC_DROP_NO_BUFFER,     /* rx_discards_phy: the slow receiver's buffer is full */
	NIC_DROP_MAC_CONTROL_MALFORMED,
	NIC_DROP_MAC_CONTROL_UNKNOWN,
	NIC_DROP_MAC_CONTROL_ADDRESS, /* to another station */
	NIC_DROP_NEIGH_MALFORMED,     /* ARP or neighbour discovery */
	NIC_DROP_CM_LENGTH,           /* a datagram to QP 1 that is not a MAD */
	NIC_DROP_CM_ADDRESS,          /* a datagram to QP 1 at the address of a flow */
	NIC_DROP_CM_OVERFLOW,         /* more datagrams to QP 1 than the connection manager takes */
	NIC_DROP_ANSWER_OVERFLOW, /* ARP/ND request while replies exceed their share of the link */
	NIC_DROPS
};

/** The reason's name, e.g. "wrong_peer". */
const char *nic_drop_name(enum nic_drop d);

struct nic_stats {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes; /* frame bytes with FCS */
	uint64_t rx_roce_packets;
	uint64_t rx_crossed_packets;                  /* received for a QP of another node */
	uint64_t rx_write_requests, rx_send_requests; /* messages begun */
	uint64_t rx_read_requests;                    /* each counted once, in order */
	uint64_t duplicate_response;                  /* READ responses received twice */
	uint64_t implied_nak_seq_err; /* a response showed that earlier READ responses are lost */
	uint64_t rx_ud_missed_packets,
		rx_ud_late_packets; /* PSNs skipped; packets that arrive after a later PSN */
	uint64_t out_of_sequence;
	uint64_t packet_seq_err; /* NAKs "PSN sequence error" received */
	uint64_t duplicate_request;
	uint64_t local_ack_timeout_err;
	uint64_t retransmitted_packets;
	uint64_t qp_errors; /* QPs that ran out of retries, or whose responder refused them */
	uint64_t acks_sent, naks_sent, acks_received;
	uint64_t rnr_naks_sent, rnr_naks_received; /* rnr_naks_sent are also in naks_sent */
	uint64_t rnr_nak_retry_err;                /* QPs that exceeded rnr_retry */
	uint64_t no_mbuf; /* a frame could not be built now; it is built later */
	uint64_t rx_pause_frames, tx_pause_frames;
	uint64_t rx_global_pause_frames; /* 802.3x; also in rx_pause_frames */
	struct pause_storm_stats pause_storm;
	uint64_t neigh_requests_sent, neigh_requests_answered, echo_requests_answered;
	uint64_t drops[NIC_DROPS];
	union {
		struct rp_stats rp; /* of cc = dcqcn; also counts the CNPs of all algorithms */
		struct cc_stats cc; /* of all algorithms */
	};
	struct np_stats np;
	struct neigh_stats neigh;
	uint64_t cm_no_mbuf;
	struct cm_stats cm; /* written by the control lcore */
};

/* Members of nic_stats itself and of neigh, including drops; its other structs have their own
 * tables. */
COUNTER_TABLE(nic_counters);

#endif
