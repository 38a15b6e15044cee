/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/notice/listener.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
read_program(struct listener *l)
{
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", l->pid);
	f = fopen(path, "re");
	if (f == NULL || fgets(l->program, sizeof(l->program), f) == NULL)
		snprintf(l->program, sizeof(l->program), "a program");
	l->program[strcspn(l->program, "\n")] = '\0';
	if (f != NULL)
		fclose(f);
}

bool
listener_find(const struct sockaddr_un *addr, socklen_t bytes, struct listener *out)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred c;
	socklen_t n = sizeof(c);
	bool found = fd >= 0 && connect(fd, (const struct sockaddr *)addr, bytes) == 0 &&
		     getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) == 0;

	if (found) {
		out->pid = c.pid;
		out->uid = c.uid;
		read_program(out);
	}
	if (fd >= 0)
		close(fd);
	return found;
}
