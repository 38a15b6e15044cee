/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invariant CRC of RoCEv2: CRC-32 of IEEE 802.3 over eight 0xFF bytes, the IP header, UDP, BTH and
 * everything after it up to the pad. Fields that routers change count as ones (IBTA annex A17;
 * Linux rxe_icrc.c). The frame holds it least significant byte first.
 *
 * A register is the CRC state before the final complement. A CRC is linear:
 *   reg(header | payload) = shift(reg(header), |payload|) ^ reg0(payload),
 * where reg0 starts from 0. A sender whose payload is constant therefore needs only a few table
 * look-ups per frame, whatever the MTU and the CPU.
 */
#ifndef QUENCH_WIRE_ICRC_ICRC_H
#define QUENCH_WIRE_ICRC_ICRC_H

#include <stddef.h>
#include <stdint.h>

#define ICRC_BYTES 4u
/* Register after the eight 0xFF bytes that stand for the InfiniBand LRH. */
#define ICRC_SEED 0xDEBB20E3u

/** Continue a register over n bytes, with the fastest code for this CPU. */
uint32_t icrc_update(uint32_t reg, const void *buf, size_t n);

/** Name of the code that icrc_update() uses: "slice-by-16", "pclmulqdq" or "vpclmulqdq". */
const char *icrc_backend(void);

/**
 * Register after the headers IP (20 or 40 bytes), UDP and BTH, which are contiguous from ip on,
 * with the fields that routers may change counted as ones.
 */
uint32_t icrc_headers(const uint8_t *ip, unsigned int ip_version);

/**
 * ICRC of a frame from its IP header to the last pad byte (n bytes). Load and store it with
 * wire/bytes/le.h. The check of a received frame is one pass: fields that count as ones are
 * replaced on the fly, without a copy.
 */
uint32_t icrc_compute(const uint8_t *ip, unsigned int ip_version, size_t n);

/* The operator "append n zero bytes" as four tables; four look-ups apply it to a register. */
struct icrc_shift {
	uint32_t table[4][256];
};

void icrc_shift_init(struct icrc_shift *s, size_t n_bytes);
/** The inverse operator. n_bytes is below 2^29. */
void icrc_unshift_init(struct icrc_shift *s, size_t n_bytes);

static inline uint32_t
icrc_shift_apply(const struct icrc_shift *s, uint32_t reg)
{
	return s->table[0][reg & 0xFF] ^ s->table[1][reg >> 8 & 0xFF] ^
	       s->table[2][reg >> 16 & 0xFF] ^ s->table[3][reg >> 24];
}

#endif
