/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/link/lldp.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/array.h"
#include "wire/frame/l2.h"

enum tlv_type { TLV_END = 0, TLV_CHASSIS = 1, TLV_PORT = 2, TLV_TTL = 3, TLV_ORG = 127 };

#define TLV_HDR_BYTES 2u
#define ID_BUILD_BYTES 64u

const uint8_t lldp_address[6] = {0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E};

struct tlv {
	uint8_t type;
	uint16_t len;
	const uint8_t *value;
};

/*
 * Is the destination one of the three LLDP addresses (802.1AB table 7-1)? They end in 0E, 03 and
 * 00.
 */
static bool
is_lldp(const uint8_t *buf, size_t len)
{
	return len >= ETH_HDR_BYTES && memcmp(buf, lldp_address, 5) == 0 &&
	       (buf[5] == 0x0E || buf[5] == 0x03 || buf[5] == 0x00) &&
	       be16_load(buf + 12) == ETHERTYPE_LLDP;
}

/* Read the TLV at *off and advance. @return false if it runs past the frame. */
static bool
next_tlv(const uint8_t *buf, size_t len, size_t *off, struct tlv *out)
{
	uint16_t head;

	if (len - *off < TLV_HDR_BYTES)
		return false;
	head = be16_load(buf + *off);
	out->type = (uint8_t)(head >> 9);
	out->len = head & 0x1FF;
	out->value = buf + *off + TLV_HDR_BYTES;
	if (len - *off - TLV_HDR_BYTES < out->len)
		return false;
	*off += TLV_HDR_BYTES + out->len;
	return true;
}

static bool
take_id(struct lldp_id *id, const struct tlv *t)
{
	if (t->len < 2 || t->len > LLDP_ID_BYTES + 1)
		return false;
	id->subtype = t->value[0];
	id->len = (uint8_t)(t->len - 1);
	memcpy(id->id, t->value + 1, id->len);
	return true;
}

/* Take the n-th TLV of the frame. @return false if it is misplaced or malformed. */
static bool
take_tlv(struct lldp_info *out, unsigned int n, const struct tlv *t)
{
	switch (n) {
	case 0:
		return t->type == TLV_CHASSIS && take_id(&out->chassis, t);
	case 1:
		return t->type == TLV_PORT && take_id(&out->port, t);
	case 2:
		if (t->type != TLV_TTL || t->len < 2)
			return false;
		out->ttl_s = be16_load(t->value);
		return true;
	default:
		break;
	}
	if (t->type == TLV_CHASSIS || t->type == TLV_PORT || t->type == TLV_TTL)
		return false;
	if (t->type == TLV_ORG && t->len < 4)
		return false;
	if (t->type == TLV_ORG && t->value[0] == 0x00 && t->value[1] == 0x80 && t->value[2] == 0xC2)
		dcbx_parse(&out->dcbx, t->value + 3, t->len - 3u);
	return true;
}

enum lldp_verdict
lldp_parse(const uint8_t *buf, size_t len, struct lldp_info *out)
{
	size_t off = ETH_HDR_BYTES;
	struct tlv t;

	if (!is_lldp(buf, len))
		return LLDP_NOT;
	memset(out, 0, sizeof(*out));
	memcpy(out->src_mac, buf + 6, 6);
	for (unsigned int n = 0;; n++) {
		/* The End TLV may be omitted at the end of the frame (802.1AB-2016 9.2.7.7.1). */
		if (off == len && n >= 3)
			return LLDP_OK;
		if (!next_tlv(buf, len, &off, &t))
			return LLDP_MALFORMED;
		if (t.type == TLV_END && n >= 3)
			return t.len == 0 ? LLDP_OK : LLDP_MALFORMED;
		if (!take_tlv(out, n, &t))
			return LLDP_MALFORMED;
	}
}

static size_t
put_id(uint8_t *p, uint8_t type, const struct lldp_id *id)
{
	assert(id->len > 0 && id->len <= ID_BUILD_BYTES);
	be16_store(p, (uint16_t)(type << 9 | (id->len + 1)));
	p[2] = id->subtype;
	memcpy(p + 3, id->id, id->len);
	return 3u + id->len;
}

size_t
lldp_build(uint8_t *buf, const struct lldp_info *info)
{
	static const enum dcbx_kind kinds[] = {DCBX_ETS_CONF, DCBX_ETS_RECO, DCBX_PFC, DCBX_APP};
	struct l2 l2 = {0};
	size_t n;

	memcpy(l2.dst_mac, lldp_address, 6);
	memcpy(l2.src_mac, info->src_mac, 6);
	n = l2_write(buf, &l2, ETHERTYPE_LLDP);
	n += put_id(buf + n, TLV_CHASSIS, &info->chassis);
	n += put_id(buf + n, TLV_PORT, &info->port);
	be16_store(buf + n, TLV_TTL << 9 | 2);
	be16_store(buf + n + 2, info->ttl_s);
	n += 4;
	for (unsigned int i = 0; i < ARRAY_LEN(kinds); i++) {
		if (dcbx_has(&info->dcbx, kinds[i]))
			n += dcbx_build(buf + n, &info->dcbx, kinds[i]);
	}
	be16_store(buf + n, 0);
	n += 2;
	assert(n <= LLDP_MAX_BYTES);
	return l2_pad(buf, n);
}
