/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/link/dcbx.h"

#include <string.h>

#include "wire/bytes/be.h"

/* Lengths after OUI and subtype. */
#define ETS_BODY 21u
#define PFC_BODY 2u
#define APP_BYTES 3u

static bool
parse_ets(struct dcbx_ets *e, const uint8_t *p, size_t len)
{
	if (len != ETS_BODY)
		return false;
	e->willing = p[0] >> 7;
	e->cbs = p[0] >> 6 & 1;
	e->max_tcs = (p[0] & 7) == 0 ? 8 : p[0] & 7;
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t nibble = i & 1 ? p[1 + i / 2] & 0xF : p[1 + i / 2] >> 4;

		if (nibble > 7)
			return false;
		e->prio_tc[i] = nibble;
		e->tc_pct[i] = p[5 + i];
		e->tc_tsa[i] = p[13 + i];
	}
	return true;
}

static bool
parse_pfc(struct dcbx_pfc *f, const uint8_t *p, size_t len)
{
	if (len != PFC_BODY)
		return false;
	f->willing = p[0] >> 7;
	f->mbc = p[0] >> 6 & 1;
	f->capability = p[0] & 0xF;
	f->enable = p[1];
	return true;
}

static bool
parse_apps(struct dcbx_tlvs *t, const uint8_t *p, size_t len)
{
	if (len == 0 || (len - 1) % APP_BYTES != 0 || (len - 1) / APP_BYTES > DCBX_MAX_APPS)
		return false;
	t->n_apps = 0;
	for (p++, len--; len > 0; p += APP_BYTES, len -= APP_BYTES)
		t->apps[t->n_apps++] = (struct dcbx_app){
			.prio = p[0] >> 5, .selector = p[0] & 7, .protocol = be16_load(p + 1)};
	return true;
}

void
dcbx_parse(struct dcbx_tlvs *t, const uint8_t *body, size_t len)
{
	uint8_t kind = len > 0 ? body[0] : 0;
	uint16_t bit;
	bool ok;

	if (kind < DCBX_ETS_CONF || kind > DCBX_APP)
		return;
	bit = (uint16_t)(1u << kind);
	switch (kind) {
	case DCBX_ETS_CONF:
		ok = parse_ets(&t->ets_conf, body + 1, len - 1);
		break;
	case DCBX_ETS_RECO:
		ok = parse_ets(&t->ets_reco, body + 1, len - 1);
		break;
	case DCBX_PFC:
		ok = parse_pfc(&t->pfc, body + 1, len - 1);
		break;
	default:
		ok = parse_apps(t, body + 1, len - 1);
		break;
	}
	if (!ok || (t->present | t->bad) & bit)
		t->bad |= bit;
	else
		t->present |= bit;
	t->present &= (uint16_t)~t->bad;
}

static size_t
build_ets(uint8_t *p, const struct dcbx_ets *e, bool conf)
{
	p[0] = 0;
	if (conf)
		p[0] = (uint8_t)(e->willing << 7 | e->cbs << 6 | (e->max_tcs & 7));
	for (unsigned int i = 0; i < 4; i++)
		p[1 + i] = (uint8_t)(e->prio_tc[2 * i] << 4 | e->prio_tc[2 * i + 1]);
	memcpy(p + 5, e->tc_pct, 8);
	memcpy(p + 13, e->tc_tsa, 8);
	return ETS_BODY;
}

static size_t
build_apps(uint8_t *p, const struct dcbx_tlvs *t)
{
	p[0] = 0;
	for (unsigned int i = 0; i < t->n_apps; i++) {
		uint8_t *app = p + 1 + i * APP_BYTES;

		app[0] = (uint8_t)(t->apps[i].prio << 5 | t->apps[i].selector);
		be16_store(app + 1, t->apps[i].protocol);
	}
	return 1 + t->n_apps * APP_BYTES;
}

size_t
dcbx_build(uint8_t *buf, const struct dcbx_tlvs *t, enum dcbx_kind kind)
{
	static const uint8_t oui[3] = {0x00, 0x80, 0xC2};
	uint8_t *body = buf + 6;
	size_t n = 0;

	memcpy(buf + 2, oui, sizeof(oui));
	buf[5] = (uint8_t)kind;
	switch (kind) {
	case DCBX_ETS_CONF:
		n = build_ets(body, &t->ets_conf, true);
		break;
	case DCBX_ETS_RECO:
		n = build_ets(body, &t->ets_reco, false);
		break;
	case DCBX_PFC:
		body[0] = (uint8_t)(t->pfc.willing << 7 | t->pfc.mbc << 6 | t->pfc.capability);
		body[1] = t->pfc.enable;
		n = PFC_BODY;
		break;
	case DCBX_APP:
		n = build_apps(body, t);
		break;
	}
	/* Type 127 (organisationally specific) and a 9-bit length. */
	be16_store(buf, (uint16_t)(127u << 9 | (n + 4)));
	return n + 6;
}
