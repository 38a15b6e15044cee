/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures of the frames of ports, each for a client: the polling lcores copy frames into rings,
 * and a thread writes them to the client as pcapng (ctl/output/pcapng.h), with times since 1970.
 *
 * The client connects to a socket in the program's runtime folder. It ends the capture by closing
 * its side for writing; then the thread writes the frames in the rings and the statistics, and
 * closes. A capture ends in the same way at its limits and at the end of the program. A client that
 * is gone ends it at once, and one that reads slowly loses frames.
 *
 * Invariant: frames that passed the filter before the end = frames written + frames lost.
 */
#ifndef QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_H
#define QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_H

#include <stdint.h>
#include <rte_config.h>

#include "runtime/capture/capture_params.h"
#include "runtime/capture/capture_tap.h"
#include "runtime/eal/tsc_clock.h"

#define CAPTURE_PORTS 64
/* Most taps of a port: one for each polling lcore. */
#define CAPTURE_TAPS RTE_MAX_LCORE

struct capture_order {
	uint16_t port;
	const char *name; /* of the interface */
	const struct capture_params *params;
	const struct tsc_clock *clock; /* of the taps' times */
	uint16_t n_taps;
	struct capture_tap *taps[CAPTURE_TAPS]; /* of each polling lcore */
};

/* Room for the name of a socket. */
#define CAPTURE_SOCKET_CHARS 24

/** Accept captures from now on. */
void captures_open(void);
/** End all captures, and accept no more. The taps are not used any more. */
void captures_close(void);

/**
 * Begin to wait for a client.
 *
 * @param socket  Receives the socket's name in the runtime folder.
 * @return        0, or -EBUSY (the port has a capture), -ESHUTDOWN, -ENOMEM, another -errno.
 */
int capture_start(const struct capture_order *order, char socket[CAPTURE_SOCKET_CHARS]);

#endif
