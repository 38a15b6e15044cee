/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/mad/cm_msg.h"

#include <assert.h>
#include <string.h>

#include "wire/bytes/be.h"
#include "wire/mad/mad.h"

/* Offsets of fields in the body, which follows the header of the MAD. Tables 106 to 113. */
enum {
	LOCAL_ID = 0,
	REMOTE_ID = 4, /* not in a REQ */

	REQ_SERVICE_ID = 8,
	REQ_GUID = 16,
	REQ_QKEY = 28,
	REQ_QPN = 32,    /* 24 bits; then responder resources */
	REQ_DEPTH = 39,  /* initiator depth */
	REQ_REMOTE = 43, /* response timeout 5 bits, transport 2, end-to-end flow control 1 */
	REQ_PSN = 44,    /* 24 bits; then response timeout 5 bits, retry count 3 */
	REQ_PKEY = 48,
	REQ_MTU = 50,     /* MTU 4 bits, RDC exists 1, RNR retry count 3 */
	REQ_RETRIES = 51, /* 4 bits, SRQ 1, extended transport 3 */
	REQ_LOCAL_LID = 52,
	REQ_REMOTE_LID = 54,
	REQ_LOCAL_GID = 56,
	REQ_REMOTE_GID = 72,
	REQ_FLOW_LABEL = 88, /* 20 bits, reserved 6, packet rate 6 */
	REQ_TRAFFIC_CLASS = 92,
	REQ_HOP_LIMIT = 93,
	REQ_SL = 94,          /* service level 4 bits, subnet local 1 */
	REQ_ACK_TIMEOUT = 95, /* 5 bits */

	REP_QKEY = 8,
	REP_QPN = 12,
	REP_PSN = 20,
	REP_RESOURCES = 24,
	REP_DEPTH = 25,
	REP_ACK_DELAY = 26, /* 5 bits, failover accepted 2, end-to-end flow control 1 */
	REP_RNR = 27,       /* RNR retry count 3 bits, SRQ 1 */
	REP_GUID = 28,

	ABOUT = 8,         /* 2 bits: REJ, MRA */
	REJ_ARI_BYTES = 9, /* 7 bits */
	REJ_REASON = 10,
	REJ_ARI = 12,
	MRA_TIMEOUT = 9, /* 5 bits */

	DREQ_QPN = 8,
};

/* First byte of private data in the body, by attribute. */
static const uint8_t private_at[] = {
	[CM_REQ - CM_REQ] = 140, [CM_MRA - CM_REQ] = 10, [CM_REJ - CM_REQ] = 84,
	[CM_REP - CM_REQ] = 36,  [CM_RTU - CM_REQ] = 8,  [CM_DREQ - CM_REQ] = 12,
	[CM_DREP - CM_REQ] = 8,
};

/* Room for private data of a message with this attribute. */
static size_t
private_bytes(uint16_t attribute)
{
	return MAD_BYTES - MAD_HDR_BYTES - private_at[attribute - CM_REQ];
}

uint16_t
cm_mtu_bytes(uint8_t code)
{
	return code >= 1 && code <= 5 ? (uint16_t)(128u << code) : 0;
}

uint8_t
cm_mtu_code(uint16_t mtu_bytes)
{
	uint8_t code = 1;

	while (code < 5 && cm_mtu_bytes(code) < mtu_bytes)
		code++;
	return code;
}

static uint32_t
load24(const uint8_t *at)
{
	return be32_load(at) >> 8;
}

/* Store 24 bits and the byte after them. */
static void
store24(uint8_t *at, uint32_t value, uint8_t after)
{
	be32_store(at, value << 8 | after);
}

