/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that cross between ranks. Of a frame whose payload is the NICs' pattern, its headers, pad
 * and ICRC cross, and its payload is that of an mbuf of the other rank's pool. All others cross
 * whole: short ones, frames of streams and events, and those whose payload is damaged.
 */
#include <errno.h>
#include <string.h>
#include <rte_mbuf.h>

#include "fabric/net/net_state.h"
#include "nic/qp/payload.h"
#include "node/pkt_meta.h"
#include "node/pkt_pool.h"
#include "wire/frame/frame.h"
#include "wire/roce/roce.h"

/* Below this length, a payload costs less than looking for it. */
#define LEAST_PAYLOAD_BYTES 64u
/* Pad and ICRC. */
#define MOST_TAIL_BYTES 8u

/* Begins a frame; its bytes without the payload follow. */
struct frame_form {
	uint64_t hash; /* the fabric's fingerprint of the frame */
	uint16_t len;
	uint16_t payload_off, payload_bytes; /* of the pattern; 0 bytes: the frame is whole */
};

/* Where the pattern is. */
static void
find_pattern(const struct net *net, const struct rte_mbuf *m, struct frame_form *form)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view frame;
	struct roce_view roce;
	uint32_t end;

	if ((m->ol_flags & net->payloads->mark) == 0 ||
	    frame_parse(data, m->data_len, &frame) != FRAME_OK ||
	    roce_parse(data, m->data_len, &frame, false, &roce) != ROCE_OK)
		return;
	end = roce.payload_off + roce.payload_bytes;
	if (roce.payload_bytes < LEAST_PAYLOAD_BYTES || roce.payload_bytes > NIC_MAX_MTU ||
	    roce.payload_off > NIC_PAYLOAD_OFFSET || m->data_len < end ||
	    m->data_len - end > MOST_TAIL_BYTES ||
	    memcmp(data + roce.payload_off, net->payloads->pattern, roce.payload_bytes) != 0)
		return;
	form->payload_off = roce.payload_off;
	form->payload_bytes = roce.payload_bytes;
}

static void
pack(void *arg, struct rte_mbuf *m, struct rank_bytes *to)
{
	const struct net *net = arg;
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_form form;
	uint32_t end;

	memset(&form, 0, sizeof(form));
	memcpy(&form.hash, &m->hash, sizeof(form.hash));
	form.len = m->data_len;
	form.payload_off = m->data_len;
	find_pattern(net, m, &form);
	end = form.payload_off + form.payload_bytes;
	rank_bytes_add(to, &form, sizeof(form));
	rank_bytes_add(to, data, form.payload_off);
	rank_bytes_add(to, data + end, form.len - end);
	rte_pktmbuf_free(m);
}

/* An mbuf whose payload is the pattern from NIC_PAYLOAD_OFFSET to end_off. */
static struct rte_mbuf *
take_pattern(const struct net *net, uint32_t end_off)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(net->data);
	struct pkt_meta *meta;

	if (m == NULL)
		return NULL;
	meta = pkt_meta(m);
	if (meta->dirty_off != 0)
		memcpy((uint8_t *)m->buf_addr + meta->dirty_off,
		       net->payloads->pattern + (meta->dirty_off - NIC_PAYLOAD_OFFSET), 8);
	meta->dirty_off = end_off;
	return m;
}

static struct rte_mbuf *
unpack(void *arg, struct rank_reader *from)
{
	const struct net *net = arg;
	struct frame_form form;
	struct rte_mbuf *m;
	const uint8_t *head, *tail;
	uint32_t end, tail_bytes;

	rank_reader_copy(from, &form, sizeof(form));
	end = form.payload_off + form.payload_bytes;
	if (from->bad || end > form.len)
		return NULL;
	tail_bytes = form.len - end;
	head = rank_reader_take(from, form.payload_off);
	tail = rank_reader_take(from, tail_bytes);
	if (head == NULL || tail == NULL)
		return NULL;
	if (form.payload_bytes > 0) {
		m = take_pattern(net, NIC_PAYLOAD_OFFSET + form.payload_bytes);
		if (m == NULL)
			return NULL;
		m->data_off = (uint16_t)(NIC_PAYLOAD_OFFSET - form.payload_off);
		m->ol_flags = net->payloads->mark;
	} else {
		m = rte_pktmbuf_alloc(net->from_ranks);
		if (m == NULL)
			return NULL;
		if (m->buf_len - m->data_off < form.len) {
			rte_pktmbuf_free(m);
			return NULL;
		}
	}
	m->data_len = form.len;
	m->pkt_len = form.len;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), head, form.payload_off);
	memcpy(rte_pktmbuf_mtod(m, uint8_t *) + end, tail, tail_bytes);
	memcpy(&m->hash, &form.hash, sizeof(form.hash));
	return m;
}

int
net_create_pool_of_ranks(struct net *net)
{
	const struct pkt_pool_params params = {
		.name = "lab_ranks",
		.n_mbufs = (uint32_t)scenario_backing_frames(net->scenario) +
			   net->threads * PKT_POOL_CACHED_MBUFS,
		/* INT headers of a NIC's frame may fill the headroom of its mbuf. */
		.largest_frame = RTE_MAX(rte_pktmbuf_data_room_size(net->data),
					 rte_pktmbuf_data_room_size(net->frames)),
		.socket = SOCKET_ID_ANY,
		.threads = true,
		.grows = true,
	};

	net->from_ranks = pkt_pool_create(&params);
	return net->from_ranks == NULL ? -ENOMEM : 0;
}

const struct fabric_carrier net_carrier = {.pack = pack, .unpack = unpack};
