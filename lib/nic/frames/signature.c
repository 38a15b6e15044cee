/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/frames/signature.h"

#include "wire/bytes/be.h"

#define CUT_THROUGH 0x80u

static uint32_t
check_long(const uint8_t *end, const struct half_sip_key *key)
{
	const uint32_t words[3] = {be32_load(end - 16), be32_load(end - 12), be32_load(end - 8)};

	return half_sip(key, words, 3);
}

static uint32_t
check_short(const uint8_t *end, const struct half_sip_key *key)
{
	const uint32_t word = be16_load(end - 6);

	return half_sip(key, &word, 1);
}

void
signature_write(uint8_t *end, const struct half_sip_key *key, const struct signature *s)
{
	be16_store(end - 6, s->id);
	if (s->is_short) {
		be32_store(end - 4, check_short(end, key));
		return;
	}
	be32_store(end - 16, (uint32_t)(s->time_ns >> 8));
	end[-12] = (uint8_t)s->time_ns;
	be32_store(end - 11, s->number);
	end[-7] = (uint8_t)(s->start % SIGNATURE_STARTS | (s->cut_through ? CUT_THROUGH : 0));
	be32_store(end - 4, check_long(end, key));
}

bool
signature_read(const uint8_t *end, uint32_t room, const struct half_sip_key *key,
	       struct signature *s)
{
	uint32_t check;

	if (room < SIGNATURE_SHORT_BYTES)
		return false;
	check = be32_load(end - 4);
	s->id = be16_load(end - 6);
	s->is_short = room < SIGNATURE_BYTES || check != check_long(end, key);
	if (s->is_short)
		return check == check_short(end, key);
	s->time_ns = (uint64_t)be32_load(end - 16) << 8 | end[-12];
	s->number = be32_load(end - 11);
	s->start = end[-7] % SIGNATURE_STARTS;
	s->cut_through = end[-7] & CUT_THROUGH;
	return true;
}
