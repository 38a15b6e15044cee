/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/icmp_error.h"

#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "switch/forward/route_own.h"
#include "switch/forward/route_steps.h"
#include "wire/neighbour/icmp.h"

/* May another error leave now? GCRA: each error moves the due time on by 1 / icmp_errors_per_s. */
static bool
is_within_rate(struct sw_router *r, uint64_t now_ns)
{
	uint32_t per_s = r->routes->params.icmp_errors_per_s;
	uint64_t due_ns = max_u64(r->icmp_due_ns, now_ns);

	if (per_s == 0 || due_ns + NS_PER_SEC / per_s > now_ns + NS_PER_SEC)
		return false;
	r->icmp_due_ns = due_ns + NS_PER_SEC / per_s;
	return true;
}

static bool
has_host_source(const uint8_t *ip, uint8_t ip_version)
{
	return ip_version == 6 ? sw_is_routable6(ip + 8) : sw_is_forwarded4(ip + 12);
}

/* A routed frame has the router's address as its source; a bridged one has not. */
static bool
is_routed(const struct sw_router *r, const uint8_t *frame, enum sw_drop reason)
{
	return reason == SW_DROP_TTL || memcmp(frame + 6, r->mac, sizeof(r->mac)) == 0;
}

static void
build(struct sw *sw, const struct sw_own_way *way, const struct icmp_error *error)
{
	struct sw_router *r = sw->forward.router;
	struct rte_mbuf *m = rte_pktmbuf_alloc(sw->pools.own);
	struct l2 l2 = {0};
	size_t len;

	if (m == NULL || rte_pktmbuf_tailroom(m) < ICMP_ERROR_MIN_BYTES) {
		rte_pktmbuf_free(m);
		counter_inc(&r->stats.neigh_no_mbuf);
		return;
	}
	memcpy(l2.dst_mac, way->mac, sizeof(l2.dst_mac));
	memcpy(l2.src_mac, r->mac, sizeof(l2.src_mac));
	len = icmp_error_build(rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_tailroom(m), &l2, error);
	rte_pktmbuf_append(m, (uint16_t)len);
	assert(r->n_errors < ARRAY_LEN(r->errors));
	r->errors[r->n_errors++] =
		(struct sw_own_frame){.m = m, .domain = way->domain, .port = way->port};
	counter_inc(&r->stats.icmp_errors_sent);
}

void
sw_icmp_error(struct sw *sw, const struct arrival *a, enum sw_drop reason, uint32_t mtu_bytes)
{
	struct icmp_error error = {.kind = reason == SW_DROP_TTL ? ICMP_TIME_EXCEEDED
								 : ICMP_TOO_BIG,
				   .mtu_bytes = mtu_bytes};
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);
	struct sw_router *r = sw->forward.router;
	struct sw_own_way way;
	struct frame_view v;
	const uint8_t *src;

	/* Parse the frame again: routing may have removed its tag. */
	if (r == NULL || r->routes->params.icmp_errors_per_s == 0 || !is_routed(r, frame, reason) ||
	    frame_parse(frame, a->m->data_len, &v) != FRAME_OK ||
	    !icmp_may_answer(frame, &v, error.kind) ||
	    !has_host_source(frame + v.l3_off, v.ip_version))
		return;
	if (!is_within_rate(r, a->now_ns)) {
		counter_inc(&r->stats.icmp_errors_limited);
		return;
	}
	src = frame + v.l3_off + (v.ip_version == 4 ? 12 : 8);
	if (!sw_route_own(&sw->forward, src, v.ip_version, a->now_ns, &way)) {
		counter_inc(&r->stats.icmp_errors_unresolved);
		return;
	}
	error.ip_version = v.ip_version;
	error.src_ip = way.ip;
	error.packet = frame + v.l3_off;
	error.packet_bytes = v.ip_end - v.l3_off;
	build(sw, &way, &error);
}
