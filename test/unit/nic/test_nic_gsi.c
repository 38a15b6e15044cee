/* SPDX-License-Identifier: BSD-3-Clause */
/* QP 1: which datagrams reach the connection manager, and from which address it answers. */
#include "unit/nic/nic_test.h"

#include "nic/gsi/gsi.h"
#include "wire/mad/cm_ip.h"
#include "wire/mad/mad.h"

#define PORT 7471u

static void
start(void)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo_create(&solo, 256);
	assert_int_equal(nic_gsi_open(&solo.nic, 1, solo.pools.control), 0);
	/* A flow with addresses of its own. */
	qp.requester = false;
	qp.local_ip = (struct field_ip){4, {10, 0, 0, 77}};
	memcpy(qp.local_mac, (uint8_t[6]){2, 0, 0, 0, 0, 77}, 6);
	assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
}

static struct roce_path
path_to(uint8_t last_of_mac, uint8_t last_of_ip)
{
	struct roce_path path = solo_path(&solo);

	path.dest_qp = GSI_QPN;
	path.dst_mac[5] = last_of_mac;
	path.dst_ip[3] = last_of_ip;
	return path;
}

/* A REQ for a port at which nobody listens, and what the connection manager makes of it. */
static void
feed_req(const struct roce_path *path, uint32_t id)
{
	struct cm_msg req = {.attribute = CM_REQ,
			     .transaction_id = id,
			     .local_id = id,
			     .qpn = id,
			     .service_id = cm_ip_service(PORT),
			     .transport = CM_TRANSPORT_RC,
			     .mtu_code = 3};
	struct cm_ip header = {.ip_version = 4, .sport = 1};
	const struct roce_fields fields = {
		.opcode = UD_SEND_ONLY, .deth_qkey = GSI_QKEY, .deth_src_qp = GSI_QPN};
	uint8_t mad[MAD_BYTES], frame[512];
	struct cm_event e;

	memcpy(header.src_ip, path->src_ip, 4);
	memcpy(header.dst_ip, path->dst_ip, 4);
	cm_ip_build(req.private_data, &header);
	cm_msg_build(mad, &req);
	solo_feed_bytes(&solo, frame,
			(uint16_t)roce_build(frame, sizeof(frame), path, &fields, mad, MAD_BYTES));
	solo.nic->ops->control(solo.nic, solo.now_ns);
	while (cm_next_event(nic_cm(solo.nic), &e))
		if (e.what == CM_REQUESTED)
			cm_reject(nic_cm(solo.nic), e.id, CM_REASON_CONSUMER, solo.now_ns);
}

TEST(qp_1_is_at_the_addresses_of_the_nic_and_answers_from_there)
{
	static const struct {
		uint8_t mac, ip;
		bool answered;
	} rows[] = {{1, 1, true}, {77, 77, false}, {1, 1, true}};

	start();
	for (uint32_t i = 0; i < 3; i++) {
		struct roce_path path = path_to(rows[i].mac, rows[i].ip);
		struct frame_view eth;
		struct roce_view v;
		struct rte_mbuf *m;

		feed_req(&path, 100 + i);
		solo.now_ns += NS_PER_MS;
		assert_int_equal(solo.nic->ops->tx(solo.nic, 0, &m, 1, solo.now_ns),
				 rows[i].answered);
		if (!rows[i].answered)
			continue;
		nic_test_view(m, &eth, &v);
		assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *) + v.ip_off + 12,
				    solo.params.ip.addr, 4);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(nic_stats(solo.nic)->drops[NIC_DROP_CM_ADDRESS], 1);
	assert_int_equal(nic_stats(solo.nic)->cm.cm_messages_received, 2);
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = solo_setup)
