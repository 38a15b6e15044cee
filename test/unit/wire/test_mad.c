/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Management datagrams and messages of the connection manager. The golden ones are of Linux 6.1
 * (ucmatose on soft-RoCE).
 */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "wire/mad/cm_ip.h"
#include "wire/mad/cm_msg.h"
#include "wire/mad/mad.h"

/* Zeros follow. */
static const uint8_t golden_req[MAD_BYTES] = {
	0x01, 0x07, 0x02, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xc7, 0xcc, 0x94,
	0xfe, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xfe, 0x94, 0xcc, 0xc7, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x06, 0x1d, 0x2f, 0x00, 0x00, 0x00, 0xff, 0xfe,
	0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11, 0x01,
	0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xa0, 0x83, 0x23, 0x0d, 0xa5, 0xff, 0xff, 0x50,
	0xf0, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xff, 0xff, 0x0a, 0x09, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0xff, 0xff, 0x0a, 0x09, 0x00, 0x01, 0x6a, 0xf0, 0xd0, 0x00, 0x00, 0x40, 0x00, 0x98,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x40, 0xba, 0x62, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x0a, 0x09, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x0a, 0x09, 0x00, 0x01,
};
static const uint8_t golden_rtu[MAD_BYTES] = {
	0x01, 0x07, 0x02, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xc7, 0xcc, 0x94,
	0xfe, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xfe, 0x94, 0xcc, 0xc7, 0x91, 0xe7,
};
static const uint8_t golden_drep[MAD_BYTES] = {
	0x01, 0x07, 0x02, 0x03, 0x00, 0x00, 0x00, 0x00, 0xe6, 0xa9, 0x34, 0x20, 0x00, 0x00, 0x00,
	0x01, 0x00, 0x16, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xfe, 0x94, 0xcc, 0xc7, 0x91, 0xe7,
};

TEST(req_of_linux_is_understood)
{
	struct cm_msg m;
	struct cm_ip ip;
	uint16_t port;

	assert_int_equal(cm_msg_parse(golden_req, MAD_BYTES, &m), CM_OK);
	assert_int_equal(m.attribute, CM_REQ);
	assert_true(cm_ip_port(m.service_id, &port));
	assert_int_equal(port, 7471);
	assert_int_equal(m.qpn, 0x11);
	assert_int_equal(m.psn, 0x83230d);
	assert_int_equal(m.responder_resources, 1);
	assert_int_equal(m.initiator_depth, 1);
	assert_int_equal(m.remote_response_timeout, 20);
	assert_int_equal(m.local_response_timeout, 20);
	assert_int_equal(m.transport, CM_TRANSPORT_RC);
	assert_int_equal(m.retry_cnt, 5);
	assert_int_equal(m.rnr_retry, 0);
	assert_int_equal(m.pkey, 0xffff);
	assert_int_equal(cm_mtu_bytes(m.mtu_code), 4096);
	assert_int_equal(m.max_retries, 15);
	assert_int_equal(m.local_lid, 0xffff);
	assert_int_equal(m.flow_label, 0x6af0d);
	assert_int_equal(m.packet_rate, 0);
	assert_int_equal(m.hop_limit, 64);
	assert_int_equal(m.ack_timeout, 0x13);
	assert_memory_equal(m.local_gid + 10, "\xff\xff\x0a\x09\x00\x02", 6);
	assert_true(cm_ip_parse(m.private_data, &ip));
	assert_int_equal(ip.ip_version, 4);
	assert_memory_equal(ip.src_ip, "\x0a\x09\x00\x02", 4);
	assert_memory_equal(ip.dst_ip, "\x0a\x09\x00\x01", 4);
}

TEST(messages_of_linux_are_written_as_linux_does)
{
	const uint8_t *const golden[] = {golden_rtu, golden_drep};
	static const uint16_t attributes[] = {CM_RTU, CM_DREP};

	for (unsigned int i = 0; i < 2; i++) {
		uint8_t built[MAD_BYTES];
		struct cm_msg m;

		assert_int_equal(cm_msg_parse(golden[i], MAD_BYTES, &m), CM_OK);
		assert_int_equal(m.attribute, attributes[i]);
		cm_msg_build(built, &m);
		assert_memory_equal(built, golden[i], MAD_BYTES);
	}
}

/* A message of the attribute with random bytes in its body. */
static enum cm_verdict
random_message(struct prng *r, uint16_t attribute, uint8_t *mad, struct cm_msg *m)
{
	mad_build(mad, &(struct mad){.class = CM_CLASS,
				     .class_version = CM_CLASS_VERSION,
				     .method = MAD_METHOD_SEND,
				     .transaction_id = prng_u64(r),
				     .attribute = attribute});
	for (unsigned int i = MAD_HDR_BYTES; i < MAD_BYTES; i++)
		mad[i] = (uint8_t)prng_u64(r);
	return cm_msg_parse(mad, MAD_BYTES, m);
}

TEST(what_is_built_reads_back_the_same)
{
	struct prng r;

	prng_seed(&r, 1, 0);
	for (unsigned int i = 0; i < 7000; i++) {
		uint8_t mad[MAD_BYTES], built[MAD_BYTES];
		struct cm_msg m, again;

		if (random_message(&r, (uint16_t)(CM_REQ + i % 7), mad, &m) != CM_OK)
			continue;
		cm_msg_build(built, &m);
		assert_int_equal(cm_msg_parse(built, MAD_BYTES, &again), CM_OK);
		assert_memory_equal(&m, &again, sizeof(m));
	}
}

TEST(what_is_no_message_is_told_apart)
{
	uint8_t mad[MAD_BYTES];
	struct cm_msg m;

	memcpy(mad, golden_req, sizeof(mad));
	assert_int_equal(cm_msg_parse(mad, MAD_BYTES - 1, &m), CM_MALFORMED);
	mad[0] = 2; /* base version */
	assert_int_equal(cm_msg_parse(mad, MAD_BYTES, &m), CM_MALFORMED);
	mad[0] = 1;
	mad[1] = 3; /* subnet administration */
	assert_int_equal(cm_msg_parse(mad, MAD_BYTES, &m), CM_OTHER_CLASS);
	mad[1] = CM_CLASS;
	mad[2] = 1;
	assert_int_equal(cm_msg_parse(mad, MAD_BYTES, &m), CM_OTHER_VERSION);
	mad[2] = CM_CLASS_VERSION;
	mad[17] = 0x17; /* SIDR REQ */
	assert_int_equal(cm_msg_parse(mad, MAD_BYTES, &m), CM_OTHER_MESSAGE);
	mad[17] = CM_REQ;
	memset(mad + MAD_HDR_BYTES + 32, 0, 3); /* QP 0 */
	assert_int_equal(cm_msg_parse(mad, MAD_BYTES, &m), CM_MALFORMED);
}

TEST_MAIN()
