/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/interface_claim.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "runtime/device/device_args.h"
#include "runtime/notice/say.h"

#define COMM_CHARS 16

/* The program that holds a claim. @return its process, or 0: it has just ended. */
static pid_t
holder(const struct sockaddr_un *addr, socklen_t bytes)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred c = {0};
	socklen_t n = sizeof(c);

	if (fd >= 0 && (connect(fd, (const struct sockaddr *)addr, bytes) != 0 ||
			getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) != 0))
		c.pid = 0;
	if (fd >= 0)
		close(fd);
	return c.pid;
}

static void
read_name(pid_t pid, char name[COMM_CHARS])
{
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (f == NULL || fgets(name, COMM_CHARS, f) == NULL)
		snprintf(name, COMM_CHARS, "a program");
	name[strcspn(name, "\n")] = '\0';
	if (f != NULL)
		fclose(f);
}

static int
claim(const char *name)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	/* The name begins after a zero, and ends with the length. */
	int n = snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "quench/interface/%s", name);
	socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char program[COMM_CHARS];
	pid_t pid;

	/* The descriptor stays open for the life of the process. */
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&addr, bytes) == 0 && listen(fd, 1) == 0)
		return 0;
	pid = errno == EADDRINUSE ? holder(&addr, bytes) : 0;
	if (fd >= 0)
		close(fd);
	if (pid == 0 || pid == getpid())
		return 0;
	read_name(pid, program);
	say_error("interface %s is in use by %s (pid %d): expected an interface of this program "
		  "alone",
		  name, program, pid);
	return -EBUSY;
}

int
interface_claim(const char *device)
{
	static const char *const drivers[] = {"net_af_packet", "net_af_xdp", "net_pcap"};
	static const char *const keys[] = {"iface", "rx_iface", "tx_iface", "rx_iface_in"};
	const char *args = strchr(device, ',');
	char name[IF_NAMESIZE];
	bool is_ours = false;

	for (unsigned int i = 0; i < ARRAY_LEN(drivers); i++)
		is_ours |= strncmp(device, drivers[i], strlen(drivers[i])) == 0;
	for (unsigned int i = 0; is_ours && args != NULL && i < ARRAY_LEN(keys); i++)
		if (device_args_text(args + 1, keys[i], name, sizeof(name)) && claim(name) != 0)
			return -EBUSY;
	return 0;
}
