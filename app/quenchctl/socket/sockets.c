/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/socket/sockets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_NAME "dpdk_telemetry.v2"
/* XDG_RUNTIME_DIR in our systemd units. */
#define SERVICE_DIR "/run/quench"

/* As EAL's eal_create_runtime_dir(). */
static const char *
runtime_dir(void)
{
	const char *given = getenv("RUNTIME_DIRECTORY"), *xdg = getenv("XDG_RUNTIME_DIR");

	if (given != NULL)
		return given;
	if (getuid() == 0)
		return "/var/run";
	return xdg != NULL ? xdg : "/tmp";
}

void
socket_path(const char *prefix, char *path, size_t size)
{
	snprintf(path, size, "%s/dpdk/%s/" SOCKET_NAME, runtime_dir(), prefix);
}

void
socket_name(const char *path, char *name, size_t size)
{
	const char *end = strrchr(path, '/'), *start = end;
	const char *number;

	if (end == NULL) {
		snprintf(name, size, "%s", path);
		return;
	}
	while (start > path && start[-1] != '/')
		start--;
	number = strrchr(end, ':');
	snprintf(name, size, "%.*s%s", (int)(end - start), start, number != NULL ? number : "");
}

/* Does a program listen? */
static bool
is_alive(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	bool alive;
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		return false;
	memcpy(addr.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A program that hangs listens, too: connect() gives EAGAIN once its queue is full. */
	alive = fd >= 0 &&
		(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 || errno == EAGAIN);
	if (fd >= 0)
		close(fd);
	return alive;
}

/* NAME:0 and so on select one of the programs that share NAME. @return the length of NAME. */
static size_t
split(const char *prefix, const char **number)
{
	const char *colon = strrchr(prefix, ':');

	*number = NULL;
	if (colon == NULL || colon[1] == '\0' || colon[strspn(colon + 1, "0123456789") + 1] != '\0')
		return strlen(prefix);
	*number = colon + 1;
	return (size_t)(colon - prefix);
}

/* Append a name to a pattern, with its wildcards escaped. */
static void
add_plain(char *pattern, size_t size, const char *name, size_t n)
{
	size_t used = strlen(pattern);

	for (size_t i = 0; i < n && used + 3 < size; i++) {
		if (strchr("*?[\\", name[i]) != NULL)
			pattern[used++] = '\\';
		pattern[used++] = name[i];
	}
	pattern[used] = '\0';
}

static void
find_in(const char *dir, int flags, const char *prefix, struct sockets *found)
{
	const char *number = NULL;
	char pattern[512];
	size_t used;

	snprintf(pattern, sizeof(pattern), "%s/dpdk/", dir);
	if (prefix == NULL)
		strcat(pattern, "*");
	else
		add_plain(pattern, sizeof(pattern) - sizeof(SOCKET_NAME) - 16, prefix,
			  split(prefix, &number));
	used = strlen(pattern);
	if (number == NULL)
		snprintf(pattern + used, sizeof(pattern) - used, "/" SOCKET_NAME "*");
	else if (strcmp(number, "0") == 0)
		snprintf(pattern + used, sizeof(pattern) - used, "/" SOCKET_NAME);
	else
		snprintf(pattern + used, sizeof(pattern) - used, "/" SOCKET_NAME ":%s", number);
	(void)glob(pattern, flags, NULL, &found->all);
}

static void
find(const char *prefix, struct sockets *found)
{
	*found = (struct sockets){0};
	find_in(runtime_dir(), 0, prefix, found);
	/* Whoever names a folder means no other. */
	if (getenv("RUNTIME_DIRECTORY") == NULL && strcmp(runtime_dir(), SERVICE_DIR) != 0)
		find_in(SERVICE_DIR, GLOB_APPEND, prefix, found);
	found->path = found->all.gl_pathv;
	found->n = found->all.gl_pathc;
}

static void
leave_out_dead(struct sockets *found)
{
	size_t n = found->n;

	found->n = 0;
	for (size_t i = 0; i < n; i++) {
		char *path = found->path[i];

		if (!is_alive(path))
			continue;
		found->path[i] = found->path[found->n];
		found->path[found->n++] = path;
	}
}

void
sockets_find(const char *prefix, struct sockets *found)
{
	find(prefix, found);
	leave_out_dead(found);
}

void
sockets_find_one(const char *prefix, struct sockets *found)
{
	find(prefix, found);
	if (found->n > 1)
		leave_out_dead(found);
}

void
sockets_free(struct sockets *found)
{
	globfree(&found->all);
	*found = (struct sockets){0};
}
