/* SPDX-License-Identifier: BSD-3-Clause */
#include "tm/queue/mark.h"

#define MARK(id, word) extern const struct mark_ops mark_##word;
#include "tm/queue/mark_table.h"
#undef MARK

const char *const mark_words[] = {
	"wred",
#define MARK(id, word) #word,
#include "tm/queue/mark_table.h"
#undef MARK
	NULL,
};

const struct mark_ops *const mark_schemes[MARK_SCHEMES] = {
#define MARK(id, word) [MARK_##id] = &mark_##word,
#include "tm/queue/mark_table.h"
#undef MARK
};

int
mark_params_check(const struct mark_params *params, char *why, unsigned int why_size)
{
	int rc = 0;

	for (unsigned int i = MARK_WRED + 1; rc == 0 && i < MARK_SCHEMES; i++) {
		const struct mark_ops *ops = mark_schemes[i];
		const void *of = &params->of[MARK_SLOT(i)];

		rc = fields_check(ops->fields, *ops->n_fields, of, why, why_size);
		if (rc == 0 && ops->check != NULL)
			rc = ops->check(of, why, why_size);
	}
	return rc;
}

void
mark_set(struct mark_queue *m, enum mark_scheme scheme, const struct mark_params *params,
	 uint64_t rate_bps)
{
	/* Readers of counters ask for it (sw_mark_scheme()). */
	__atomic_store_n(&m->ops, mark_schemes[scheme], __ATOMIC_RELAXED);
	m->rate_bps = rate_bps;
	if (m->ops != NULL)
		m->params = params->of[MARK_SLOT(scheme)];
}
