/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry sockets of running DPDK programs, in EAL's folders. A program whose --file-prefix is
 * already in use gets "dpdk_telemetry.v2:1", and so on.
 */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_SOCKETS_H
#define QUENCH_APP_QUENCHCTL_SOCKET_SOCKETS_H

#include <glob.h>
#include <stddef.h>

struct sockets {
	char **path;
	size_t n;
	glob_t all;
};

/**
 * Find the sockets on which a program listens, in order. The test takes one of a program's ten
 * connections for a moment.
 *
 * @param prefix  A --file-prefix, or NAME:0 for one of several programs; NULL: all.
 * @param found   Call sockets_free() in any case.
 */
void sockets_find(const char *prefix, struct sockets *found);
void sockets_free(struct sockets *found);

/**
 * As sockets_find(), but a single socket is not tested: if there is a fault, its use will show it.
 */
void sockets_find_one(const char *prefix, struct sockets *found);

/** Path of the socket of the first program with a prefix. */
void socket_path(const char *prefix, char *path, size_t size);

/** Name of the program with this socket: NAME, or NAME:1 for the second one. */
void socket_name(const char *path, char *name, size_t size);

#endif
