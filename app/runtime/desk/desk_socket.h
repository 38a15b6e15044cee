/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket of a front desk: clients and their lines.
 *
 * The file is quench.sock in EAL's runtime folder, or quench.sock:1 and so on if programs with the
 * same --file-prefix listen already; mode 0660. One request of a client is answered at a time. A
 * client that takes no byte of its replies for DESK_PATIENCE_MS is disconnected, so it holds memory
 * no longer; it never holds an lcore.
 */
#ifndef QUENCH_APP_RUNTIME_DESK_DESK_SOCKET_H
#define QUENCH_APP_RUNTIME_DESK_DESK_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#define DESK_SOCKET_NAME "quench.sock"
#define DESK_REQUEST_BYTES (1u << 20)
#define DESK_CLIENTS 64u
#define DESK_PATIENCE_MS 10000u

struct desk_socket;

/* @return as desk_answer(). */
typedef char *desk_answer_fn(const void *arg, const char *text, size_t n);

/**
 * Listen, and answer lines by answer(arg, ...) on a thread of its own.
 *
 * @param dir  Folder of the socket; it exists.
 * @return     0 or -errno.
 */
int desk_socket_open(struct desk_socket **s, const char *dir, desk_answer_fn *answer,
		     const void *arg);

/** Path of the socket. */
const char *desk_socket_path(const struct desk_socket *s);

/** Stop answering, remove the file, and free; NULL does nothing. */
void desk_socket_close(struct desk_socket *s);

#endif
