/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two NICs with flows, and a stranger who sends to both at the rate of their link: messages
 * complete at 95 % of the calm rate or more, nothing is sent twice, no rate is cut, and each of the
 * stranger's frames is counted once.
 */
#include "unit/nic/nic_test.h"

#include <inttypes.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "wire/neighbour/arp.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/neighbour/icmp.h"
#include "wire/neighbour/nd.h"

#define QPS 4u
#define RUN_NS (200 * NS_PER_US)
#define LONGEST 256u

static const uint8_t stranger_mac[6] = {2, 0, 0, 0, 9, 9};

/* Write frame number n for a host. @return its length without FCS. */
typedef uint16_t stranger_frame(uint8_t frame[LONGEST], uint64_t n, const struct nic_params *to);

static uint64_t
mixed(uint64_t n)
{
	n = (n + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
	n = (n ^ n >> 27) * 0x94D049BB133111EBu;
	return n ^ n >> 31;
}

static struct roce_path
path_to(const struct nic_params *to, uint32_t qpn)
{
	struct roce_path path = host_path(99, 1, qpn);

	memcpy(path.src_mac, stranger_mac, 6);
	memcpy(path.dst_mac, to->mac, 6);
	memcpy(path.dst_ip, to->ip.addr, 4);
	return path;
}

static uint16_t
roce_frame(uint8_t *f, const struct roce_path *path, uint8_t opcode, uint32_t psn,
	   uint16_t payload_bytes)
{
	static const uint8_t payload[LONGEST];
	struct roce_fields fields = {.opcode = opcode, .psn = psn & PSN_MASK, .ack_req = true};
	size_t len = roce_build(f, LONGEST, path, &fields, payload, payload_bytes);

	assert_true(len >= 60);
	return (uint16_t)len;
}

static uint16_t
cnps_to_unknown_qps(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	struct roce_path path = path_to(to, (uint32_t)(1000 + mixed(n) % 100000));

	return roce_frame(f, &path, ROCE_CNP, 0, CNP_BODY_BYTES);
}

static uint16_t
cnps_from_a_wrong_address(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	struct roce_path path = path_to(to, (uint32_t)(PAIR_QPN + n % QPS));

	return roce_frame(f, &path, ROCE_CNP, 0, CNP_BODY_BYTES);
}

static uint16_t
acks_from_a_wrong_address(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	struct roce_path path = path_to(to, (uint32_t)(PAIR_QPN + n % QPS));

	return roce_frame(f, &path, RC_ACK, (uint32_t)mixed(n), 0);
}

static uint16_t
writes_from_a_wrong_address(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	struct roce_path path = path_to(to, (uint32_t)(PAIR_QPN + n % QPS));

	return roce_frame(f, &path, RC_WRITE_MIDDLE, (uint32_t)n, 64);
}

/* As the peer would send it, but for the ICRC. */
static uint16_t
forged_with_a_wrong_icrc(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	struct roce_path path = path_to(to, (uint32_t)(PAIR_QPN + n % QPS));
	uint16_t len;

	path.src_ip[3] = (uint8_t)(3 - to->ip.addr[3]);
	len = roce_frame(f, &path, n % 2 == 0 ? ROCE_CNP : RC_ACK, 0,
			 n % 2 == 0 ? CNP_BODY_BYTES : 0);
	f[ETH_HDR_BYTES + 20 + 8 + 12] ^= (uint8_t)(1 + n % 255);
	return len;
}

static uint16_t
datagrams_to_rc_qps(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	struct roce_path path = path_to(to, (uint32_t)(PAIR_QPN + n % QPS));

	path.src_ip[3] = (uint8_t)(3 - to->ip.addr[3]);
	return roce_frame(f, &path, UD_SEND_ONLY, 0, 64);
}

static uint16_t
arp_requests(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	struct l2 l2 = {.dst_mac = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
	struct arp arp = {.op = ARP_REQUEST, .sender_ip = {10, 0, (uint8_t)(n >> 8), (uint8_t)n}};

	memcpy(l2.src_mac, stranger_mac, 6);
	memcpy(arp.sender_mac, stranger_mac, 6);
	memcpy(arp.target_ip, to->ip.addr, 4);
	return (uint16_t)arp_build(f, &l2, &arp);
}

static uint16_t
solicitations(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	struct l2 l2 = {0};
	struct nd nd = {
		.type = ND_SOLICITATION, .src_ip = {0xFD, [15] = (uint8_t)n}, .has_mac = true};

	memcpy(nd.target_ip, to->ip6.addr, 16);
	memcpy(nd.mac, stranger_mac, 6);
	memcpy(l2.src_mac, stranger_mac, 6);
	nd_solicited_node(nd.target_ip, nd.dst_ip);
	nd_group_mac(nd.dst_ip, l2.dst_mac);
	return (uint16_t)nd_build(f, &l2, &nd);
}

static uint16_t
echo_requests(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	uint8_t *ip = f + ETH_HDR_BYTES;

	memset(f, 0, 64);
	memcpy(f, to->mac, 6);
	memcpy(f + 6, stranger_mac, 6);
	be16_store(f + 12, ETHERTYPE_IPV4);
	ip[0] = 0x45;
	be16_store(ip + 2, 48);
	ip[8] = 64;
	ip[9] = 1;
	memcpy(ip + 12, ((const uint8_t[4]){10, 0, 0, 99}), 4);
	memcpy(ip + 16, to->ip.addr, 4);
	be16_store(ip + 10, ipv4_header_checksum(ip, 20));
	ip[20] = 8;
	be16_store(ip + 26, (uint16_t)n);
	be16_store(ip + 22, ipv4_header_checksum(ip + 20, 28));
	return 62;
}

static uint16_t
garbage(uint8_t *f, uint64_t n, const struct nic_params *to)
{
	struct roce_path path = path_to(to, PAIR_QPN);
	uint16_t len = roce_frame(f, &path, RC_WRITE_MIDDLE, (uint32_t)n, 64);

	for (unsigned int i = ETH_HDR_BYTES; i + 8 <= len; i += 8)
		be64_store(f + i, mixed(n * 64 + i));
	return len;
}

static const struct {
	const char *name;
	stranger_frame *frame;
} attacks[] = {
	{"CNPs to unknown QPs", cnps_to_unknown_qps},
	{"CNPs from a wrong address", cnps_from_a_wrong_address},
	{"ACKs from a wrong address", acks_from_a_wrong_address},
	{"WRITEs from a wrong address", writes_from_a_wrong_address},
	{"the peer's frames with a wrong ICRC", forged_with_a_wrong_icrc},
	{"datagrams to RC QPs", datagrams_to_rc_qps},
	{"ARP requests", arp_requests},
	{"neighbour solicitations", solicitations},
	{"echo requests", echo_requests},
	{"garbage", garbage},
};

struct outcome {
	uint64_t messages, frames[2], dropped[2], answered[2], retransmitted, cuts;
};

/* One frame of the stranger to each NIC whenever its link has room for it beside nothing else. */
static void
inject(struct pair *p, stranger_frame *frame, struct outcome *o, uint64_t *next_ns)
{
	for (unsigned int h = 0; h < 2; h++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(p->pools.control);
		uint8_t bytes[LONGEST];
		uint16_t len = frame(bytes, o->frames[h], &p->params[h]);

		assert_non_null(m);
		memcpy(rte_pktmbuf_append(m, len), bytes, len);
		p->nic[h]->ops->rx(p->nic[h], 0, &m, 1, p->now_ns);
		o->frames[h]++;
		*next_ns = p->now_ns + max_u64(1, serialization_ns(wire_bytes(len),
								   p->params[h].link_speed_bps));
	}
}

/* Take what a NIC sends; answers to the stranger are the stranger's. */
static void
serve(struct pair *p)
{
	pair_deliver(p);
	for (unsigned int h = 0; h < 2; h++) {
		struct node *nic = p->nic[h];
		struct rte_mbuf *m;

		while (nic->ops->next_ns(nic, 0) <= p->now_ns &&
		       nic->ops->tx(nic, 0, &m, 1, p->now_ns) == 1) {
			if (memcmp(rte_pktmbuf_mtod(m, const uint8_t *), stranger_mac, 6) == 0)
				rte_pktmbuf_free(m);
			else
				pair_carry(p, h, m);
		}
	}
}

static struct outcome
live(stranger_frame *frame)
{
	struct pair p;
	struct outcome o = {0};
	uint64_t inject_ns = frame == NULL ? NEVER_NS : 0;
	struct nic_qp_params qp = nic_test_qp(0);

	qp.message_bytes = 8192;
	qp.messages = 0;
	qp.depth = 4;
	pair_init(&p);
	pair_create(&p, 512);
	for (unsigned int i = 0; i < QPS; i++)
		pair_connect(&p, &qp);
	while (p.now_ns < RUN_NS) {
		serve(&p);
		if (p.now_ns >= inject_ns) {
			inject(&p, frame, &o, &inject_ns);
			serve(&p);
		}
		p.now_ns = max_u64(p.now_ns + 1, min_u64(pair_next_ns(&p), inject_ns));
	}
	for (unsigned int i = 0; i < QPS; i++)
		o.messages += pair_info(&p, 0, i).tx_messages;
	for (unsigned int h = 0; h < 2; h++) {
		const struct nic_stats *s = nic_stats(p.nic[h]);

		for (unsigned int d = 0; d < NIC_DROPS; d++)
			o.dropped[h] += s->drops[d];
		o.answered[h] = s->neigh_requests_answered + s->echo_requests_answered;
		o.retransmitted += s->retransmitted_packets;
		o.cuts += s->rp.rp_cnp_handled;
	}
	pair_destroy(&p);
	return o;
}

TEST(flows_do_not_notice_a_stranger)
{
	const struct outcome calm = live(NULL);
	unsigned int bad = 0;

	assert_true(calm.messages > 50);
	for (unsigned int i = 0; i < ARRAY_LEN(attacks); i++) {
		const struct outcome o = live(attacks[i].frame);
		bool good = o.messages * 100 >= calm.messages * 95 && o.retransmitted == 0 &&
			    o.cuts == 0 && o.dropped[0] + o.answered[0] == o.frames[0] &&
			    o.dropped[1] + o.answered[1] == o.frames[1];

		bad += !good;
		printf("%s %-36s %6" PRIu64 " frames to each, dropped %6" PRIu64
		       ", answered %4" PRIu64 "; messages %3" PRIu64 " of %3" PRIu64
		       ", sent again %" PRIu64 ", CNPs obeyed %" PRIu64 "\n",
		       good ? "ok    " : "NOT OK", attacks[i].name, o.frames[0], o.dropped[0],
		       o.answered[0], o.messages, calm.messages, o.retransmitted, o.cuts);
	}
	assert_int_equal(bad, 0);
}

TEST_MAIN(.begin = start_eal)
