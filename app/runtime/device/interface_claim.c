/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/interface_claim.h"

#include <errno.h>
#include <net/if.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "runtime/device/device_args.h"
#include "runtime/notice/listener.h"
#include "runtime/notice/say.h"

/* The user of the services in share/systemd. */
#define SERVICE_USER "quench"

/*
 * Any local user can bind the name of a claim. Only root, this program's user and the user of the
 * services are believed to use the interface.
 */
static bool
is_trusted(uid_t uid)
{
	const struct passwd *service = getpwnam(SERVICE_USER);

	return uid == 0 || uid == geteuid() || (service != NULL && uid == service->pw_uid);
}

/* @return -EBUSY after an error line, or 0 after a warning: the holder is not believed. */
static int
judge(const char *name, const struct listener *holder)
{
	if (!is_trusted(holder->uid)) {
		say_warning(
			"interface %s is claimed by %s (pid %d) of user %u, who is not believed to "
			"use it: expected root, the user of this program, or " SERVICE_USER
			"; it is used without a claim",
			name, holder->program, holder->pid, holder->uid);
		return 0;
	}
	say_error("interface %s is in use by %s (pid %d): expected an interface of this program "
		  "alone",
		  name, holder->program, holder->pid);
	return -EBUSY;
}

static int
claim(const char *name)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	/* The name begins after a zero, and ends with the length. */
	int n = snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "quench/interface/%s", name);
	socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct listener other;
	bool taken;

	/* The descriptor stays open for the life of the process. */
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&addr, bytes) == 0 && listen(fd, 1) == 0)
		return 0;
	/* It may have ended since. */
	taken = errno == EADDRINUSE && listener_find(&addr, bytes, &other) && other.pid != getpid();
	if (fd >= 0)
		close(fd);
	return taken ? judge(name, &other) : 0;
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
