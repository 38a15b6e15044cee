/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An input as a sequence of steps: each step reads the bytes that it needs. An input that ends
 * reads as zeros, so that every input is a whole sequence.
 */
#ifndef QUENCH_TEST_FUZZ_SEQUENCE_H
#define QUENCH_TEST_FUZZ_SEQUENCE_H

#include <string.h>

#include "base/field/field.h"
#include "base/numbers/units.h"
#include "ctl/config/config_compare.h"
#include "fuzz/node.h"
#include "wire/neighbour/arp.h"
#include "wire/neighbour/icmp.h"
#include "wire/neighbour/nd.h"
#include "wire/link/pfc_frame.h"
#include "wire/roce/roce.h"

/* Longest frame that is made. */
#define SEQUENCE_FRAME 700u
/* Later times are left out: what a receiver drains is a count of bytes since time 0, which wraps
 * after 5.8 years at 800 Gb/s. */
#define SEQUENCE_END_NS (5ull * 365 * 24 * 3600 * NS_PER_SEC)

struct sequence {
	const uint8_t *data;
	size_t len;
};

static inline uint8_t
take8(struct sequence *s)
{
	if (s->len == 0)
		return 0;
	s->len--;
	return *s->data++;
}

static inline uint16_t
take16(struct sequence *s)
{
	uint16_t high = take8(s);

	return (uint16_t)(high << 8 | take8(s));
}

/* From nothing to years: a byte of mantissa, a byte of exponent. */
static inline uint64_t
take_ns(struct sequence *s)
{
	uint64_t mantissa = take8(s);

	return mantissa << take8(s) % 54;
}

/* A value for a field, good or bad, as a file would hold it. */
static inline void
take_value(struct sequence *s, const struct field *f, char *text, size_t size)
{
	unsigned int n;

	text[0] = '\0';
	switch (take8(s) % 8) {
	case 0:
		snprintf(text, size, "%s", f->def != NULL ? f->def : "1");
		return;
	case 1:
		snprintf(text, size, "%lld", (long long)f->min);
		return;
	case 2:
		snprintf(text, size, "%llu", (unsigned long long)f->max);
		return;
	case 3:
		snprintf(text, size, "%u", take16(s));
		return;
	case 4:
		n = take16(s);
		snprintf(text, size, "%llu", (unsigned long long)n << take8(s) % 48);
		return;
	case 5:
		n = take8(s);
		if (f->choices != NULL) {
			unsigned int words = 0;

			while (f->choices[words] != NULL)
				words++;
			snprintf(text, size, "%s", f->choices[n % words]);
		} else if (f->type == FIELD_MAP) {
			snprintf(text, size, "%u:%u, *:%u", n % 64, n % 8, n / 64);
		} else {
			snprintf(text, size, "%s", n & 1 ? "never" : "none");
		}
		return;
	case 6:
		n = take8(s);
		snprintf(text, size, "%u-%u", n % 8, take8(s) % 8u);
		return;
	}
	n = take8(s) % 24;
	for (unsigned int i = 0; i < n && i + 1 < size; i++) {
		text[i] = (char)take8(s);
		text[i + 1] = '\0';
	}
}

/*
 * Another value for one key of a configuration. @param live  Only where it may change while the
 * program runs.
 */
static inline void
take_key(struct sequence *s, const struct config_rows *rows, bool live)
{
	const struct config_row *row = &rows->rows[take8(s) % rows->n];
	const struct field *f = &row->fields[take8(s) % row->n];
	char text[64], expected[FIELD_TEXT_SIZE] = "";
	int rc;

	take_value(s, f, text, sizeof(text));
	if (live && (!f->live || row->fixed))
		return;
	rc = field_parse(f, NULL, text, (void *)row->object, expected, sizeof(expected));
	FUZZ_CHECK(rc == 0 || expected[0] != '\0');
}

/* A refusal is one line that says something. */
static inline void
check_refusal(const char *why)
{
	FUZZ_CHECK(why[0] != '\0' && strchr(why, '\n') == NULL);
}

