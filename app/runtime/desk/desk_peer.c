/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/desk/desk_peer.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Groups of a user that are looked at; Linux allows NGROUPS_MAX = 65536. */
#define MOST_GROUPS 65536u
#define USER_CHARS 32
#define PASSWD_BYTES 4096

bool
desk_groups_given(const struct desk_groups *groups)
{
	return groups->read != DESK_NO_GROUP || groups->change != DESK_NO_GROUP;
}

static enum desk_access
access_of_group(gid_t group, const struct desk_groups *groups)
{
	if (group == groups->change)
		return DESK_CHANGE;
	return group == groups->read ? DESK_READ : DESK_NOTHING;
}

/* By the groups that the client's process had when it connected. */
static enum desk_access
access_of(int fd, gid_t primary, const struct desk_groups *groups)
{
	enum desk_access most = access_of_group(primary, groups), one;
	socklen_t bytes = MOST_GROUPS * sizeof(gid_t);
	gid_t *list = malloc(bytes);

	if (list == NULL || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, list, &bytes) != 0)
		bytes = 0;
	for (size_t i = 0; i < bytes / sizeof(gid_t); i++) {
		one = access_of_group(list[i], groups);
		most = one > most ? one : most;
	}
	free(list);
	return most;
}

struct desk_peer
desk_peer_of(int fd, const struct desk_groups *groups)
{
	struct ucred c;
	socklen_t bytes = sizeof(c);
	struct desk_peer peer = {0};

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &bytes) != 0)
		return peer;
	peer.pid = c.pid;
	peer.uid = c.uid;
	if (!desk_groups_given(groups) || c.uid == 0 || c.uid == geteuid())
		peer.access = DESK_OWN;
	else
		peer.access = access_of(fd, c.gid, groups);
	return peer;
}

const char *
desk_peer_text(pid_t pid, uid_t uid, char text[DESK_PEER_CHARS])
{
	char room[PASSWD_BYTES], by[USER_CHARS + 5] = "";
	struct passwd user, *found = NULL;

	if (getpwuid_r(uid, &user, room, sizeof(room), &found) == 0 && found != NULL)
		snprintf(by, sizeof(by), "by=%.*s ", USER_CHARS - 1, user.pw_name);
	snprintf(text, DESK_PEER_CHARS, "%suid=%u pid=%d", by, uid, pid);
	return text;
}
