/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/link/lldp.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/array.h"
#include "wire/frame/l2.h"

enum tlv_type {
	TLV_END = 0,
	TLV_CHASSIS = 1,
	TLV_PORT = 2,
	TLV_TTL = 3,
	TLV_PORT_DESCRIPTION = 4,
	TLV_SYSTEM_NAME = 5,
	TLV_SYSTEM_DESCRIPTION = 6,
	TLV_CAPABILITIES = 7,
	TLV_ORG = 127,
};

#define TLV_HDR_BYTES 2u
#define ID_BUILD_BYTES 64u

const uint8_t lldp_address[6] = {0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E};

struct tlv {
	uint8_t type;
	uint16_t len;
	const uint8_t *value;
};

static bool
is_lldp(const uint8_t *buf, size_t len)
{
	return len >= ETH_HDR_BYTES && memcmp(buf, lldp_address, 6) == 0 &&
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

void
lldp_set_text(struct lldp_text *t, const void *text, size_t len)
{
	t->len = (uint8_t)(len < LLDP_TEXT_BYTES ? len : LLDP_TEXT_BYTES);
	memcpy(t->text, text, t->len);
}

/* Take a TLV that is no mandatory one. Of a repeated one, the first counts. */
static void
take_optional(struct lldp_info *out, const struct tlv *t)
{
	struct lldp_text *const texts[] = {
		[TLV_PORT_DESCRIPTION] = &out->port_description,
		[TLV_SYSTEM_NAME] = &out->system_name,
		[TLV_SYSTEM_DESCRIPTION] = &out->system_description,
	};

	if (t->type >= TLV_PORT_DESCRIPTION && t->type <= TLV_SYSTEM_DESCRIPTION) {
		if (texts[t->type]->len == 0)
			lldp_set_text(texts[t->type], t->value, t->len);
	} else if (t->type == TLV_CAPABILITIES) {
		if (out->capabilities != 0 || t->len < 4)
			return;
		out->capabilities = be16_load(t->value);
		out->enabled = out->capabilities & be16_load(t->value + 2);
	} else if (t->type == TLV_ORG && t->value[0] == 0x00 && t->value[1] == 0x80 &&
		   t->value[2] == 0xC2) {
		dcbx_parse(&out->dcbx, t->value + 3, t->len - 3u);
	}
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
	take_optional(out, t);
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

static size_t
put_text(uint8_t *p, uint8_t type, const struct lldp_text *t)
{
	if (t->len == 0)
		return 0;
	be16_store(p, (uint16_t)(type << 9 | t->len));
	memcpy(p + TLV_HDR_BYTES, t->text, t->len);
	return TLV_HDR_BYTES + t->len;
}

static size_t
put_basic(uint8_t *p, const struct lldp_info *info)
{
	size_t n = put_text(p, TLV_PORT_DESCRIPTION, &info->port_description);

	n += put_text(p + n, TLV_SYSTEM_NAME, &info->system_name);
	n += put_text(p + n, TLV_SYSTEM_DESCRIPTION, &info->system_description);
	if (info->capabilities == 0)
		return n;
	be16_store(p + n, TLV_CAPABILITIES << 9 | 4);
	be16_store(p + n + 2, info->capabilities);
	be16_store(p + n + 4, info->enabled);
	return n + 6;
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
	/* A shutdown frame has nothing more: 802.1AB-2016 9.2.7, mibConstrShutdownLLDPDU(). */
	if (info->ttl_s > 0)
		n += put_basic(buf + n, info);
	for (unsigned int i = 0; info->ttl_s > 0 && i < ARRAY_LEN(kinds); i++) {
		if (dcbx_has(&info->dcbx, kinds[i]))
			n += dcbx_build(buf + n, &info->dcbx, kinds[i]);
	}
	be16_store(buf + n, 0);
	n += 2;
	assert(n <= LLDP_MAX_BYTES);
	return l2_pad(buf, n);
}
