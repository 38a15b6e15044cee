/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a pcapng file (IETF draft-ietf-opsawg-pcapng): a section header, one interface with a
 * resolution of 1 ns, and a block for each frame with its direction.
 *
 * This is our own code, because libpcap does not write pcapng, and rte_pcapng needs the name and
 * the clock of an ethdev port, which a port in virtual time does not have.
 */
#ifndef QUENCH_CTL_OUTPUT_PCAPNG_H
#define QUENCH_CTL_OUTPUT_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pcapng_interface {
	const char *name;
	uint32_t snap_bytes; /* 0: whole frames */
};

/** Write the headers. Errors stay in out (ferror()). */
void pcapng_begin(FILE *out, const struct pcapng_interface *interface);

/* What the port did with a frame. The block of one that was to leave, but was dropped, has no
 * direction. */
enum pcapng_way { PCAPNG_RECEIVED, PCAPNG_SENT, PCAPNG_LOST };

struct pcapng_frame {
	const uint8_t *bytes;
	uint32_t n_bytes;     /* captured bytes */
	uint32_t frame_bytes; /* original length, without FCS */
	uint64_t at_ns;
	uint64_t lost;       /* frames between the previous block and this one */
	const char *comment; /* NULL or "": none */
	enum pcapng_way way;
};

void pcapng_write(FILE *out, const struct pcapng_frame *frame);

/** Bytes of a frame's block. */
uint32_t pcapng_frame_bytes(const struct pcapng_frame *frame);

struct pcapng_statistics {
	uint64_t at_ns;
	uint64_t written, lost; /* frames; lost: all, those of the frames' blocks included */
};

/** Write the interface's statistics: the last block. */
void pcapng_end(FILE *out, const struct pcapng_statistics *statistics);

/* Bytes of that block. */
#define PCAPNG_END_BYTES 64u

#endif
