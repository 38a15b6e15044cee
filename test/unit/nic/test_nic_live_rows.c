/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that the tables call live are in force after a reload, as in a NIC that starts with them. */
#include "unit/nic/nic_test.h"

#include <inttypes.h>
#include <string.h>

#include "nic/core/core.h"
#include "nic/observe/flow_info.h"

static struct nic_reload next;

static struct {
	bool lose; /* all data of host 0 */
	unsigned int n_data, n_rnr;
	uint8_t rnr_code;
} script;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)n;
	if (from == 1 && v->opcode == RC_ACK && v->aeth_syndrome >> 5 == 1) {
		script.n_rnr++;
		script.rnr_code = v->aeth_syndrome & 0x1f;
	}
	script.n_data += from == 0;
	return from == 0 && script.lose ? FATE_LOSE : FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, watch, &script, sizeof(script));
	pair.params[0].local_ack_timeout = 3;
	return 0;
}

static void
reload(unsigned int host, const struct nic_params *params)
{
	struct node *nic = pair.nic[host];

	next = (struct nic_reload){.params = *params};
	nic_reload(nic, &next);
	while (!nic_reload_is_done(nic))
		nic->ops->rx(nic, 0, NULL, 0, pair.now_ns);
}

/* Set the row to a higher or lower value. @return false: there is none. */
static bool
change_row(const struct field *f, bool up, void *object)
{
	char before[FIELD_TEXT_SIZE], after[FIELD_TEXT_SIZE], text[32];
	uint64_t least = (uint64_t)f->min;
	uint64_t now = f->type == FIELD_ENUM || f->type == FIELD_BOOL ? 0 : field_number(f, object);

	field_format(f, object, before, sizeof(before));
	if (f->type == FIELD_BOOL)
		snprintf(text, sizeof(text), "%s", strcmp(before, "on") == 0 ? "off" : "on");
	else if (f->type == FIELD_ENUM)
		snprintf(text, sizeof(text), "%s",
			 f->choices[strcmp(before, f->choices[0]) == 0 ? 1 : 0]);
	else if (up)
		snprintf(text, sizeof(text), "%" PRIu64, now < f->max / 2 ? 2 * now + 1 : f->max);
	else
		snprintf(text, sizeof(text), "%" PRIu64, now / 2 > least ? now / 2 : least);
	assert_int_equal(field_parse(f, NULL, text, object, NULL, 0), 0);
	field_format(f, object, after, sizeof(after));
	return strcmp(before, after) != 0;
}

/* All that a NIC keeps of its parameters. */
static void
assert_same_params(const struct node *got, const struct node *fresh, const char *name)
{
	const struct nic *a = nic_of_const(got), *b = nic_of_const(fresh);

	if (memcmp(&a->params, &b->params, sizeof(a->params)) != 0 ||
	    a->qp_burst_nanobits != b->qp_burst_nanobits)
		fail_msg("%s is not in force after a reload as it is from the start", name);
}

/* @return whether the row has such a value that no rule forbids. */
static bool
try_row(const struct field_section *s, const struct field *f, bool up)
{
	static struct pair fresh;
	struct nic_params params = pair.params[0];
	char why[256];

	if (!change_row(f, up, (char *)&params + s->offset) ||
	    nic_params_check(&params, why, sizeof(why)) != 0)
		return false;
	pair_init(&fresh);
	fresh.params[0] = params;
	pair_create(&fresh, 64);
	reload(0, &params);
	assert_same_params(pair.nic[0], fresh.nic[0], f->name);
	pair_destroy(&fresh);
	reload(0, &pair.params[0]);
	return true;
}

TEST(every_live_row_is_in_force_as_in_a_new_nic)
{
	struct nic_params before;
	unsigned int n = 0;

	pair.params[0].cc_params.of[CC_SLOT(CC_DCQCN)].rp.rp_max_rate_bps = 30 * GBPS;
	pair.params[0].initial_rate_bps = 10 * GBPS;
	pair_create(&pair, 64);
	before = nic_of(pair.nic[0])->params;
	for (unsigned int k = 0; k < nic_live_sections_n; k++) {
		const struct field_section *s = &nic_sections[k];

		for (unsigned int i = 0; i < *s->n; i++) {
			const struct field *f = &s->fields[i];
			bool up, down;

			if (!f->live)
				continue;
			up = try_row(s, f, true);
			down = try_row(s, f, false);
			if (!up && !down)
				fail_msg("[%s] %s: no other value is possible", s->name, f->name);
			n++;
			assert_memory_equal(&nic_of(pair.nic[0])->params, &before, sizeof(before));
		}
	}
	assert_true(n > 40);
	pair_destroy(&pair);
}

TEST(retries_follow_a_reload)
{
	for (unsigned int up = 0; up < 2; up++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct nic_params params;

		setup(NULL);
		qp.messages = 1;
		script.lose = true;
		pair.params[0].retry_cnt = up ? 2 : 5;
		pair_create(&pair, 64);
		params = pair.params[0];
		params.retry_cnt = up ? 5 : 2;
		pair_connect(&pair, &qp);
		/* The first of the timeouts is past. */
		pair_run(&pair, 50 * NS_PER_US);
		reload(0, &params);
		pair_run(&pair, NEVER_NS);
		assert_int_equal(nic_stats(pair.nic[0])->local_ack_timeout_err,
				 params.retry_cnt + 1u);
		pair_destroy(&pair);
	}
}

TEST(rnr_retries_and_their_time_follow_a_reload)
{
	for (unsigned int up = 0; up < 2; up++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct nic_params params;

		setup(NULL);
		qp.verb = NIC_SEND;
		qp.max_recv_wr = 1;
		qp.post_recv_ns = NS_PER_SEC;
		qp.messages = 2;
		pair.params[0].rnr_retry = up ? 1 : 4;
		pair.params[1].min_rnr_timer = up ? 2 : 5;
		pair_create(&pair, 64);
		params = pair.params[0];
		params.rnr_retry = up ? 4 : 1;
		reload(0, &params);
		params = pair.params[1];
		params.min_rnr_timer = up ? 5 : 2;
		reload(1, &params);
		pair_connect(&pair, &qp);
		pair_run(&pair, NEVER_NS);
		assert_int_equal(script.n_rnr, (up ? 4 : 1) + 1);
		assert_int_equal(script.rnr_code, params.min_rnr_timer);
		pair_destroy(&pair);
	}
}

TEST(icrc_check_follows_a_reload)
{
	for (unsigned int on = 0; on < 2; on++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct cable *c = &pair.cable[0];
		struct nic_params params;
		struct rte_mbuf *m;

		setup(NULL);
		pair.params[1].icrc_check = !on;
		pair_create(&pair, 64);
		params = pair.params[1];
		params.icrc_check = on;
		reload(1, &params);
		pair_connect(&pair, &qp);
		while (c->head == c->tail)
			pair_run(&pair, pair.now_ns + 100);
		m = c->ring[c->head % PAIR_IN_FLIGHT].m;
		*rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len - 1) ^= 1;
		pair_run(&pair, NEVER_NS);
		assert_int_equal(nic_stats(pair.nic[1])->drops[NIC_DROP_BAD_ICRC], on);
		pair_destroy(&pair);
	}
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