/* Two stations: their addresses, and what is between them. */
struct sequence_hosts {
	uint8_t src_mac[6], dst_mac[6];
	uint8_t src_ip[16], dst_ip[16];
	uint8_t ip_version;
	bool tagged;
	uint16_t vlan_tci;
	uint32_t dest_qp;
};

enum sequence_frame {
	FRAME_ROCE,
	FRAME_ARP,
	FRAME_ND,
	FRAME_PFC,
	FRAME_PAUSE,
	FRAME_LLDP,
	FRAME_RAW,
	SEQUENCE_FRAMES
};

static inline size_t
make_roce(struct sequence *s, uint8_t *buf, const struct sequence_hosts *h)
{
	static const uint8_t payload[600];
	struct roce_path path = {
		.ip_version = h->ip_version,
		.tagged = h->tagged,
		.vlan_tci = h->vlan_tci,
		.dscp = take8(s) & 63,
		.ttl = 64,
		.udp_sport = 50000,
		.dest_qp = h->dest_qp,
		.pkey = PKEY_DEFAULT,
	};
	uint8_t how = take8(s);
	struct roce_fields fields = {
		.opcode = take8(s),
		.psn = (how & 4 ? 0xFFFF00u : 0) + take8(s),
		.ack_req = how & 8,
		.solicited = how & 16,
		.becn = how & 32,
	};

	path.ecn = how & 3;
	memcpy(path.src_mac, h->src_mac, 6);
	memcpy(path.dst_mac, h->dst_mac, 6);
	memcpy(path.src_ip, h->src_ip, 16);
	memcpy(path.dst_ip, h->dst_ip, 16);
	fields.aeth_syndrome = take8(s);
	fields.aeth_msn = take8(s);
	fields.reth_dma_bytes = take16(s);
	fields.deth_src_qp = h->dest_qp;
	return roce_build(buf, SEQUENCE_FRAME, &path, &fields, payload,
			  take8(s) * 2u % sizeof(payload));
}

static inline size_t
make_arp(struct sequence *s, uint8_t *buf, const struct sequence_hosts *h)
{
	uint8_t what = take8(s);
	struct l2 l2 = {.tagged = h->tagged, .vlan_tci = h->vlan_tci};
	struct arp arp = {.op = what & 1 ? ARP_REPLY : ARP_REQUEST};

	memcpy(l2.src_mac, h->src_mac, 6);
	memcpy(l2.dst_mac, h->dst_mac, 6);
	if (what & 2)
		memset(l2.dst_mac, 0xFF, 6);
	memcpy(arp.sender_mac, h->src_mac, 6);
	memcpy(arp.sender_ip, h->src_ip, 4);
	memcpy(arp.target_mac, h->dst_mac, 6);
	memcpy(arp.target_ip, h->dst_ip, 4);
	return arp_build(buf, &l2, &arp);
}

static inline size_t
make_nd(struct sequence *s, uint8_t *buf, const struct sequence_hosts *h)
{
	uint8_t what = take8(s);
	struct l2 l2 = {.tagged = h->tagged, .vlan_tci = h->vlan_tci};
	struct nd nd = {.type = what & 1 ? ND_ADVERTISEMENT : ND_SOLICITATION, .has_mac = what & 2};

	if (what & 1)
		nd.flags = ND_SOLICITED | ND_OVERRIDE;
	memcpy(l2.src_mac, h->src_mac, 6);
	memcpy(l2.dst_mac, h->dst_mac, 6);
	memcpy(nd.src_ip, h->src_ip, 16);
	memcpy(nd.dst_ip, h->dst_ip, 16);
	memcpy(nd.target_ip, what & 1 ? h->src_ip : h->dst_ip, 16);
	memcpy(nd.mac, h->src_mac, 6);
	return nd_build(buf, &l2, &nd);
}

static inline size_t
make_pause(struct sequence *s, uint8_t *buf, const struct sequence_hosts *h, bool pfc)
{
	uint8_t enable = take8(s);
	uint16_t quanta[8];

	for (unsigned int i = 0; i < 8; i++)
		quanta[i] = (uint16_t)(take8(s) * 257);
	if (pfc)
		pfc_frame_build(buf, h->src_mac, enable, quanta);
	else
		pause_frame_build(buf, h->src_mac, quanta[0]);
	return PFC_FRAME_BYTES;
}

