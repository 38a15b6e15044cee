/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a net share. Nothing outside lib/fabric includes it. */
#ifndef QUENCH_FABRIC_NET_STATE_H
#define QUENCH_FABRIC_NET_STATE_H

#include "fabric/net/net.h"

struct rte_mempool;

/* First QPN of every host: small numbers are reserved (0 and 1 are management QPs in
 * InfiniBand). */
#define FIRST_QPN 0x100

struct net {
	const struct scenario *scenario;
	struct fabric *fabric;
	struct node **switches, **hosts;
	struct net_flow *flows;
	uint32_t n_flows;
	struct rte_mempool *data, *control, *frames, *clones;
	struct nic_payloads *payloads;
	uint8_t *down; /* by link, what routes avoid; NULL: they never changed */
};

/** All routers have new routes, over the links that are not down. @return 0, -ENOSPC, -ENOMEM. */
int net_reroute(struct net *net, const uint8_t *down);

/** What another scenario, of the same nodes and flows, says of those that the change is for comes
 * into force. @return 0, or -ENOMEM. */
int net_change(struct net *net, const struct scenario_change *change, uint64_t now_ns);

/** The params of a host, but for its number of QPs. */
struct nic_params net_host_params(const struct scenario *s, uint16_t host);

/** What [receiver] says of a host; 0: it is not slow. */
uint64_t net_drain_rate(const struct scenario *s, uint16_t host);

/** Add the QPs of all flows, in the order of the file. @return 0, or -1 with why. */
int net_create_flows(struct net *net, char *why, unsigned int why_size);

#endif
