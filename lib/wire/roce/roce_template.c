/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames from a template. Let F be the frame with lengths, opcode, flags, PSN and pad count zero,
 * and D the bits of those fields. Then
 *   reg(F ^ D) = reg(F) ^ reg0(D),  where reg0 starts from 0.
 * The template holds reg(F), and the payload holds the part of D that its length determines. The
 * rest are look-ups by distance from the end of the BTH. No CPU extension is needed.
 */
#include <assert.h>
#include <endian.h>
#include <string.h>

#include "wire/bytes/checksum.h"
#include "wire/icrc/icrc_impl.h"
#include "wire/bytes/le.h"
#include "wire/roce/roce.h"
#include "wire/roce/roce_impl.h"

/*
 * Contribution to the register after BTH of the fields that depend on payload and extension length.
 */
static uint32_t
length_reg(unsigned int ip_version, uint16_t udp_bytes, uint8_t pad)
{
	uint8_t d[IPV6_HDR_BYTES + UDP_HDR_BYTES + BTH_BYTES] = {0};
	size_t ip_bytes = roce_ip_bytes(ip_version);

	if (ip_version == 4)
		be16_store(d + 2, (uint16_t)(IPV4_HDR_BYTES + udp_bytes));
	else
		be16_store(d + 4, udp_bytes);
	be16_store(d + ip_bytes + 4, udp_bytes);
	d[ip_bytes + UDP_HDR_BYTES + 1] = (uint8_t)(pad << BTH_PAD_SHIFT);
	return icrc_update(0, d, ip_bytes + UDP_HDR_BYTES + BTH_BYTES);
}

void
roce_payload_init(struct roce_payload *p, const void *pattern, uint16_t payload_bytes)
{
	static const uint8_t zeros[3];

	memset(p, 0, sizeof(*p));
	p->payload_bytes = payload_bytes;
	p->pad = roce_pad(payload_bytes);
	p->udp_bytes = (uint16_t)(UDP_HDR_BYTES + BTH_BYTES + payload_bytes + p->pad + ICRC_BYTES);
	p->checksum = checksum_bytes(pattern, payload_bytes);
	p->reg = icrc_update(icrc_update(0, pattern, payload_bytes), zeros, p->pad);
	icrc_shift_init(&p->shift, (size_t)payload_bytes + p->pad);
	for (unsigned int words = 0; words < ROCE_EXT_WORDS; words++) {
		uint16_t udp_bytes = (uint16_t)(p->udp_bytes + 4 * words);

		p->length_reg[0][words] = length_reg(4, udp_bytes, p->pad);
		p->length_reg[1][words] = length_reg(6, udp_bytes, p->pad);
	}
}

bool
roce_icrc_is_valid_around(const uint8_t *buf, const struct roce_view *v,
			  const struct roce_payload *p)
{
	/* The ICRC is the complement of the register. */
	uint32_t reg =
		~icrc_compute(buf + v->ip_off, v->ip_version, (size_t)(v->payload_off - v->ip_off));

	return ~(icrc_shift_apply(&p->shift, reg) ^ p->reg) == le32_load(buf + v->icrc_off);
}

void
roce_template_init(struct roce_template *t, const struct roce_path *path)
{
	size_t ip_bytes = roce_ip_bytes(path->ip_version);
	struct roce_path common = *path;
	uint8_t *ip, *udp, *bth;

	memset(t, 0, sizeof(*t));
	t->ip_version = path->ip_version;
	t->hdr_bytes = (uint8_t)(roce_eth_bytes(path) + ip_bytes + UDP_HDR_BYTES + BTH_BYTES);
	bth = t->hdr + sizeof(t->hdr) - BTH_BYTES;
	udp = bth - UDP_HDR_BYTES;
	ip = udp - ip_bytes;

	common.udp_sport = 0;
	common.flow_label = 0;
	roce_write_ip_udp(t->hdr + sizeof(t->hdr) - t->hdr_bytes, &common, 0, 0);
	be16_store(bth + BTH_PKEY, path->pkey);
	if (path->ip_version == 4) {
		be16_store(ip + 2, 0);
		be16_store(ip + 10, 0);
		t->ip_sum = checksum_bytes(ip, IPV4_HDR_BYTES);
	}
	t->udp_sum = checksum_udp_pseudo(ip, path->ip_version) +
		     (uint32_t)checksum_bytes(udp, UDP_HDR_BYTES + BTH_BYTES);
	t->reg = icrc_headers(ip, path->ip_version);
}

