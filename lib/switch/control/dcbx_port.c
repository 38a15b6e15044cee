/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/dcbx_port.h"

#include <string.h>

#include "base/numbers/array.h"
#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

/* clang-format off */
const struct counter_field dcbx_counters[] = {
	COUNTER_FIELD(struct dcbx_stats, tx_frames, "LLDP frames sent"),
	COUNTER_FIELD(struct dcbx_stats, rx_frames, "LLDP frames received"),
	COUNTER_FIELD(struct dcbx_stats, rx_malformed, "received LLDP frames that were malformed"),
	COUNTER_FIELD(struct dcbx_stats, rx_bad_tlvs, "received LLDP frames with a duplicate or malformed DCBX TLV"),
	COUNTER_FIELD(struct dcbx_stats, rx_ageouts, "neighbours forgotten"),
	COUNTER_FIELD(struct dcbx_stats, pfc_mismatches, "times that the PFC priorities of "
							 "switch and neighbour began to differ"),
};
/* clang-format on */

const unsigned int dcbx_counters_n = ARRAY_LEN(dcbx_counters);

const char *
dcbx_pfc_state_name(enum dcbx_pfc_state state)
{
	static const char *const names[] = {
		[DCBX_NO_NEIGHBOUR] = "no_neighbour",  [DCBX_NO_PFC_TLV] = "no_pfc_tlv",
		[DCBX_SEVERAL] = "several_neighbours", [DCBX_AGREED] = "agreed",
		[DCBX_MISMATCH] = "mismatch",
	};

	return names[state];
}

void
dcbx_port_init(struct dcbx_port *p, const struct lldp_info *local)
{
	memset(p, 0, sizeof(*p));
	p->local = *local;
}

static bool
same_id(const struct lldp_id *a, const struct lldp_id *b)
{
	return a->subtype == b->subtype && a->len == b->len && memcmp(a->id, b->id, a->len) == 0;
}

static bool
same_peer(const struct lldp_info *a, const struct lldp_info *b)
{
	return same_id(&a->chassis, &b->chassis) && same_id(&a->port, &b->port);
}

/* Does the peer adopt our priorities? If both are willing, the end with the lower address does. */
static bool
peer_gives_way(const struct dcbx_port *p)
{
	const struct dcbx_pfc *mine = &p->local.dcbx.pfc, *theirs = &p->peer.dcbx.pfc;

	if (!theirs->willing)
		return false;
	return !mine->willing || memcmp(p->peer.src_mac, p->local.src_mac, 6) < 0;
}

static enum dcbx_pfc_state
decide(const struct dcbx_port *p, uint64_t now_ns, uint8_t *prios)
{
	uint8_t mine = p->local.dcbx.pfc.enable, theirs = p->peer.dcbx.pfc.enable;

	*prios = 0;
	if (!p->has_peer)
		return DCBX_NO_NEIGHBOUR;
	if (p->other_until_ns > now_ns)
		return DCBX_SEVERAL;
	if (!dcbx_has(&p->peer.dcbx, DCBX_PFC))
		return DCBX_NO_PFC_TLV;
	if (peer_gives_way(p))
		*prios = mine;
	else if (p->local.dcbx.pfc.willing)
		*prios = mine & theirs;
	else if (mine == theirs)
		*prios = mine;
	else
		return DCBX_MISMATCH;
	return p->local.dcbx.pfc.willing && *prios != theirs && !peer_gives_way(p) ? DCBX_MISMATCH
										   : DCBX_AGREED;
}

static void
update(struct dcbx_port *p, uint64_t now_ns)
{
	enum dcbx_pfc_state before = p->pfc_state;

	p->pfc_state = decide(p, now_ns, &p->pfc_prios);
	if (p->pfc_state == DCBX_MISMATCH && before != DCBX_MISMATCH)
		counter_inc(&p->stats.pfc_mismatches);
}

static void
forget_peer(struct dcbx_port *p)
{
	p->has_peer = false;
	counter_inc(&p->stats.rx_ageouts);
}

/* Store the first neighbour. A second one only sets other_until_ns. */
static void
neighbour_heard(struct dcbx_port *p, const struct lldp_params *params, const struct lldp_info *info,
		uint64_t now_ns)
{
	uint64_t until_ns = now_ns + info->ttl_s * NS_PER_SEC;

	if (p->has_peer && !same_peer(&p->peer, info)) {
		p->other_until_ns = info->ttl_s == 0 ? 0 : until_ns;
		return;
	}
	if (info->ttl_s == 0) {
		if (p->has_peer)
			forget_peer(p);
		return;
	}
	if (!p->has_peer) {
		p->fast_left = params->lldp_tx_fast_init;
		p->next_tx_ns = now_ns;
	}
	p->has_peer = true;
	p->peer = *info;
	p->peer_until_ns = until_ns;
}

void
dcbx_port_rx(struct dcbx_port *p, const struct lldp_params *params, const uint8_t *frame,
	     size_t len, uint64_t now_ns)
{
	struct lldp_info info;

	counter_inc(&p->stats.rx_frames);
	if (lldp_parse(frame, len, &info) != LLDP_OK) {
		counter_inc(&p->stats.rx_malformed);
		return;
	}
	if (info.dcbx.bad != 0)
		counter_inc(&p->stats.rx_bad_tlvs);
	neighbour_heard(p, params, &info, now_ns);
	update(p, now_ns);
}

void
dcbx_port_say(struct dcbx_port *p, const struct lldp_info *says, uint64_t now_ns)
{
	p->local = *says;
	p->next_tx_ns = now_ns;
	update(p, now_ns);
}

void
dcbx_port_sooner(struct dcbx_port *p, const struct lldp_params *params, uint64_t now_ns)
{
	p->next_tx_ns = min_u64(p->next_tx_ns, now_ns + params->lldp_tx_interval_ns);
}

void
dcbx_port_reset(struct dcbx_port *p, uint64_t now_ns)
{
	if (p->has_peer)
		forget_peer(p);
	p->other_until_ns = 0;
	p->next_tx_ns = now_ns;
	p->fast_left = 0; /* 802.1AB figure 9-3, TX_TIMER_INITIALIZE */
	update(p, now_ns);
}

bool
dcbx_port_poll(struct dcbx_port *p, uint64_t now_ns)
{
	if (p->has_peer && p->peer_until_ns <= now_ns)
		forget_peer(p);
	update(p, now_ns);
	return p->next_tx_ns <= now_ns;
}

size_t
dcbx_port_tx(struct dcbx_port *p, const struct lldp_params *params, uint8_t *buf, uint64_t now_ns)
{
	uint64_t ttl_s = params->lldp_tx_interval_ns / NS_PER_SEC * params->lldp_tx_hold + 1;

	struct lldp_info says = p->local;

	says.ttl_s = (uint16_t)min_u64(ttl_s, UINT16_MAX);
	/* Advertise the priorities in force (802.1Q 38.4.1). */
	if (says.dcbx.pfc.willing && p->pfc_state == DCBX_AGREED)
		says.dcbx.pfc.enable = p->pfc_prios;
	if (p->fast_left > 0)
		p->fast_left--;
	p->next_tx_ns = now_ns + (p->fast_left > 0 ? NS_PER_SEC : params->lldp_tx_interval_ns);
	counter_inc(&p->stats.tx_frames);
	return lldp_build(buf, &says);
}

size_t
dcbx_port_shutdown(struct dcbx_port *p, uint8_t *buf)
{
	struct lldp_info says = p->local;

	says.ttl_s = 0;
	counter_inc(&p->stats.tx_frames);
	return lldp_build(buf, &says);
}
