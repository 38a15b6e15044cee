/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that listens on a Unix socket, for messages about what it holds. */
#ifndef QUENCH_APP_RUNTIME_NOTICE_LISTENER_H
#define QUENCH_APP_RUNTIME_NOTICE_LISTENER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

struct listener {
	pid_t pid;
	uid_t uid;
	char program[16]; /* as in /proc/PID/comm */
};

/** @param bytes  length of addr. @return false: nobody listens there. */
bool listener_find(const struct sockaddr_un *addr, socklen_t bytes, struct listener *out);

#endif
