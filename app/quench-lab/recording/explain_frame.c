/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/recording/explain_frame.h"

#include <rte_mbuf.h>

#include "wire/link/pfc_frame.h"
#include "wire/roce/int_hdr.h"

bool
explain_parse(const struct rte_mbuf *m, struct frame_view *f, struct roce_view *v)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *hdr;
	uint8_t plain[INT_MAX_FRAME_BYTES];

	if (frame_parse(frame, m->data_len, f) != FRAME_OK || f->ip_version == 0)
		return false;
	if (m->data_len > sizeof(plain) || int_strip(frame, m->data_len, f, plain, &hdr) != INT_OK)
		return roce_parse(frame, m->data_len, f, false, v) == ROCE_OK;
	f->ip_end = (uint16_t)(f->ip_end - int_hdr_bytes(int_hdr_slots(hdr)));
	return roce_parse(plain, m->data_len, f, false, v) == ROCE_OK;
}

int
explain_pause(const struct rte_mbuf *m, uint8_t prio)
{
	struct mac_control c;
	struct frame_view f;
	enum mac_control_kind kind;

	if (frame_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &f) != FRAME_OK ||
	    f.ethertype != ETHERTYPE_MAC_CONTROL)
		return -1;
	kind = mac_control_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &c);
	if (kind == MAC_CONTROL_PAUSE)
		return c.quanta[0] > 0;
	return kind == MAC_CONTROL_PFC && c.enable & 1u << prio ? c.quanta[prio] > 0 : -1;
}