struct roce_ends
roce_path_ends(const struct roce_path *path)
{
	uint8_t d[UDP_HDR_BYTES + BTH_BYTES] = {0};

	be16_store(d, path->udp_sport);
	be32_store(d + UDP_HDR_BYTES + BTH_DEST_QP, path->dest_qp & QPN_MASK);
	return (struct roce_ends){
		.dest_qp = path->dest_qp & QPN_MASK,
		.flow_label = path->flow_label,
		.udp_sport = path->udp_sport,
		.reg = icrc_update(0, d, sizeof(d)),
	};
}

void
roce_template_set_dst_mac(struct roce_template *t, const uint8_t mac[6])
{
	memcpy(t->hdr + sizeof(t->hdr) - t->hdr_bytes, mac, 6);
}

/* Register over the extension headers, which are whole words. They are short, so tables suffice. */
static inline uint32_t
update_words(uint32_t reg, const uint8_t *at, unsigned int words)
{
	for (; words >= 4; words -= 4, at += 16) {
		uint32_t a = reg ^ le32_load(at), b = le32_load(at + 4);
		uint32_t c = le32_load(at + 8), d = le32_load(at + 12);

		reg = 0;
		for (unsigned int i = 0; i < 4; i++) {
			reg ^= icrc_table[15 - i][a >> 8 * i & 0xFF];
			reg ^= icrc_table[11 - i][b >> 8 * i & 0xFF];
			reg ^= icrc_table[7 - i][c >> 8 * i & 0xFF];
			reg ^= icrc_table[3 - i][d >> 8 * i & 0xFF];
		}
	}
	for (; words > 0; words--, at += 4) {
		uint32_t a = reg ^ le32_load(at);

		reg = icrc_table[3][a & 0xFF] ^ icrc_table[2][a >> 8 & 0xFF] ^
		      icrc_table[1][a >> 16 & 0xFF] ^ icrc_table[0][a >> 24];
	}
	return reg;
}

/* CRC register, and one's complement sum for IPv6's UDP checksum. */
struct partial {
	uint32_t reg;
	uint64_t sum;
};

/*
 * Write extension headers and a CNP's body. Most frames of a message have none. This function is
 * out of line, so that their path keeps its values in CPU registers.
 */
__attribute__((noinline)) static struct partial
stamp_ext(uint8_t *at, const struct roce_op *op, const struct roce_fields *f, uint32_t reg)
{
	uint8_t *start = at;
	uint64_t sum = 0;

	if (op->ext & EXT_CNP)
		memset(at, 0, CNP_BODY_BYTES);
	if (op->ext & EXT_DETH) {
		be32_store(at, f->deth_qkey);
		be32_store(at + 4, f->deth_src_qp & QPN_MASK);
		sum = (uint64_t)f->deth_qkey + (f->deth_src_qp & QPN_MASK);
		at += DETH_BYTES;
	}
	if (op->ext & EXT_RETH) {
		reth_write(at, f);
		sum = (f->reth_va >> 32) + (uint32_t)f->reth_va + f->reth_rkey + f->reth_dma_bytes;
		at += RETH_BYTES;
	}
	if (op->ext & EXT_AETH) {
		be32_store(at, aeth_word(f));
		sum += aeth_word(f);
	}
	if (op->ext & EXT_IMM) {
		be32_store(at, f->imm);
		sum += f->imm;
	}
	return (struct partial){update_words(reg, start, op->ext_bytes / 4), sum};
}

