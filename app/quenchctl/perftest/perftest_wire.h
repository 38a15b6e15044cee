/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of perftest's TCP exchange, as perftest 4.5 has it (src/perftest_communication.c of
 * linux-rdma/perftest, tag v4.5-0.17; KEY_PRINT_FMT_GID, exchange_versions(), check_sys_data(),
 * check_mtu(), xchg_bw_reports()). Pure formatting and parsing, no I/O.
 *
 * In an exchange the client sends its message first, then the server answers with the same kind:
 *
 *     version       PERFTEST_VERSION_BYTES  a number as text, padded with zeros
 *     buffer        4  bytes of the cycle buffer, big-endian
 *     line          4  bytes of a cache line, big-endian
 *     MTU           2  one digit (enum ibv_mtu) and a zero
 *     ends          PERFTEST_END_BYTES each: a QP of the sender
 *     report        5 x 8  results, one exchange each
 *
 * Invariant (tested, fuzzed): a parser reads at most its stated number of bytes, and what it
 * accepts is written back to the same message.
 */
#ifndef QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_WIRE_H
#define QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field/field.h"

#define PERFTEST_VERSION_BYTES 16
#define PERFTEST_MTU_BYTES 2
#define PERFTEST_END_BYTES 108
#define PERFTEST_NUMBERS 5
#define PERFTEST_NUMBER_BYTES 8
/* The last message of both sides, with its zero. */
#define PERFTEST_DONE "done"

/* Versions that speak this exchange: those of perftest 4.5. */
#define PERFTEST_OUR_VERSION "6.06"
#define PERFTEST_FIRST_VERSION 598u /* 5.98 */
#define PERFTEST_LAST_VERSION 610u  /* 6.10 */

/* One QP. */
struct perftest_end {
	uint32_t lid;      /* 0 on Ethernet; 16 bits */
	uint32_t rd_depth; /* READs that it answers at a time; 16 bits */
	uint32_t qpn;      /* 24 bits */
	uint32_t psn;      /* first PSN that it sends; 24 bits */
	uint32_t rkey;
	uint64_t addr; /* of its memory */
	uint32_t srqn;
	struct field_ip ip; /* of its GID: IPv4 if that is IPv4-mapped */
};

/* Results of one side. */
struct perftest_report {
	uint64_t bytes;       /* of a message */
	uint64_t iterations;  /* messages of all QPs */
	double peak, average; /* MiB/s, or Gb/s if both sides agreed on that */
	double mmps;          /* million messages per second */
};

/** @return hundredths (606 for "6.06"), or 0: malformed. */
uint32_t perftest_version(const uint8_t text[PERFTEST_VERSION_BYTES]);

/** @param mtu_bytes  256, 512, 1024, 2048 or 4096. */
void perftest_put_mtu(uint16_t mtu_bytes, uint8_t text[PERFTEST_MTU_BYTES]);
/** @return the MTU in bytes, or 0: malformed. */
uint16_t perftest_mtu(const uint8_t text[PERFTEST_MTU_BYTES]);

void perftest_put_end(const struct perftest_end *end, uint8_t text[PERFTEST_END_BYTES]);
/** @return false: malformed, and *end is undefined. */
bool perftest_get_end(const uint8_t text[PERFTEST_END_BYTES], struct perftest_end *end);

/** Number i < PERFTEST_NUMBERS of a report, in the order of the exchange. */
void perftest_put_number(const struct perftest_report *report, unsigned int i,
			 uint8_t bytes[PERFTEST_NUMBER_BYTES]);
void perftest_get_number(const uint8_t bytes[PERFTEST_NUMBER_BYTES], unsigned int i,
			 struct perftest_report *report);

void perftest_put_u32(uint32_t value, uint8_t bytes[4]);

#endif
