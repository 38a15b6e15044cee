/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes behind UDP port 4791 at the QPs of a NIC, one of each verb and end. The input is a row
 * of frames: a byte with the QP, how much payload is added, and whether an INT header comes first;
 * one that is the time after the frame, one that is the length of what follows, and that: BTH and
 * beyond. ICRCs are not checked, so that what the fuzzer finds is behind them. No input may lose an
 * mbuf, make a bad frame, or keep tx() from its end.
 */
#include <string.h>

#include "base/numbers/units.h"
#include "fuzz/node.h"
#include "nic/nic.h"
#include "node/pkt_pool.h"
#include "wire/frame/ecn.h"
#include "wire/roce/int_hdr.h"
#include "wire/roce/roce.h"

#define MBUFS 64
#define MTU 256
#define FIRST_QPN 17u
#define QPS 8
#define HEADERS (14 + 20 + 8)
#define LONGEST (HEADERS + 255 + 3 * MTU)

static const uint8_t our_mac[6] = {2, 0, 0, 0, 0, 1}, peer_mac[6] = {2, 0, 0, 0, 0, 2};
static struct nic_pools pools;
static struct nic_params params;

static void
start(void)
{
	fuzz_start_eal();
	pools.data = nic_data_pool_create(
		&(struct pkt_pool_params){
			.name = "data", .n_mbufs = MBUFS, .socket = -1, .threads = true},
		MTU);
	pools.control = create_pool("control", MBUFS, LONGEST);
	/* Else each NIC sums the payloads of all lengths anew. */
	pools.payloads = nic_payloads_create();
	FUZZ_CHECK(pools.data != NULL && pools.payloads != NULL);
	nic_params_default(&params);
	memcpy(params.mac, our_mac, 6);
	params.ip = (struct field_ip){4, {10, 0, 0, 1}};
	params.link_speed_bps = 40 * GBPS;
	params.shaper_burst_ns = 1;
	params.max_qps = QPS;
	params.first_qpn = FIRST_QPN;
	params.icrc_check = false;
	params.local_ack_timeout = 1;
	params.max_rd_atomic = 3;
	params.measure_times = NIC_MEASURE_ON;
}

static struct node *
create(bool hears_hops)
{
	static const int verbs[] = {NIC_WRITE, NIC_SEND, NIC_READ, NIC_UD_SEND};
	struct node *nic;

	params.cc = hears_hops ? CC_HPCC : CC_DCQCN;
	params.ack_every = hears_hops ? 1 : 16;
	nic = nic_create(&params, &pools);

	FUZZ_CHECK(nic != NULL);
	for (uint32_t i = 0; i < QPS; i++) {
		struct nic_qp_params qp = {
			.peer_ip = {4, {10, 0, 0, 2}},
			.peer_qpn = FIRST_QPN + i,
			.flow_id = i,
			.requester = i % 2 == 0,
			.verb = verbs[i / 2],
			.initial_psn = PSN_MASK,
			.max_recv_wr = 2,
			.post_recv_ns = 5000,
			.mtu_bytes = MTU,
			.stop_ns = NEVER_NS,
			.depth = 2,
			.message_bytes = i / 2 == 3 ? MTU : 600,
			.rate_cap_bps = GBPS,
		};

		memcpy(qp.peer_mac, peer_mac, 6);
		FUZZ_CHECK(nic_add_qp(nic, &qp, 0) == FIRST_QPN + i);
	}
	return nic;
}

static void
check_sent(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view eth = check_frame(m);
	uint8_t plain[LONGEST + INT_MAX_BYTES];
	struct roce_view v;
	const uint8_t *hdr;

	FUZZ_CHECK(m->data_len >= 60 && m->data_len <= sizeof(plain));
	if (int_strip(frame, m->data_len, &eth, plain, &hdr) == INT_OK) {
		frame = plain;
		eth.ip_end = (uint16_t)(eth.ip_end - int_hdr_bytes(int_hdr_slots(hdr)));
	}
	FUZZ_CHECK(roce_parse(frame, m->data_len, &eth, true, &v) == ROCE_OK);
}

