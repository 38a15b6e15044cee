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

#include "runtime/desk/desk_peer.h"

#define DESK_SOCKET_NAME "quench.sock"
#define DESK_REQUEST_BYTES (1u << 20)
#define DESK_CLIENTS 64u
#define DESK_PATIENCE_MS 10000u

/* Codes of errors: those of JSON-RPC 2.0 (section 5.1), and from -32000 on ours. */
enum desk_error {
	DESK_NO_JSON = -32700,
	DESK_NO_REQUEST = -32600,
	DESK_NO_METHOD = -32601,
	DESK_BAD_PARAMS = -32602,
	DESK_NO_MEMORY = -32603,
	DESK_REFUSED = -32000, /* by the program's state; the line says why */
	DESK_NO_ANSWER =
		-32001,         /* the main lcore did not respond, or the program is about to end */
	DESK_TOO_MANY = -32002, /* clients */
	DESK_FORBIDDEN = -32003, /* to this user */
};

struct desk_socket;

/* @return as desk_answer(). */
typedef char *desk_answer_fn(const void *arg, const struct desk_peer *peer, const char *text,
			     size_t n);

/**
 * Listen, and answer lines by answer(arg, ...) on a thread of its own. A user who may do nothing is
 * refused. With groups, the socket's mode and those of its two folders let every user reach it.
 *
 * @param dir     Folder of the socket; it exists.
 * @param groups  Copied.
 * @return        0 or -errno.
 */
int desk_socket_open(struct desk_socket **s, const char *dir, const struct desk_groups *groups,
		     desk_answer_fn *answer, const void *arg);

/** Path of the socket. */
const char *desk_socket_path(const struct desk_socket *s);

/**
 * Stop answering, and free; NULL does nothing.
 * @param leave  The program has failed: leave the socket's file, by which others see that.
 */
void desk_socket_close(struct desk_socket *s, bool leave);

#endif
