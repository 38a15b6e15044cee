/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the communication management class (IBTA volume 1, chapter 12, tables 106 to 113):
 * REQ, REP and RTU open a connection, DREQ and DREP close it, REJ refuses, MRA asks for time. Each
 * is one MAD. A parser checks what the format says; whether a value is acceptable is for the
 * connection manager to decide.
 *
 * Invariant (tested): what cm_msg_build() writes, cm_msg_parse() reads back.
 */
#ifndef QUENCH_WIRE_MAD_CM_MSG_H
#define QUENCH_WIRE_MAD_CM_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_CLASS 0x07u
#define CM_CLASS_VERSION 2u

/* Room for private data: in a REQ, and in any message. */
#define CM_REQ_PRIVATE_BYTES 92u
#define CM_MAX_PRIVATE_BYTES 224u
#define CM_ARI_BYTES 72u

enum cm_attribute {
	CM_REQ = 0x10,  /* request for communication */
	CM_MRA = 0x11,  /* message receipt acknowledgement */
	CM_REJ = 0x12,  /* reject */
	CM_REP = 0x13,  /* reply to a REQ */
	CM_RTU = 0x14,  /* ready to use */
	CM_DREQ = 0x15, /* request to disconnect */
	CM_DREP = 0x16, /* reply to a DREQ */
};

/* Messages that a REJ or an MRA may be about. */
enum cm_about { CM_ABOUT_REQ = 0, CM_ABOUT_REP = 1, CM_ABOUT_NONE = 2 };

/* Reasons of a REJ (table 109). */
enum cm_reason {
	CM_REASON_NO_QP = 1,
	CM_REASON_NO_RESOURCES = 3,
	CM_REASON_TIMEOUT = 4,
	CM_REASON_INVALID_COMM_ID = 6,
	CM_REASON_INVALID_SERVICE_ID = 8,
	CM_REASON_INVALID_TRANSPORT = 9,
	CM_REASON_STALE_CONNECTION = 10,
	CM_REASON_INVALID_MTU = 26,
	CM_REASON_INSUFFICIENT_RESOURCES = 27, /* responder resources: READs */
	CM_REASON_CONSUMER = 28,
	CM_REASON_INVALID_CLASS_VERSION = 31,
};

/* Transport service types of a REQ. */
enum cm_transport { CM_TRANSPORT_RC = 0, CM_TRANSPORT_UC = 1, CM_TRANSPORT_RD = 2 };

/* Fields in host order; GIDs as on the wire. A message has only some of them. */
#define CM_MOST_RETRIES 7u /* three bits */

struct cm_msg {
	uint16_t attribute; /* enum cm_attribute */
	uint64_t transaction_id;
	uint32_t local_id;  /* communication ID that the sender chose */
	uint32_t remote_id; /* the receiver's; of a REQ: 0 */
	/* REQ, REP */
	uint64_t guid; /* of the sender's channel adapter */
	uint32_t qkey;
	uint32_t qpn;
	uint32_t psn; /* starting PSN: of the first packet that the receiver sends (12.7.31) */
	uint8_t responder_resources; /* READs that the sender remembers */
	uint8_t initiator_depth;     /* READs that it keeps outstanding */
	uint8_t rnr_retry;           /* that the receiver shall use */
	bool flow_control, srq;
	/* REQ */
	uint64_t service_id;
	uint8_t remote_response_timeout; /* the receiver answers within 4.096 us x 2^n */
	uint8_t local_response_timeout;  /* so does the sender */
	uint8_t transport;               /* enum cm_transport */
	uint8_t retry_cnt;               /* at most CM_MOST_RETRIES */
	uint16_t pkey;
	uint8_t mtu_code; /* 1: 256 ... 5: 4096 */
	uint8_t max_retries;
	uint16_t local_lid, remote_lid;
	uint8_t local_gid[16], remote_gid[16];
	uint32_t flow_label;
	uint8_t packet_rate, traffic_class, hop_limit;
	bool subnet_local;
	uint8_t ack_timeout;
	/* REP */
	uint8_t ack_delay;
	uint8_t failover;
	/* REJ, MRA */
	uint8_t about;   /* enum cm_about */
	uint16_t reason; /* enum cm_reason */
	uint8_t ari_bytes;
	uint8_t ari[CM_ARI_BYTES];
	uint8_t service_timeout; /* MRA: 4.096 us x 2^n */
	/* DREQ */
	uint32_t remote_qpn;
	/* all; its length follows from the attribute */
	uint8_t private_data[CM_MAX_PRIVATE_BYTES];
};

enum cm_verdict {
	CM_OK,
	CM_MALFORMED,     /* not a MAD, or a field with a value that the format does not have */
	CM_OTHER_CLASS,   /* another management class or method */
	CM_OTHER_VERSION, /* a REQ of another class version: out has its IDs, for a REJ */
	CM_OTHER_MESSAGE, /* a message of the class that is not above: LAP, APR, SIDR */
};

enum cm_verdict cm_msg_parse(const uint8_t *buf, size_t len, struct cm_msg *out);

/** Write a MAD of MAD_BYTES. attribute is one of enum cm_attribute. */
void cm_msg_build(uint8_t *buf, const struct cm_msg *msg);

/** MTU in bytes, or 0: no such code. */
uint16_t cm_mtu_bytes(uint8_t code);
/** Inverse of cm_mtu_bytes(). */
uint8_t cm_mtu_code(uint16_t mtu_bytes);

#endif
