/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCBX in its IEEE form: organisationally specific TLVs of LLDP, OUI 00-80-C2 (802.1Q-2018 annex
 * D.2, formerly 802.1Qaz). A kind whose TLV appears twice or is malformed is marked bad and not
 * used.
 *
 * Invariant: present & bad = 0.
 */
#ifndef QUENCH_WIRE_LINK_DCBX_H
#define QUENCH_WIRE_LINK_DCBX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dcbx_kind {
	DCBX_ETS_CONF = 9,
	DCBX_ETS_RECO = 10,
	DCBX_PFC = 11,
	DCBX_APP = 12,
};

/* Transmission selection algorithm of a traffic class (802.1Q table 8-6). */
enum dcbx_tsa { DCBX_TSA_STRICT = 0, DCBX_TSA_CBS = 1, DCBX_TSA_ETS = 2, DCBX_TSA_VENDOR = 255 };

/* Meaning of dcbx_app.protocol. */
enum dcbx_selector {
	DCBX_ETHERTYPE = 1,
	DCBX_TCP = 2,
	DCBX_UDP = 3,
	DCBX_ANY_PORT = 4,
	DCBX_DSCP = 5,
};

/* As many as fit into a TLV of 511 bytes. */
#define DCBX_MAX_APPS 168

struct dcbx_ets {
	bool willing, cbs;  /* only in a configuration TLV */
	uint8_t max_tcs;    /* 1..8 */
	uint8_t prio_tc[8]; /* 0..7 */
	uint8_t tc_pct[8];
	uint8_t tc_tsa[8];
};

struct dcbx_pfc {
	bool willing, mbc;
	uint8_t capability; /* number of classes that can have PFC at once */
	uint8_t enable;     /* bit n: priority n */
};

struct dcbx_app {
	uint8_t prio, selector;
	uint16_t protocol;
};

struct dcbx_tlvs {
	uint16_t present; /* bits of enum dcbx_kind: valid TLVs */
	uint16_t bad;     /* bits: TLV appeared twice, or malformed */
	struct dcbx_ets ets_conf, ets_reco;
	struct dcbx_pfc pfc;
	uint8_t n_apps;
	struct dcbx_app apps[DCBX_MAX_APPS];
};

static inline bool
dcbx_has(const struct dcbx_tlvs *t, enum dcbx_kind kind)
{
	return t->present >> kind & 1;
}

/** Parse a TLV from its subtype on (after the OUI). Unknown subtypes are ignored. */
void dcbx_parse(struct dcbx_tlvs *t, const uint8_t *body, size_t len);

/**
 * Write the TLV of one kind from t, with LLDP TLV header and OUI.
 * @return its length: 27 (ETS), 8 (PFC) or 7 + 3 x n_apps (APP).
 */
size_t dcbx_build(uint8_t *buf, const struct dcbx_tlvs *t, enum dcbx_kind kind);

#endif
