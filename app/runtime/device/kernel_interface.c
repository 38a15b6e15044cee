/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/kernel_interface.h"

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <rte_ethdev.h>

#include "base/numbers/array.h"
#include "runtime/device/device_args.h"
#include "runtime/device/port_device.h"
#include "runtime/notice/say.h"

bool
kernel_interface_name(uint16_t ethdev, char name[IF_NAMESIZE])
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(ethdev, &info) == 0 &&
	       strcmp(info.driver_name, "net_af_packet") == 0 &&
	       if_indextoname(info.if_index, name) != NULL;
}

/* An ioctl about an interface. @return false: the kernel refuses it. */
static bool
ask(const char *name, unsigned long what, struct ifreq *request)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool known;

	if (fd < 0)
		return false;
	snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", name);
	known = ioctl(fd, what, request) == 0;
	close(fd);
	return known;
}

bool
kernel_interface_running(const char *name, bool *running)
{
	struct ifreq request = {0};

	if (!ask(name, SIOCGIFFLAGS, &request))
		return false;
	*running = request.ifr_flags & IFF_RUNNING;
	return true;
}

uint32_t
kernel_interface_mtu(const char *name)
{
	struct ifreq request = {0};

	return ask(name, SIOCGIFMTU, &request) ? (uint32_t)request.ifr_mtu : 0;
}

uint32_t
kernel_interface_most_bytes(uint16_t ethdev, const char *name)
{
	uint32_t mtu = kernel_interface_mtu(name), slot;
	struct rte_eth_dev_info info;

	if (mtu == 0 || rte_eth_dev_info_get(ethdev, &info) != 0)
		return 0;
	slot = device_whole_frame(device_slots(device_args(&info)).framesz);
	return RTE_MIN(mtu + RTE_ETHER_HDR_LEN, slot);
}

uint32_t
kernel_interface_longest(const char *name, uint32_t largest_frame)
{
	uint32_t mtu = kernel_interface_mtu(name);

	if (mtu == 0)
		return largest_frame;
	return RTE_MIN(mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN, largest_frame);
}

char *
kernel_interface_fit(const char *device, uint32_t largest_frame)
{
	static const char driver[] = "net_af_packet";
	const char *args = strchr(device, ',');
	char name[IF_NAMESIZE], *whole;
	struct device_slots s;
	uint32_t longest;

	if (strncmp(device, driver, strlen(driver)) != 0 || args == NULL ||
	    !device_args_text(args + 1, "iface", name, sizeof(name)) ||
	    device_args_has(args + 1, "framesz") || device_args_has(args + 1, "blocksz"))
		return NULL;
	longest = kernel_interface_longest(name, largest_frame);
	if (longest <= device_whole_frame(device_slots(NULL).framesz))
		return NULL;
	s = device_slots_for(longest);
	return asprintf(&whole, "%s,framesz=%u,blocksz=%u", device, s.framesz, s.blocksz) < 0
		       ? NULL
		       : whole;
}

/* The value of one of ethtool's older commands, which need no privilege; 0: unknown. */
static uint32_t
ethtool_value(const char *name, uint32_t command)
{
	struct ethtool_value value = {.cmd = command};
	struct ifreq request = {.ifr_data = (void *)&value};

	return ask(name, SIOCETHTOOL, &request) ? value.data : 0;
}

static bool
is_veth(const char *name)
{
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq request = {.ifr_data = (void *)&driver};

	return ask(name, SIOCETHTOOL, &request) && strcmp(driver.driver, "veth") == 0;
}

/* @return the index of the interface's other end in this namespace, or 0. */
static unsigned int
find_peer(const struct nlmsghdr *reply, size_t size)
{
	const struct ifinfomsg *info = NLMSG_DATA(reply);
	const struct rtattr *a = IFLA_RTA(info);
	unsigned int peer = 0;
	int left;

	if (!NLMSG_OK(reply, size) || reply->nlmsg_type != RTM_NEWLINK)
		return 0;
	for (left = (int)IFLA_PAYLOAD(reply); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		/* The index is one of another namespace. */
		if (a->rta_type == IFLA_LINK_NETNSID)
			return 0;
		if (a->rta_type == IFLA_LINK)
			memcpy(&peer, RTA_DATA(a), sizeof(peer));
	}
	return peer;
}

static bool
peer_name(const char *name, char peer[IF_NAMESIZE])
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg info;
	} request = {
		.header = {.nlmsg_len = sizeof(request),
			   .nlmsg_type = RTM_GETLINK,
			   .nlmsg_flags = NLM_F_REQUEST},
		.info = {.ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(name)},
	};
	union {
		struct nlmsghdr header;
		char bytes[16384];
	} reply;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request))
		n = recv(fd, &reply, sizeof(reply), 0);
	close(fd);
	return n > 0 && if_indextoname(find_peer(&reply.header, (size_t)n), peer) != NULL;
}

/* Offloads that are on. */
struct offloads {
	bool tx, tso, gso; /* of the interface that sends */
	bool gro, lro;     /* of the interface that receives */
};

#define OFF_CHARS 64

/* Write "tx off tso off" for those that are on. */
static void
list_off(const struct offloads *on, char text[OFF_CHARS])
{
	const struct {
		const char *word;
		bool on;
	} all[] = {{"tx", on->tx},
		   {"tso", on->tso},
		   {"gso", on->gso},
		   {"gro", on->gro},
		   {"lro", on->lro}};
	size_t n = 0;

	*text = '\0';
	for (unsigned int i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].on)
			n += (size_t)sprintf(text + n, "%s%s off", n == 0 ? "" : " ", all[i].word);
}

static void
check_receiver(const char *device, const char *name)
{
	const struct offloads on = {
		.gro = ethtool_value(name, ETHTOOL_GGRO) != 0,
		.lro = (ethtool_value(name, ETHTOOL_GFLAGS) & ETH_FLAG_LRO) != 0,
	};
	char off[OFF_CHARS];

	list_off(&on, off);
	if (*off != '\0')
		say_warning("%s: the kernel merges frames that %s receives: ethtool -K %s %s",
			    device, name, name, off);
}

static void
check_sender(const char *device, const char *name)
{
	char peer[IF_NAMESIZE], off[OFF_CHARS];
	bool here = peer_name(name, peer);
	/* Ends of a pair begin alike, so this end stands for one in another namespace. */
	const char *asked = here ? peer : name;
	const struct offloads on = {
		.tx = ethtool_value(asked, ETHTOOL_GTXCSUM) != 0,
		.tso = ethtool_value(asked, ETHTOOL_GTSO) != 0,
		.gso = ethtool_value(asked, ETHTOOL_GGSO) != 0,
	};

	list_off(&on, off);
	if (*off != '\0')
		say_warning("%s: the other end of %s may send frames without checksums and longer "
			    "than the MTU, so that TCP hangs: ethtool -K %s %s%s",
			    device, name, asked, off,
			    here ? "" : ", and the same at the other end, in its namespace");
}

void
kernel_interface_check(uint16_t ethdev)
{
	char name[IF_NAMESIZE];

	if (!kernel_interface_name(ethdev, name))
		return;
	check_receiver(port_name(ethdev), name);
	if (is_veth(name))
		check_sender(port_name(ethdev), name);
}