static inline void
stamp_ipv4(const struct roce_template *t, uint8_t *udp, uint16_t udp_bytes)
{
	uint8_t *ip = udp - IPV4_HDR_BYTES;
	uint16_t ip_bytes = (uint16_t)(IPV4_HDR_BYTES + udp_bytes);
	uint32_t sum = t->ip_sum + ip_bytes;

	be16_store(ip + 2, ip_bytes);
	/* A sum of two 16-bit words has at most one end-around carry. */
	be16_store(ip + 10, (uint16_t) ~(sum + (sum >> 16)));
}

/* sum covers the variable words of UDP and BTH, extension headers, payload and ICRC. */
static inline void
stamp_ipv6(const struct roce_template *t, uint8_t *udp, uint16_t udp_bytes, uint32_t flow_label,
	   uint64_t sum)
{
	uint16_t checksum = (uint16_t)~checksum_fold(sum + t->udp_sum + 2u * udp_bytes);
	uint8_t *ip = udp - IPV6_HDR_BYTES;

	be32_store(ip, (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (flow_label & 0xFFFFFu));
	be16_store(ip + 4, udp_bytes);
	be16_store(udp + 6, checksum == 0 ? 0xFFFF : checksum);
}

unsigned int
roce_template_stamp(const struct roce_template *t, const struct roce_ends *ends,
		    const struct roce_payload *p, const struct roce_fields *fields,
		    uint8_t *payload_at)
{
	const struct roce_op *op = &roce_ops[fields->opcode];
	uint8_t *bth = payload_at - op->ext_bytes - BTH_BYTES, *udp = bth - UDP_HDR_BYTES;
	uint16_t udp_bytes = (uint16_t)(p->udp_bytes + op->ext_bytes);
	uint8_t flags = bth_flags(fields);
	uint16_t bth_start = (uint16_t)(fields->opcode << 8 | flags | p->pad << BTH_PAD_SHIFT);
	/* The ICRC counts BECN as one, whatever its value. */
	uint32_t dest_word = ends->dest_qp | (fields->becn ? (uint32_t)BTH_BECN << 24 : 0);
	uint32_t psn_word = bth_psn_word(fields), icrc;
	uint64_t tail;
	struct partial part = {0, 0};

	assert(op->payload_end_bytes != 0 && !(op->ext & (EXT_ATOMIC | EXT_ATOMIC_ACK)));
	/* Bytes 0, 1 and 8 to 11 of the BTH are 11, 10 and 3 to 0 bytes before its end. */
	part.reg = t->reg ^ ends->reg ^ p->length_reg[t->ip_version == 6][op->ext_bytes / 4] ^
		   icrc_table[11][fields->opcode] ^ icrc_table[10][flags] ^
		   icrc_table[3][psn_word >> 24] ^ icrc_table[2][psn_word >> 16 & 0xFF] ^
		   icrc_table[1][psn_word >> 8 & 0xFF] ^ icrc_table[0][psn_word & 0xFF];
	/*
	 * Copy a constant length, which compiles to a few vector moves; the template ends where BTH
	 * ends.
	 */
	memcpy(bth + BTH_BYTES - sizeof(t->hdr), t->hdr, sizeof(t->hdr));
	be16_store(bth, bth_start);
	be32_store(bth + BTH_DEST_QP, dest_word);
	be32_store(bth + BTH_PSN, psn_word);
	be16_store(udp, ends->udp_sport);
	be16_store(udp + 4, udp_bytes);
	if (op->ext_bytes != 0)
		part = stamp_ext(bth + BTH_BYTES, op, fields, part.reg);
	icrc = ~(icrc_shift_apply(&p->shift, part.reg) ^ p->reg);
	/* Store pad and ICRC at once. */
	tail = htole64((uint64_t)icrc << 8 * p->pad);
	memcpy(payload_at + p->payload_bytes, &tail, sizeof(tail));
	if (t->ip_version == 4) {
		stamp_ipv4(t, udp, udp_bytes);
	} else {
		/* The ICRC is a little-endian word; checksums sum big-endian words. */
		part.sum += (uint64_t)bth_start + psn_word + p->checksum + __builtin_bswap32(icrc);
		part.sum += (uint64_t)dest_word + ends->udp_sport;
		stamp_ipv6(t, udp, udp_bytes, ends->flow_label, part.sum);
	}
	return t->hdr_bytes + op->ext_bytes;
}
