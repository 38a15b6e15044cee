/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame of a stream, made of its template: the header, then zeros. Patterns overwrite fields of
 * the header; the frame's number selects their values, and its length. A signature ends the frame.
 * Checksums are computed last, in the order of the template: an inner one before the outer one that
 * covers it.
 *
 * Everything is a function of the frame's number, so that two runs send the same frames. "Random"
 * values and lengths are a hash of it.
 */
#ifndef QUENCH_NIC_FRAMES_TEMPLATE_H
#define QUENCH_NIC_FRAMES_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

struct half_sip_key;
struct signature;

#define NIC_FRAMES_HEADER_BYTES 192u
#define NIC_FRAMES_PATTERNS 32u
#define NIC_FRAMES_VALUES 1024u /* of all lists of a template */
#define NIC_FRAMES_CHECKSUMS 8u
#define NIC_FRAMES_LENGTHS 16u

enum nic_frames_values {
	NIC_FRAMES_COUNTER,
	NIC_FRAMES_LIST,
	NIC_FRAMES_RANDOM,
	NIC_FRAMES_LENGTH, /* bytes of the frame without FCS, less `first` */
};

/* A field of the header whose value changes from frame to frame. */
struct nic_frames_pattern {
	uint16_t bit;   /* of the header, where the field begins */
	uint8_t width;  /* in bits, 1 to 64 */
	uint8_t values; /* enum nic_frames_values */
	uint32_t n;     /* number of values, which then begin again */
	uint64_t first; /* the first or lowest value, or its place in the template's values */
	uint64_t step;  /* from value to value, or from the lowest value to the highest */
	uint32_t seed;
};

enum nic_frames_sum { NIC_SUM_IPV4, NIC_SUM_UDP, NIC_SUM_TCP, NIC_SUM_ICMP, NIC_SUM_ICMPV6 };

struct nic_frames_checksum {
	uint16_t at;    /* offset of the header that has the checksum */
	uint16_t ip_at; /* of the IP header before it; not of IPv4 and ICMP */
	uint16_t tail;  /* bytes of the frame after what it covers; not of IPv4 */
	uint8_t sum;    /* enum nic_frames_sum */
	bool bad;       /* write a wrong checksum */
};

enum nic_frames_sizes { NIC_SIZES_FIXED, NIC_SIZES_COUNTER, NIC_SIZES_RANDOM, NIC_SIZES_WEIGHTS };

struct nic_frames_lengths {
	uint8_t sizes; /* enum nic_frames_sizes */
	uint8_t n;
	uint16_t step;
	uint16_t bytes[NIC_FRAMES_LENGTHS];   /* with FCS; of counter and random: least and most */
	uint32_t weights[NIC_FRAMES_LENGTHS]; /* sum of the weights up to this length */
};

struct nic_frames_template {
	uint8_t header[NIC_FRAMES_HEADER_BYTES];
	uint16_t header_bytes;
	uint16_t frame_bytes; /* with FCS; the largest, if lengths differ */
	uint8_t n_patterns, n_checksums;
	uint16_t n_values;
	struct nic_frames_checksum checksums[NIC_FRAMES_CHECKSUMS];
	struct nic_frames_lengths lengths;
	struct nic_frames_pattern patterns[NIC_FRAMES_PATTERNS];
	uint64_t values[NIC_FRAMES_VALUES];
};

/** Copy a template without the patterns and values that are not used, which are most of it. */
void nic_template_copy(struct nic_frames_template *to, const struct nic_frames_template *from);

/** Bytes of a frame, without FCS. */
uint16_t nic_template_bytes(const struct nic_frames_template *t, uint64_t number);

/** Bytes of the shortest frame, without FCS. */
uint16_t nic_template_least_bytes(const struct nic_frames_template *t);

/**
 * Write a frame.
 * @param bytes      nic_template_bytes() of it.
 * @param signature  NULL: none.
 */
void nic_template_write(const struct nic_frames_template *t, uint64_t number, uint16_t bytes,
			const struct signature *signature, const struct half_sip_key *key,
			uint8_t *data);

#endif
