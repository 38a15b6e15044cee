/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/frames/template.h"

#include <stddef.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "nic/frames/signature.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/bytes/headers.h"

void
nic_template_copy(struct nic_frames_template *to, const struct nic_frames_template *from)
{
	memcpy(to, from, offsetof(struct nic_frames_template, patterns));
	memcpy(to->patterns, from->patterns, from->n_patterns * sizeof(from->patterns[0]));
	memcpy(to->values, from->values, from->n_values * sizeof(from->values[0]));
}

/* A hash of a number (splitmix64's last step; Steele and others 2014). */
static uint64_t
mixed(uint64_t number)
{
	uint64_t z = (number + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* From 0 to most. */
static uint64_t
drawn(uint64_t number, uint64_t most)
{
	return (uint64_t)((unsigned __int128)mixed(number) * ((unsigned __int128)most + 1) >> 64);
}

static uint16_t
weighted(const struct nic_frames_lengths *l, uint64_t number)
{
	uint64_t at = drawn(number, l->weights[l->n - 1] - 1);
	unsigned int i = 0;

	while (at >= l->weights[i])
		i++;
	return l->bytes[i];
}

uint16_t
nic_template_bytes(const struct nic_frames_template *t, uint64_t number)
{
	const struct nic_frames_lengths *l = &t->lengths;
	uint16_t bytes = t->frame_bytes;

	if (l->sizes == NIC_SIZES_COUNTER)
		bytes = (uint16_t)(l->bytes[0] +
				   number % ((l->bytes[1] - l->bytes[0]) / l->step + 1u) * l->step);
	else if (l->sizes == NIC_SIZES_RANDOM)
		bytes = (uint16_t)(l->bytes[0] + drawn(number, l->bytes[1] - l->bytes[0]));
	else if (l->sizes == NIC_SIZES_WEIGHTS)
		bytes = weighted(l, number);
	return (uint16_t)(bytes - FCS_BYTES);
}

uint16_t
nic_template_least_bytes(const struct nic_frames_template *t)
{
	uint16_t least = t->frame_bytes;

	for (unsigned int i = 0; i < t->lengths.n; i++)
		least = (uint16_t)min_u64(least, t->lengths.bytes[i]);
	return (uint16_t)(least - FCS_BYTES);
}

static void
write_field(uint8_t *header, uint16_t bit, uint8_t width, uint64_t value)
{
	for (uint32_t left = width, at = bit + width; left > 0;) {
		uint32_t low = (8 - at % 8) % 8;     /* bits of the byte below the field */
		uint32_t n = min_u64(8 - low, left); /* bits of the field in the byte */
		uint8_t mask = (uint8_t)(((1u << n) - 1) << low);
		uint8_t *byte = &header[(at - 1) / 8];

		*byte = (uint8_t)((*byte & ~mask) | ((value << low) & mask));
		value >>= n;
		at -= n;
		left -= n;
	}
}

static uint64_t
value_of(const struct nic_frames_template *t, const struct nic_frames_pattern *p, uint64_t number,
	 uint16_t bytes)
{
	if (p->values == NIC_FRAMES_LENGTH)
		return bytes - p->first;
	number %= p->n;
	if (p->values == NIC_FRAMES_LIST)
		return t->values[p->first + number];
	if (p->values == NIC_FRAMES_RANDOM)
		return p->first + drawn((uint64_t)p->seed << 32 | number, p->step);
	return p->first + number * p->step;
}

/*
 * Sum of a frame from an offset to an end. Zeros are between the header and the signature, which
 * may begin at an odd place.
 */
static uint64_t
sum_of(const struct nic_frames_template *t, const uint8_t *data, uint16_t at, uint16_t end,
       uint16_t signature_at)
{
	uint64_t sum = checksum_bytes(data + at, (size_t)(t->header_bytes - at));
	uint16_t signature;

	if (signature_at >= end)
		return sum;
	signature = checksum_bytes(data + signature_at, (size_t)(end - signature_at));
	return sum + ((signature_at - at) % 2 == 0 ? signature : __builtin_bswap16(signature));
}

/* Sum of the pseudo header: addresses, protocol and length (RFC 9293 3.1, RFC 8200 8.1). */
static uint64_t
pseudo_sum(const uint8_t *ip, uint8_t proto, uint32_t l4_bytes)
{
	uint64_t sum = checksum_udp_pseudo(ip, ip[0] >> 4);

	return sum - IP_PROTO_UDP + proto + l4_bytes;
}

static void
write_checksum(const struct nic_frames_template *t, const struct nic_frames_checksum *c,
	       uint8_t *data, uint16_t bytes, uint16_t signature_bytes)
{
	static const struct {
		uint8_t at, proto; /* no proto: no pseudo header */
	} sums[] = {
		[NIC_SUM_IPV4] = {10, 0}, [NIC_SUM_UDP] = {6, 17},    [NIC_SUM_TCP] = {16, 6},
		[NIC_SUM_ICMP] = {2, 0},  [NIC_SUM_ICMPV6] = {2, 58},
	};
	uint8_t *header = data + c->at;
	uint8_t *field = header + sums[c->sum].at;
	uint16_t end = (uint16_t)(bytes - c->tail);
	uint64_t sum;
	uint16_t value;

	be16_store(field, 0);
	if (c->sum == NIC_SUM_IPV4)
		sum = checksum_bytes(header, (header[0] & 15) * 4u);
	else
		sum = sum_of(t, data, c->at, end, (uint16_t)(bytes - signature_bytes));
	if (sums[c->sum].proto != 0)
		sum += pseudo_sum(data + c->ip_at, sums[c->sum].proto, (uint32_t)end - c->at);
	value = (uint16_t)(~checksum_fold(sum) ^ (c->bad ? 0x0101 : 0));
	/* RFC 768: 0 stands for no checksum. */
	be16_store(field, value == 0 && c->sum == NIC_SUM_UDP ? 0xFFFF : value);
}

void
nic_template_write(const struct nic_frames_template *t, uint64_t number, uint16_t bytes,
		   const struct signature *signature, const struct half_sip_key *key, uint8_t *data)
{
	uint16_t signature_bytes = 0;

	memcpy(data, t->header, t->header_bytes);
	memset(data + t->header_bytes, 0, bytes - t->header_bytes);
	for (unsigned int i = 0; i < t->n_patterns; i++)
		write_field(data, t->patterns[i].bit, t->patterns[i].width,
			    value_of(t, &t->patterns[i], number, bytes));
	if (signature != NULL) {
		signature_bytes = signature->is_short ? SIGNATURE_SHORT_BYTES : SIGNATURE_BYTES;
		signature_write(data + bytes, key, signature);
	}
	for (unsigned int i = 0; i < t->n_checksums; i++)
		write_checksum(t, &t->checksums[i], data, bytes, signature_bytes);
}