static void
parse_req(const uint8_t *body, struct cm_msg *out)
{
	out->service_id = be64_load(body + REQ_SERVICE_ID);
	out->guid = be64_load(body + REQ_GUID);
	out->qkey = be32_load(body + REQ_QKEY);
	out->qpn = load24(body + REQ_QPN);
	out->responder_resources = body[REQ_QPN + 3];
	out->initiator_depth = body[REQ_DEPTH];
	out->remote_response_timeout = body[REQ_REMOTE] >> 3;
	out->transport = body[REQ_REMOTE] >> 1 & 3;
	out->flow_control = body[REQ_REMOTE] & 1;
	out->psn = load24(body + REQ_PSN);
	out->local_response_timeout = body[REQ_PSN + 3] >> 3;
	out->retry_cnt = body[REQ_PSN + 3] & 7;
	out->pkey = be16_load(body + REQ_PKEY);
	out->mtu_code = body[REQ_MTU] >> 4;
	out->rnr_retry = body[REQ_MTU] & 7;
	out->max_retries = body[REQ_RETRIES] >> 4;
	out->srq = body[REQ_RETRIES] >> 3 & 1;
	out->local_lid = be16_load(body + REQ_LOCAL_LID);
	out->remote_lid = be16_load(body + REQ_REMOTE_LID);
	memcpy(out->local_gid, body + REQ_LOCAL_GID, 16);
	memcpy(out->remote_gid, body + REQ_REMOTE_GID, 16);
	out->flow_label = be32_load(body + REQ_FLOW_LABEL) >> 12;
	out->packet_rate = body[REQ_FLOW_LABEL + 3] & 0x3F;
	out->traffic_class = body[REQ_TRAFFIC_CLASS];
	out->hop_limit = body[REQ_HOP_LIMIT];
	out->subnet_local = body[REQ_SL] >> 3 & 1;
	out->ack_timeout = body[REQ_ACK_TIMEOUT] >> 3;
}

static void
build_req(uint8_t *body, const struct cm_msg *m)
{
	be64_store(body + REQ_SERVICE_ID, m->service_id);
	be64_store(body + REQ_GUID, m->guid);
	be32_store(body + REQ_QKEY, m->qkey);
	store24(body + REQ_QPN, m->qpn, m->responder_resources);
	body[REQ_DEPTH] = m->initiator_depth;
	body[REQ_REMOTE] = (uint8_t)(m->remote_response_timeout << 3 | (m->transport & 3) << 1 |
				     m->flow_control);
	store24(body + REQ_PSN, m->psn,
		(uint8_t)(m->local_response_timeout << 3 | (m->retry_cnt & 7)));
	be16_store(body + REQ_PKEY, m->pkey);
	body[REQ_MTU] = (uint8_t)(m->mtu_code << 4 | (m->rnr_retry & 7));
	body[REQ_RETRIES] = (uint8_t)(m->max_retries << 4 | m->srq << 3);
	be16_store(body + REQ_LOCAL_LID, m->local_lid);
	be16_store(body + REQ_REMOTE_LID, m->remote_lid);
	memcpy(body + REQ_LOCAL_GID, m->local_gid, 16);
	memcpy(body + REQ_REMOTE_GID, m->remote_gid, 16);
	be32_store(body + REQ_FLOW_LABEL, m->flow_label << 12 | (m->packet_rate & 0x3Fu));
	body[REQ_TRAFFIC_CLASS] = m->traffic_class;
	body[REQ_HOP_LIMIT] = m->hop_limit;
	body[REQ_SL] = (uint8_t)(m->subnet_local << 3);
	body[REQ_ACK_TIMEOUT] = (uint8_t)(m->ack_timeout << 3);
}

static void
parse_rep(const uint8_t *body, struct cm_msg *out)
{
	out->qkey = be32_load(body + REP_QKEY);
	out->qpn = load24(body + REP_QPN);
	out->psn = load24(body + REP_PSN);
	out->responder_resources = body[REP_RESOURCES];
	out->initiator_depth = body[REP_DEPTH];
	out->ack_delay = body[REP_ACK_DELAY] >> 3;
	out->failover = body[REP_ACK_DELAY] >> 1 & 3;
	out->flow_control = body[REP_ACK_DELAY] & 1;
	out->rnr_retry = body[REP_RNR] >> 5;
	out->srq = body[REP_RNR] >> 4 & 1;
	out->guid = be64_load(body + REP_GUID);
}

static void
build_rep(uint8_t *body, const struct cm_msg *m)
{
	be32_store(body + REP_QKEY, m->qkey);
	store24(body + REP_QPN, m->qpn, 0);
	store24(body + REP_PSN, m->psn, 0);
	body[REP_RESOURCES] = m->responder_resources;
	body[REP_DEPTH] = m->initiator_depth;
	body[REP_ACK_DELAY] =
		(uint8_t)(m->ack_delay << 3 | (m->failover & 3) << 1 | m->flow_control);
	body[REP_RNR] = (uint8_t)(m->rnr_retry << 5 | m->srq << 4);
	be64_store(body + REP_GUID, m->guid);
}

