/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry sockets of running DPDK programs, where EAL puts them. A program whose --file-prefix is
 * taken by another gets "dpdk_telemetry.v2:1", and so on.
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
 * Find those on which somebody listens, in order. To see that takes one of a program's ten places
 * for a moment.
 *
 * @param prefix  Of one --file-prefix, or of one program of several, NAME:0; NULL: of all.
 * @param found   sockets_free() in any case.
 */
void sockets_find(const char *prefix, struct sockets *found);
void sockets_free(struct sockets *found);

/** The same, but one that is alone is taken untried: what is wrong with it shows when it is
 * used. */
void sockets_find_one(const char *prefix, struct sockets *found);

/** Where the first program with a prefix has its socket. */
void socket_path(const char *prefix, char *path, size_t size);

/** What to call the program with this socket: NAME, or NAME:1 for the second one. */
void socket_name(const char *path, char *name, size_t size);

#endif
