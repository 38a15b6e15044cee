/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is at the other end of a client's connection, as the kernel says, and what that user may do.
 *
 * Without groups, whoever the socket's mode lets connect may do all. With groups, any user of this
 * machine can connect: root and the user of the program may do all; members of the group that
 * changes may change and read; members of the group that reads may read.
 */
#ifndef QUENCH_APP_RUNTIME_DESK_DESK_PEER_H
#define QUENCH_APP_RUNTIME_DESK_DESK_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#define DESK_NO_GROUP ((gid_t)-1)
/* "by=quench uid=1001 pid=4321" and its end. */
#define DESK_PEER_CHARS 80

/* Each may do what those before it may. */
enum desk_access {
	DESK_NOTHING,
	DESK_READ,
	DESK_CHANGE, /* the configuration and the state of the program */
	DESK_OWN,    /* also what shows the contents of frames */
};

struct desk_groups {
	gid_t read, change; /* DESK_NO_GROUP: none */
};

struct desk_peer {
	pid_t pid;
	uid_t uid;
	enum desk_access access;
};

/** Do groups decide who may do what? */
bool desk_groups_given(const struct desk_groups *groups);

/** The peer of a connected Unix socket. */
struct desk_peer desk_peer_of(int fd, const struct desk_groups *groups);

/** Write the keys of an event line; by= only if the user has a name. @return text. */
const char *desk_peer_text(pid_t pid, uid_t uid, char text[DESK_PEER_CHARS]);

#endif
