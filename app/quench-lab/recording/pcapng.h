/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a pcapng file (IETF draft-ietf-opsawg-pcapng): a section header, one interface with a
 * name and a resolution of 1 ns, and a block for each frame with its direction.
 *
 * Of our own, since libpcap writes no pcapng, and rte_pcapng takes the name and the clock of an
 * ethdev port, which a port in virtual time is not.
 */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_PCAPNG_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Write what stands before the frames. name: of the interface. Errors stay in out (ferror()). */
void pcapng_begin(FILE *out, const char *name);

struct pcapng_frame {
	const uint8_t *bytes;
	uint32_t n_bytes; /* that are written, of... */
	uint32_t frame_bytes;
	uint64_t at_ns;
	bool sent; /* by the port; else received */
};

void pcapng_write(FILE *out, const struct pcapng_frame *frame);

#endif
