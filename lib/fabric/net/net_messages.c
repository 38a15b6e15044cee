/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that the hosts have recorded, in one order whatever the number of threads. */
#include "fabric/net/net_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"

int
net_record_messages(struct net *net)
{
	for (uint32_t h = 0; h < net->scenario->topology->n_hosts; h++)
		if (net_has_host(net, h + 1) && nic_record_messages(net->hosts[h]) < 0)
			return -ENOMEM;
	return 0;
}

bool
net_record_not_ended(struct net *net, uint64_t now_ns)
{
	uint64_t qps = 0;
	bool all = true;

	/* Equal shares for the QPs whose backlog may grow. A QP of a message has no further one.
	 * Shared messages wait for each other in a pair of hosts only when it has too many. */
	for (uint32_t i = 0; i < net->n_flows; i++) {
		const struct flow_params *params = net->flows[i].params;

		if (workload_is_open(&params->work) && params->messages_of_pairs == NULL &&
		    !params->shares_qps)
			qps += net->flows[i].qps;
	}
	for (uint32_t h = 0; h < net->scenario->topology->n_hosts; h++)
		if (net_owns_host(net, h + 1))
			all &= nic_record_not_ended(net->hosts[h],
						    NET_MAX_BACKLOG / max_u64(1, qps) + 1, now_ns);
	return net->ranks == NULL ? all : ranks_min(net->ranks, all) > 0;
}

static int
by_end(const void *a, const void *b)
{
	const struct nic_message *x = a, *y = b;
	const uint64_t of_x[] = {x->end_ns, x->flow_id, x->item, x->number};
	const uint64_t of_y[] = {y->end_ns, y->flow_id, y->item, y->number};

	for (unsigned int i = 0; i < 4; i++)
		if (of_x[i] != of_y[i])
			return of_x[i] < of_y[i] ? -1 : 1;
	return 0;
}

/* Append messages, of which there are n already. @return the new number, or -ENOMEM. */
static int64_t
append(struct net *net, const void *messages, int64_t more, uint32_t n)
{
	if (more <= 0)
		return more < 0 ? more : n;
	if (n + more > net->messages_size) {
		uint32_t size = 2 * (uint32_t)(n + more);
		struct nic_message *all = realloc(net->messages, size * sizeof(*all));

		if (all == NULL)
			return -ENOMEM;
		net->messages = all;
		net->messages_size = size;
	}
	memcpy(net->messages + n, messages, (size_t)more * sizeof(*net->messages));
	return n + more;
}

static int64_t
append_host(struct net *net, struct node *host, uint32_t n)
{
	const struct nic_message *messages;
	int64_t more = nic_recorded_messages(host, &messages);
	int64_t sum = append(net, messages, more, n);

	if (sum > n)
		nic_clear_messages(host);
	return sum;
}

/* The messages of all ranks come to rank 0. @return their number; at other ranks 0; -ENOMEM. */
static int64_t
append_ranks(struct net *net, int64_t n)
{
	struct ranks *ranks = net->ranks;
	bool failed = n < 0;

	ranks_begin(ranks);
	if (ranks->self != 0 && n > 0)
		rank_bytes_add(&ranks->out[0], net->messages, (size_t)n * sizeof(*net->messages));
	failed |= ranks_to_first(ranks) < 0;
	for (uint32_t q = 1; !failed && ranks->self == 0 && q < ranks->n; q++) {
		n = append(net, ranks->in[q].at, (int64_t)(ranks->in[q].n / sizeof(*net->messages)),
			   (uint32_t)n);
		failed = n < 0;
	}
	if (ranks_sum(ranks, failed) > 0)
		return -ENOMEM;
	return ranks->self == 0 ? n : 0;
}

int64_t
net_recorded_messages(struct net *net, const struct nic_message **messages)
{
	int64_t n = 0;

	for (uint32_t h = 0; n >= 0 && h < net->scenario->topology->n_hosts; h++)
		if (net_owns_host(net, h + 1))
			n = append_host(net, net->hosts[h], (uint32_t)n);
	if (net->ranks != NULL)
		n = append_ranks(net, n);
	if (n > 1)
		qsort(net->messages, (size_t)n, sizeof(net->messages[0]), by_end);
	*messages = net->messages;
	return n;
}