/* DCBX's TLVs of IEEE 802.1Qaz, bytes from the input in each. */
static inline size_t
make_lldp(struct sequence *s, uint8_t *buf, const struct sequence_hosts *h)
{
	static const uint8_t head[] = {0x01, 0x80, 0xC2, 0, 0, 0x0E};
	static const uint8_t ids[] = {2, 7, 4, 2, 0, 0, 0, 0, 9, 4, 2, 5, '1', 6, 2, 0, 120};
	uint8_t n_tlvs = take8(s) % 5;
	size_t len = 14;

	memcpy(buf, head, 6);
	memcpy(buf + 6, h->src_mac, 6);
	be16_store(buf + 12, 0x88CC);
	memcpy(buf + len, ids, sizeof(ids));
	len += sizeof(ids);
	for (uint8_t i = 0; i < n_tlvs; i++) {
		uint8_t n = 4 + take8(s) % 24;

		buf[len] = 0xFE;
		buf[len + 1] = n;
		memcpy(buf + len + 2, ((const uint8_t[3]){0x00, 0x80, 0xC2}), 3);
		for (uint8_t k = 3; k < n; k++)
			buf[len + 2 + k] = take8(s);
		len += 2u + n;
	}
	be16_store(buf + len, 0);
	return len + 2 < 60 ? 60 : len + 2;
}

static inline size_t
make_raw(struct sequence *s, uint8_t *buf, const struct sequence_hosts *h)
{
	size_t len = 14 + take8(s) % 64;

	memcpy(buf, h->dst_mac, 6);
	memcpy(buf + 6, h->src_mac, 6);
	for (size_t i = 12; i < len; i++)
		buf[i] = take8(s);
	return len;
}

/*
 * A frame of a known kind, and then bytes of it overwritten. @param buf  SEQUENCE_FRAME bytes.
 * @return its length.
 */
static inline size_t
make_frame(struct sequence *s, uint8_t *buf, const struct sequence_hosts *h)
{
	uint8_t what = take8(s), kind = (what & 15) % SEQUENCE_FRAMES;
	size_t len = 0, at;

	memset(buf, 0, SEQUENCE_FRAME);
	if (kind == FRAME_ROCE)
		len = make_roce(s, buf, h);
	else if (kind == FRAME_ARP)
		len = make_arp(s, buf, h);
	else if (kind == FRAME_ND)
		len = make_nd(s, buf, h);
	else if (kind == FRAME_PFC || kind == FRAME_PAUSE)
		len = make_pause(s, buf, h, kind == FRAME_PFC);
	else if (kind == FRAME_LLDP)
		len = make_lldp(s, buf, h);
	/* roce_build() refuses what does not exist. */
	if (len == 0)
		len = make_raw(s, buf, h);
	for (unsigned int i = what >> 6; i > 0; i--) {
		at = take16(s) % len;
		buf[at] = take8(s);
	}
	if (what & 16)
		fuzz_mend_ipv4_checksum(buf, len);
	if (what & 32)
		len = len > 20 ? len - take8(s) % (len - 14) : len;
	return len;
}

/* Copies of a frame, as many as the pool has of what is wanted. @return how many. */
static inline uint16_t
make_burst(struct rte_mempool *pool, const uint8_t *buf, size_t len, struct rte_mbuf **pkts,
	   uint16_t want)
{
	uint16_t n = 0;

	for (; n < want; n++) {
		pkts[n] = rte_pktmbuf_alloc(pool);
		if (pkts[n] == NULL)
			break;
		memcpy(rte_pktmbuf_append(pkts[n], (uint16_t)len), buf, len);
	}
	return n;
}

static inline void
step_on(struct sequence *s, uint64_t *now_ns)
{
	uint64_t ns = take_ns(s);

	*now_ns = *now_ns + ns < SEQUENCE_END_NS ? *now_ns + ns : SEQUENCE_END_NS;
}

#endif