/* @return false: more additional information than there is room for. */
static bool
parse_rej(const uint8_t *body, struct cm_msg *out)
{
	out->about = body[ABOUT] >> 6;
	out->ari_bytes = body[REJ_ARI_BYTES] >> 1;
	out->reason = be16_load(body + REJ_REASON);
	memcpy(out->ari, body + REJ_ARI, CM_ARI_BYTES);
	return out->ari_bytes <= CM_ARI_BYTES;
}

static void
build_rej(uint8_t *body, const struct cm_msg *m)
{
	body[ABOUT] = (uint8_t)(m->about << 6);
	body[REJ_ARI_BYTES] = (uint8_t)(m->ari_bytes << 1);
	be16_store(body + REJ_REASON, m->reason);
	memcpy(body + REJ_ARI, m->ari, CM_ARI_BYTES);
}

static bool
parse_body(const uint8_t *body, struct cm_msg *out)
{
	switch (out->attribute) {
	case CM_REQ:
		parse_req(body, out);
		return out->qpn > 1;
	case CM_REP:
		parse_rep(body, out);
		return out->qpn > 1;
	case CM_REJ:
		return parse_rej(body, out);
	case CM_MRA:
		out->about = body[ABOUT] >> 6;
		out->service_timeout = body[MRA_TIMEOUT] >> 3;
		return true;
	case CM_DREQ:
		out->remote_qpn = load24(body + DREQ_QPN);
		return true;
	default:
		return true;
	}
}

enum cm_verdict
cm_msg_parse(const uint8_t *buf, size_t len, struct cm_msg *out)
{
	const uint8_t *body = buf + MAD_HDR_BYTES;
	struct mad mad;

	if (!mad_parse(buf, len, &mad))
		return CM_MALFORMED;
	if (mad.class != CM_CLASS || mad.method != MAD_METHOD_SEND)
		return CM_OTHER_CLASS;
	if (mad.attribute < CM_REQ || mad.attribute > CM_DREP)
		return CM_OTHER_MESSAGE;
	memset(out, 0, sizeof(*out));
	out->attribute = mad.attribute;
	out->transaction_id = mad.transaction_id;
	out->local_id = be32_load(body + LOCAL_ID);
	if (mad.class_version != CM_CLASS_VERSION)
		return mad.attribute == CM_REQ ? CM_OTHER_VERSION : CM_MALFORMED;
	if (mad.attribute != CM_REQ)
		out->remote_id = be32_load(body + REMOTE_ID);
	memcpy(out->private_data, body + private_at[mad.attribute - CM_REQ],
	       private_bytes(mad.attribute));
	return parse_body(body, out) ? CM_OK : CM_MALFORMED;
}

void
cm_msg_build(uint8_t *buf, const struct cm_msg *msg)
{
	uint8_t *body = buf + MAD_HDR_BYTES;

	assert(msg->attribute >= CM_REQ && msg->attribute <= CM_DREP);
	mad_build(buf, &(struct mad){
			       .class = CM_CLASS,
			       .class_version = CM_CLASS_VERSION,
			       .method = MAD_METHOD_SEND,
			       .transaction_id = msg->transaction_id,
			       .attribute = msg->attribute,
		       });
	be32_store(body + LOCAL_ID, msg->local_id);
	if (msg->attribute != CM_REQ)
		be32_store(body + REMOTE_ID, msg->remote_id);
	if (msg->attribute == CM_REQ) {
		build_req(body, msg);
	} else if (msg->attribute == CM_REP) {
		build_rep(body, msg);
	} else if (msg->attribute == CM_REJ) {
		build_rej(body, msg);
	} else if (msg->attribute == CM_MRA) {
		body[ABOUT] = (uint8_t)(msg->about << 6);
		body[MRA_TIMEOUT] = (uint8_t)(msg->service_timeout << 3);
	} else if (msg->attribute == CM_DREQ) {
		store24(body + DREQ_QPN, msg->remote_qpn, 0);
	}
	memcpy(body + private_at[msg->attribute - CM_REQ], msg->private_data,
	       private_bytes(msg->attribute));
}