/* What the NIC sends until then. */
static void
run_until(struct node *nic, uint64_t *now_ns, uint64_t until_ns)
{
	for (;;) {
		uint64_t next_ns = nic->ops->next_ns(nic, 0);
		struct rte_mbuf *m;

		if (next_ns > until_ns)
			break;
		*now_ns = next_ns > *now_ns ? next_ns : *now_ns;
		if (nic->ops->tx(nic, 0, &m, 1, *now_ns) == 1) {
			check_sent(m);
			rte_pktmbuf_free(m);
		} else {
			FUZZ_CHECK(nic->ops->next_ns(nic, 0) > *now_ns);
		}
	}
	*now_ns = until_ns;
}

/* Ethernet, IPv4 and UDP from the peer around BTH and the rest. */
static struct rte_mbuf *
wrap(const uint8_t *bytes, size_t n, uint8_t what)
{
	size_t added = (what >> 3 & 3u) * (size_t)MTU, len = HEADERS + n + added;
	struct rte_mbuf *m = rte_pktmbuf_alloc(pools.control);
	uint8_t *f, *ip, *udp;
	size_t at = 8; /* of the BTH, from UDP */

	FUZZ_CHECK(m != NULL && len <= LONGEST);
	f = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	memset(f, 0, len);
	memcpy(f, our_mac, 6);
	memcpy(f + 6, peer_mac, 6);
	be16_store(f + 12, ETHERTYPE_IPV4);
	ip = f + 14;
	ip[0] = 0x45;
	ip[1] = 26 << 2 | (what & 0x80 ? ECN_CE : ECN_ECT0);
	be16_store(ip + 2, (uint16_t)(len - 14));
	ip[8] = 64;
	ip[9] = IP_PROTO_UDP;
	memcpy(ip + 12, ((const uint8_t[8]){10, 0, 0, 2, 10, 0, 0, 1}), 8);
	fuzz_mend_ipv4_checksum(f, len);
	udp = ip + 20;
	be16_store(udp, 0xC242);
	be16_store(udp + 2, what & 0x40 ? INT_UDP_PORT : ROCE_UDP_PORT);
	be16_store(udp + 4, (uint16_t)(len - 34));
	memcpy(udp + 8, bytes, n);
	if (what & 0x40 && n >= INT_HDR_BYTES) {
		udp[8] = (uint8_t)(INT_VERSION << 4 | (bytes[0] & 0xF));
		at += int_hdr_bytes(int_hdr_slots(udp + 8));
	}
	if (8 + n >= at + 8) {
		/* P_Key and destination QP. */
		be16_store(udp + at + 2, 0xFFFF);
		udp[at + 5] = udp[at + 6] = 0;
		udp[at + 7] = (uint8_t)(FIRST_QPN + (what & 7u));
	}
	return m;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint64_t now_ns = 0;
	struct node *nic;

	if (pools.data == NULL)
		start();
	nic = create(len > 0 && data[0] & 0x20);
	run_until(nic, &now_ns, 2000);
	while (len >= 3) {
		size_t n = data[2] < len - 3 ? data[2] : len - 3;
		struct rte_mbuf *m = wrap(data + 3, n, data[0]);

		nic->ops->rx(nic, 0, &m, 1, now_ns);
		run_until(nic, &now_ns, now_ns + data[1] * 40ull);
		data += 3 + n;
		len -= 3 + n;
	}
	run_until(nic, &now_ns, now_ns + 50 * NS_PER_US);
	FUZZ_CHECK(nic_stats(nic)->drops[NIC_DROP_MALFORMED] == 0);
	nic_destroy(nic);
	FUZZ_CHECK(rte_mempool_avail_count(pools.data) == MBUFS);
	FUZZ_CHECK(rte_mempool_avail_count(pools.control) == MBUFS);
	return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max_pkts, unsigned int seed)
{
	(void)seed;
	return LLVMFuzzerMutate(data, len, max_pkts);
}
