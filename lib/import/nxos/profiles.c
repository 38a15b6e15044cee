// SPDX-License-Identifier: BSD-3-Clause
/* Buffer profiles, and names of profiles. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "import/nxos/parts.h"

#define MAX_BUFFER (1ull << 40)

void
nxos_profile_name(const struct nxos *x, int policy, const char *suffix,
		  char name[SW_PROFILE_NAME + 1])
{
	const char *of = policy == NX_NO_POLICY ? "nxos" : nxos_policy_name(x, policy);
	int n = snprintf(name, SW_PROFILE_NAME + 1, "%s_%s", of, suffix);

	/* No policy may have a name that one of our own profiles has. */
	if (policy != NX_NO_POLICY &&
	    (n > SW_PROFILE_NAME || !import_profile_name(name) || strncasecmp(of, "nxos", 4) == 0))
		snprintf(name, SW_PROFILE_NAME + 1, "nxos_%u_%s", x->nx.lines[policy].number,
			 suffix);
}

const char *
nxos_add_profile(struct nxos *x, int policy, const char *suffix,
		 const struct buffer_profile *profile)
{
	struct mmu_params *mmu = &x->out->sw.mmu;
	unsigned int n = mmu->n_profiles;

	for (unsigned int i = 0; i < n; i++)
		if (memcmp(&mmu->profiles[i], profile, sizeof(*profile)) == 0)
			return mmu->profile_names[i];
	if (n == MMU_MAX_PROFILES)
		return NULL;
	mmu->profiles[n] = *profile;
	nxos_profile_name(x, policy, suffix, mmu->profile_names[n]);
	mmu->n_profiles++;
	return mmu->profile_names[n];
}

int
nxos_read_pause(struct nxos *x, int line, const struct nx_args *a, struct nx_pause *out)
{
	int rc = nx_number(&x->nx, line, a->word[0], 1, MAX_BUFFER, &out->buffer_bytes);

	if (rc == 0)
		rc = nx_number(&x->nx, line, a->word[1], 1, out->buffer_bytes, &out->pause_bytes);
	if (rc == 0)
		rc = nx_number(&x->nx, line, a->word[2], 0, out->pause_bytes, &out->resume_bytes);
	return rc;
}

struct buffer_profile
nxos_pause_profile(const struct nx_pause *pause)
{
	struct buffer_profile p;

	memset(&p, 0, sizeof(p)); /* profiles are compared as bytes */
	p.static_th_bytes = pause->pause_bytes;
	p.xon_offset_bytes = pause->pause_bytes - pause->resume_bytes;
	p.xoff_bytes = pause->buffer_bytes - pause->pause_bytes;
	return p;
}
