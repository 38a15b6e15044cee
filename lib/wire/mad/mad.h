/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Management datagrams (IBTA volume 1, 13.4): the header that all have in common. On RoCEv2 a MAD
 * is the payload of a UD SEND from QP 1 to QP 1 (the general services interface).
 */
#ifndef QUENCH_WIRE_MAD_MAD_H
#define QUENCH_WIRE_MAD_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAD_BYTES 256u
#define MAD_HDR_BYTES 24u
/* QP of the general services interface, and the Q_Key of its datagrams (IBTA 3.5.3 and 10.2.5). */
#define GSI_QPN 1u
#define GSI_QKEY 0x80010000u

#define MAD_BASE_VERSION 1u
#define MAD_METHOD_SEND 3u

struct mad {
	uint8_t class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;
	uint64_t transaction_id;
	uint16_t attribute; /* attribute ID */
};

/** @return false: too short, or another base version. */
bool mad_parse(const uint8_t *buf, size_t len, struct mad *out);

/** Write a whole MAD of MAD_BYTES: the header, and zeros after it. */
void mad_build(uint8_t *buf, const struct mad *mad);

#endif
