/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/port_start.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "runtime/device/device_args.h"
#include "runtime/device/port_device.h"
#include "runtime/device/port_stop.h"
#include "runtime/notice/say.h"

/*
 * Length of the first wait for a memif server, which doubles with each wait. A server starts its
 * devices a second or two after its own start.
 */
#define FIRST_WAIT_MS 100u
/* After this time in total, only one last wait of FIRST_WAIT_MS follows. */
#define LAST_WAIT_BEGINS_MS 10000u

static bool
is_local(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
	       address.ss_family == AF_UNIX;
}

/*
 * This function replaces libc's sendmsg(), for DPDK too. If a client leaves before its server
 * accepts it, the server's HELLO fails with EPIPE, and net_memif (22.11 to 26.07) closes the
 * connection without removing it from EAL's interrupt sources. The next client gets the same
 * descriptor, which then has two callbacks: the second waits forever in recvmsg() on EAL's
 * interrupt thread, or EAL panics because the descriptor is closed. A HELLO that is lost without an
 * error does no harm: net_memif then reads the end of the connection and closes it properly.
 */
ssize_t
sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t n = syscall(SYS_sendmsg, fd, msg, flags);

	if (n >= 0 || errno != EPIPE || !is_local(fd))
		return n;
	n = 0;
	for (size_t i = 0; i < msg->msg_iovlen; i++)
		n += (ssize_t)msg->msg_iov[i].iov_len;
	return n;
}

bool
port_is_memif_client(const char *driver, const char *args)
{
	const char *role = args == NULL ? NULL : strstr(args, "role=");

	if (strcmp(driver, "net_memif") != 0)
		return false;
	/* master is the former name of server. */
	return role == NULL ||
	       (strncmp(role, "role=server", 11) != 0 && strncmp(role, "role=master", 11) != 0);
}

static bool
is_memif_client(uint16_t ethdev)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(ethdev, &info) != 0)
		return false;
	return port_is_memif_client(info.driver_name, device_args(&info));
}

/* Does the link come up within wait_ms? */
static bool
comes_up(uint16_t ethdev, unsigned int wait_ms)
{
	struct rte_eth_link link;

	for (unsigned int ms = 0; ms < wait_ms; ms++) {
		if (rte_eth_link_get_nowait(ethdev, &link) == 0 &&
		    link.link_status == RTE_ETH_LINK_UP)
			return true;
		rte_delay_us_sleep(1000);
	}
	return false;
}

/* A net_memif client (22.11) that finds no listening server returns -1, which reads as EPERM. */
static int
start_device(uint16_t ethdev, bool client)
{
	int rc = rte_eth_dev_start(ethdev);

	return client && rc == -1 ? -ECONNREFUSED : rc;
}

int
port_start(uint16_t ethdev)
{
	bool client = is_memif_client(ethdev);
	unsigned int wait_ms = FIRST_WAIT_MS, waited_ms = 0;
	int rc = start_device(ethdev, client);

	/* Wait longer each time, because the handshake itself takes time on a loaded machine. */
	while ((rc == 0 || rc == -ECONNREFUSED) && client && waited_ms < LAST_WAIT_BEGINS_MS) {
		if (comes_up(ethdev, wait_ms))
			return 0;
		if (waited_ms == 0)
			say("%s: the server does not answer yet", port_name(ethdev));
		waited_ms += wait_ms;
		wait_ms *= 2;
		if (rc == 0)
			rc = port_stop(ethdev);
		if (rc == 0 || rc == -ECONNREFUSED)
			rc = start_device(ethdev, client);
	}
	if (rc == 0 && client && !comes_up(ethdev, FIRST_WAIT_MS))
		say_warning("%s: the server does not answer: start this program after it",
			    port_name(ethdev));
	return rc;
}
