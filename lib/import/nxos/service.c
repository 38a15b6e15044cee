// SPDX-License-Identifier: BSD-3-Clause
/* The policies of system qos and of the interfaces. */
#include <errno.h>
#include <string.h>

#include "base/numbers/array.h"
#include "import/nxos/parts.h"

/* Find the policy-map's line; -1: predefined by NX-OS. @return 0, or -EINVAL after a refusal. */
static int
find_policy(struct nxos *x, int line, const char *type, const char *name, int *policy)
{
	struct nx_args a;

	*policy = NX_NO_POLICY;
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

/* If an earlier line bound another policy, that one stays, and this line is not carried over. */
static int
bind(struct nxos *x, int line, const char *type, const char *name, struct nx_policy *bound)
{
	int policy, rc;

	nx_use(&x->nx, line);
	rc = find_policy(x, line, type, name, &policy);
	if (rc != 0)
		return rc;
	if (bound->is_set && bound->line != policy) {
		nx_lose(&x->nx, line, "another policy of this type applies already");
		return 0;
	}
	*bound = (struct nx_policy){true, policy};
	if (policy != NX_NO_POLICY)
		nx_use(&x->nx, policy);
	return 0;
}

/* As bind(), for the whole switch. */
static int
bind_network(struct nxos *x, int line, const char *name)
{
	struct nx_policy bound = {x->network_policy != NX_NO_POLICY, x->network_policy};
	int rc = bind(x, line, "network-qos", name, &bound);

	x->network_policy = bound.line;
	return rc;
}

int
nxos_service(struct nxos *x, int line, struct nx_policies *of)
{
	static const struct {
		const char *pattern, *type;
		enum nx_policy_kind kind;
	} lines[] = {
		{"service-policy type queuing output %", "queuing", NX_OUTPUT},
		{"service-policy type queuing input %", "queuing", NX_INPUT},
		{"service-policy type qos input %", "qos", NX_QOS},
		{"service-policy input %", "qos", NX_QOS},
		/* no-stats: without counters */
		{"service-policy type queuing output % no-stats", "queuing", NX_OUTPUT},
		{"service-policy type queuing input % no-stats", "queuing", NX_INPUT},
		{"service-policy type qos input % no-stats", "qos", NX_QOS},
		{"service-policy input % no-stats", "qos", NX_QOS},
	};
	const struct nx_line *l = &x->nx.lines[line];
	struct nx_args a;

	if (nx_is(l, "service-policy type network-qos %", &a))
		return bind_network(x, line, a.word[0]);
	for (unsigned int i = 0; i < ARRAY_LEN(lines); i++)
		if (nx_is(l, lines[i].pattern, &a))
			return bind(x, line, lines[i].type, a.word[0], &of->of[lines[i].kind]);
	if (nx_is(l, "service-policy ...", &a))
		nx_lose(&x->nx, line, "expected a policy for input, or of type queuing for output");
	return 0;
}

int
nxos_policy(const struct nxos *x, uint16_t port, enum nx_policy_kind kind)
{
	const struct nx_policy *own = &x->port[port].of[kind], *shared = &x->system.of[kind];

	if (own->is_set)
		return own->line;
	return shared->is_set ? shared->line : NX_NO_POLICY;
}

uint16_t
nxos_first_with(const struct nxos *x, uint16_t port, enum nx_policy_kind kind)
{
	uint16_t first = 0;

	while (nxos_policy(x, first, kind) != nxos_policy(x, port, kind))
		first++;
	return first;
}

const char *
nxos_policy_name(const struct nxos *x, int policy)
{
	return strrchr(x->nx.lines[policy].text, ' ') + 1;
}
