/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a pcapng file (IETF draft-ietf-opsawg-pcapng): a section header, one interface with a name
 * and a resolution of 1 ns, and a block for each frame with its direction.
 *
 * This is our own code, because libpcap does not write pcapng, and rte_pcapng needs the name and
 * the clock of an ethdev port, which a port in virtual time does not have.
 */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_PCAPNG_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Write the headers. name: of the interface. Errors stay in out (ferror()). */
void pcapng_begin(FILE *out, const char *name);

struct pcapng_frame {
	const uint8_t *bytes;
	uint32_t n_bytes;     /* captured bytes */
	uint32_t frame_bytes; /* original length, without FCS */
	uint64_t at_ns;
	bool sent; /* by the port; else received */
};

void pcapng_write(FILE *out, const struct pcapng_frame *frame);

#endif
