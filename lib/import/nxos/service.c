// SPDX-License-Identifier: BSD-3-Clause
/* The policies activated by system qos and by interfaces. */
#include <errno.h>
#include <string.h>

#include "import/nxos/parts.h"

/* Find the policy-map's line; -1: predefined by NX-OS. @return 0, or -EINVAL after a refusal. */
static int
find_policy(struct nxos *x, int line, const char *type, const char *name, int *policy)
{
	struct nx_args a;

	*policy = -1;
	for (int i = 0; i < x->nx.n; i++) {
		const struct nx_line *l = &x->nx.lines[i];
		bool plain = strcmp(type, "qos") == 0 && nx_is(l, "policy-map %", &a);

		if (l->parent != NX_TOP ||
		    (!plain &&
		     (!nx_is(l, "policy-map type % %", &a) || strcasecmp(a.word[0], type) != 0)) ||
		    strcmp(a.word[a.n - 1], name) != 0)
			continue;
		*policy = i;
		return 0;
	}
	if (strncasecmp(name, "default-", 8) != 0)
		return nx_refuse(&x->nx, line, "a policy-map of this type and name");
	nx_lose(&x->nx, line, "predefined policy of NX-OS, which is not in the file");
	return 0;
}

/*
 * Bind the policy that a line activates. If an earlier line bound another one, that one stays, and
 * this line is not carried over.
 */
static int
bind(struct nxos *x, int line, const char *type, const char *name, int *bound)
{
	int policy, rc;

	nx_use(&x->nx, line);
	rc = find_policy(x, line, type, name, &policy);
	if (rc != 0 || policy < 0)
		return rc;
	if (*bound >= 0 && *bound != policy) {
		nx_lose(&x->nx, line,
			"another policy of this type applies already; all ports share one");
		return 0;
	}
	*bound = policy;
	nx_use(&x->nx, policy);
	return 0;
}

int
nxos_service(struct nxos *x, int line)
{
	const struct nx_line *l = &x->nx.lines[line];
	struct nx_args a;

	if (nx_is(l, "service-policy type network-qos %", &a))
		return bind(x, line, "network-qos", a.word[0], &x->network_policy);
	if (nx_is(l, "service-policy type queuing output %", &a))
		return bind(x, line, "queuing", a.word[0], &x->queuing_policy);
	if (nx_is(l, "service-policy type qos input %", &a) ||
	    nx_is(l, "service-policy input %", &a))
		return bind(x, line, "qos", a.word[0], &x->qos_policy);
	if (nx_is(l, "service-policy ...", &a))
		nx_lose(&x->nx, line, "expected a policy for input (qos) or output (queuing)");
	return 0;
}
