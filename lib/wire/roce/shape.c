/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/roce/shape.h"

#include <assert.h>

static_assert(sizeof(((struct roce_template *)0)->hdr) <= sizeof(((struct roce_shape *)0)->hdr),
	      "a shape holds any template's header");

void
roce_shape_init(struct roce_shape *s, const struct roce_template *t, const struct roce_payload *p,
		uint8_t opcode)
{
	static const struct roce_ends no_ends;
	bool cnp = opcode == ROCE_CNP, ack = opcode == RC_ACK;
	/*
	 * Except for the opcode, a CNP or an ACK is a frame without extension headers whose payload
	 * is the CNP body or the AETH.
	 */
	const struct roce_fields fields = {.opcode = cnp || ack ? RC_SEND_MIDDLE : opcode,
					   .migreq = !cnp};
	uint8_t frame[ROCE_MAX_HDR_BYTES + UINT16_MAX];
	uint8_t *payload_at = frame + ROCE_MAX_HDR_BYTES;
	uint16_t bth_start = (uint16_t)(opcode << 8 | bth_flags(&fields));

	if (cnp || ack)
		assert(p->payload_bytes == (cnp ? CNP_BODY_BYTES : AETH_BYTES) && p->reg == 0);
	else
		assert(roce_ext_bytes(opcode) == 0);
	assert(p->pad == 0);
	memset(frame, 0, ROCE_MAX_HDR_BYTES);
	memset(s, 0, sizeof(*s));
	s->hdr_bytes = (uint8_t)roce_template_stamp(t, &no_ends, p, &fields, payload_at);
	*(payload_at - BTH_BYTES) = opcode;
	memcpy(s->hdr, payload_at - sizeof(s->hdr), sizeof(s->hdr));
	s->icrc = le32_load(payload_at + p->payload_bytes) ^
		  icrc_shift_apply(&p->shift, icrc_table[BTH_BYTES - 1][opcode] ^
						      icrc_table[BTH_BYTES - 1][fields.opcode]);
	s->shift = &p->shift;
	s->udp_sum =
		checksum_fold((uint64_t)t->udp_sum + 2u * p->udp_bytes + bth_start + p->checksum);
	s->payload_bytes = p->payload_bytes;
	s->frame_bytes = (uint16_t)(s->hdr_bytes + p->payload_bytes + ICRC_BYTES);
	assert((t->ip_version == 6) == (s->hdr_bytes > ROCE_SHAPE_NEAR_BYTES));
}

void
roce_shape_set_dst_mac(struct roce_shape *s, const uint8_t mac[6])
{
	memcpy(s->hdr + sizeof(s->hdr) - s->hdr_bytes, mac, 6);
}

void
roce_series_init(struct roce_series *s, const struct roce_payload *p)
{
	s->shift = &p->shift;
	icrc_unshift_init(&s->back, (size_t)p->payload_bytes + p->pad);
	for (unsigned int k = 0; k < 3; k++) {
		for (unsigned int b = 0; b < 256; b++)
			s->psn[k][b] = icrc_shift_apply(&p->shift, icrc_table[k][b]);
	}
}
