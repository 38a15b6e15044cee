/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "tm/queue/sched.h"

#define FRAME 1106 /* wire bytes of MTU 1024 */

static struct sched
fresh(uint8_t strict, const uint8_t *weight)
{
	struct sched_params params = {.strict_queues = strict};
	struct sched s = {0};

	memcpy(params.dwrr_weight, weight, TM_CLASSES);
	sched_set_params(&s, &params);
	return s;
}

/* Serve n frames of an ever backlogged set; add what each queue sent to sent[]. */
static void
serve(struct sched *s, uint8_t eligible, unsigned int n, uint32_t bytes, uint64_t *sent)
{
	while (n-- > 0) {
		int q = sched_pick(s, eligible);

		assert_true(q >= 0 && (eligible >> q & 1));
		sched_charge(s, (uint8_t)q, bytes, true);
		sent[q] += bytes;
	}
}

static void
assert_share(uint64_t sent, uint64_t total, unsigned int weight, unsigned int sum, uint64_t slack)
{
	uint64_t want = total * weight / sum;

	assert_true(sent + slack >= want && sent <= want + slack);
}

TEST(strict_queues_go_first_higher_number_first)
{
	static const uint8_t weight[TM_CLASSES] = {1, 1, 1, 1, 1, 1, 1, 1};
	struct sched s = fresh(1 << 7 | 1 << 5, weight);

	for (int i = 0; i < 100; i++) {
		assert_int_equal(sched_pick(&s, 0xff), 7);
		sched_charge(&s, 7, FRAME, true);
		assert_int_equal(sched_pick(&s, 0x7f), 5);
		sched_charge(&s, 5, FRAME, true);
	}
	assert_int_equal(sched_pick(&s, 0x48), 3);
	assert_int_equal(sched_pick(&s, 0), -1);
}

TEST(asking_twice_gives_the_same_answer)
{
	static const uint8_t weight[TM_CLASSES] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct sched s = fresh(0, weight);

	for (int i = 0; i < 1000; i++) {
		int q = sched_pick(&s, 0xff);

		assert_int_equal(sched_pick(&s, 0xff), q);
		sched_charge(&s, (uint8_t)q, FRAME, true);
	}
}

TEST(defaults_give_roce_half_of_what_strict_leaves)
{
	struct sched_params params;
	uint64_t sent[TM_CLASSES] = {0};
	struct sched s = {0};

	memset(&params, 0, sizeof(params));
	assert_int_equal(field_defaults(sched_fields, sched_fields_n, &params), 0);
	assert_int_equal(params.strict_queues, 1 << 7);
	sched_set_params(&s, &params);
	serve(&s, 0x7f, 120000, FRAME, sent);
	assert_share(sent[3], 120000ull * FRAME, 1, 2, (uint64_t)s.quantum_bytes[3] + FRAME);
}

TEST(shares_are_the_weights_for_any_frame_size)
{
	static const uint8_t weight[TM_CLASSES] = {1, 2, 5, 50, 10, 100, 30, 7};
	static const uint32_t frames[] = {84, FRAME, 1538, 9240};

	for (size_t f = 0; f < ARRAY_LEN(frames); f++) {
		struct sched s = fresh(0, weight);
		uint64_t sent[TM_CLASSES] = {0}, total = 200000ull * frames[f];

		serve(&s, 0xff, 200000, frames[f], sent);
		for (int i = 0; i < TM_CLASSES; i++)
			assert_share(sent[i], total, weight[i], 205,
				     2ull * (uint64_t)s.quantum_bytes[i] + frames[f]);
	}
}

TEST(frames_of_different_size_do_not_change_the_shares)
{
	static const uint8_t weight[TM_CLASSES] = {1, 1, 1, 1, 1, 1, 1, 1};
	static const uint32_t bytes[TM_CLASSES] = {84, 9240, 1106, 1538};
	struct sched s = fresh(0, weight);
	uint64_t sent[TM_CLASSES] = {0}, total = 0;

	while (total < 400000000) {
		int q = sched_pick(&s, 0x0f);

		sched_charge(&s, (uint8_t)q, bytes[q], true);
		sent[q] += bytes[q];
		total += bytes[q];
	}
	for (int i = 0; i < 4; i++)
		assert_share(sent[i], total, 1, 4, 2 * 9240);
}

/* Queue 3 asks for less than its share; 0 and 1 divide the rest 1:2. */
TEST(an_unused_share_is_divided_by_weight)
{
	static const uint8_t weight[TM_CLASSES] = {10, 20, 1, 70, 1, 1, 1, 1};
	struct sched s = fresh(0, weight);
	uint64_t sent[TM_CLASSES] = {0}, total = 0, arrived = 0;

	for (int i = 0; i < 300000; i++) {
		uint8_t eligible = 3;
		int q;

		while ((arrived + FRAME) * 10 <= total * 4) /* 40 % of the line */
			arrived += FRAME;
		if (arrived > sent[3])
			eligible |= 8;
		q = sched_pick(&s, eligible);
		sent[q] += FRAME;
		total += FRAME;
		sched_charge(&s, (uint8_t)q, FRAME, q != 3 || arrived > sent[3]);
	}
	assert_share(sent[3], total, 40, 100, 10 * FRAME);
	assert_share(sent[0], total, 20, 100, 100000);
	assert_share(sent[1], total, 40, 100, 100000);
}

TEST(a_paused_queue_keeps_its_deficit)
{
	static const uint8_t weight[TM_CLASSES] = {1, 1, 1, 4, 1, 1, 1, 1};
	struct sched s = fresh(0, weight);
	uint64_t sent[TM_CLASSES] = {0};
	int64_t frozen;

	while (sched_pick(&s, 9) != 3)
		sched_charge(&s, (uint8_t)sched_pick(&s, 9), FRAME, true);
	sched_charge(&s, 3, FRAME, true);
	frozen = s.deficit_bytes[3];
	assert_true(frozen > 0);
	serve(&s, 1, 50, FRAME, sent); /* 3 is paused */
	assert_int_equal(s.deficit_bytes[3], frozen);
	/* Back again, it spends that and then its usual quantum; it has saved up nothing. */
	while (sched_pick(&s, 9) == 0)
		sched_charge(&s, 0, FRAME, true);
	memset(sent, 0, sizeof(sent));
	while (sched_pick(&s, 9) == 3)
		serve(&s, 8, 1, FRAME, sent);
	assert_true(sent[3] <= (uint64_t)frozen + (uint64_t)s.quantum_bytes[3] + FRAME);
}

TEST(credit_never_exceeds_a_quantum_however_pauses_fall)
{
	static const uint8_t weight[TM_CLASSES] = {1, 3, 9, 50, 2, 1, 80, 100};
	const uint64_t seed = 3;
	struct sched s = fresh(0, weight);
	struct prng r;

	prng_seed(&r, seed, 0);
	for (int i = 0; i < 300000; i++) {
		uint8_t eligible = (uint8_t)prng_u32(&r);
		uint32_t bytes = 84 + (uint32_t)prng_below(&r, 9240 - 84);
		int q = sched_pick(&s, eligible);

		assert_int_equal(q >= 0, eligible != 0);
		if (q >= 0)
			sched_charge(&s, (uint8_t)q, bytes, prng_below(&r, 2));
		for (int j = 0; j < TM_CLASSES; j++) {
			assert_true(s.deficit_bytes[j] <= s.quantum_bytes[j]);
			assert_true(s.deficit_bytes[j] > -9240);
			assert_int_equal(s.credit >> j & 1, s.deficit_bytes[j] > 0);
		}
	}
}

TEST(an_emptied_queue_forgets_its_credit_but_not_its_debt)
{
	static const uint8_t weight[TM_CLASSES] = {1, 1, 1, 1, 1, 1, 1, 1};
	struct sched s = fresh(0, weight);
	uint64_t sent[TM_CLASSES] = {0};

	assert_int_equal(sched_pick(&s, 2), 1);
	sched_charge(&s, 1, 84, false);
	assert_int_equal(s.deficit_bytes[1], 0);
	assert_int_equal(sched_pick(&s, 2), 1);
	sched_charge(&s, 1, 9240, false);
	assert_int_equal(s.deficit_bytes[1], s.quantum_bytes[1] - 9240);
	/* Jumbo frames that come one by one get half of the line beside small ones, no more. */
	for (int i = 0; i < 100000; i++) {
		int q = sched_pick(&s, 3);
		uint32_t bytes = q == 1 ? 9240 : 1538;

		sched_charge(&s, (uint8_t)q, bytes, q == 0);
		sent[q] += bytes;
	}
	assert_share(sent[1], sent[0] + sent[1], 1, 2, 20000);
}

/* What has sent less than its grant is picked again; the sum of its frames charges what they do. */
TEST(a_run_within_its_grant_is_charged_as_its_frames_alone)
{
	static const uint8_t weight[TM_CLASSES] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct sched one = fresh(1 << 7, weight), many = one;
	struct prng r;

	prng_seed(&r, 5, 0);
	for (int i = 0; i < 20000; i++) {
		uint8_t eligible = (uint8_t)(1 + prng_below(&r, 127) + 128 * (i % 8 == 0));
		int queue = sched_pick(&many, eligible);
		int32_t left = sched_grant(&many, (uint8_t)queue);
		bool more = prng_below(&r, 4) != 0;
		uint32_t sum = 0;

		assert_true(left > 0);
		for (unsigned int n = 0; n < 32 && left - (int32_t)sum > 0; n++) {
			uint32_t bytes = (uint32_t)(84 + prng_below(&r, 1455));

			assert_int_equal(sched_pick(&one, eligible), queue);
			sum += bytes;
			sched_charge(&one, (uint8_t)queue, bytes,
				     more || (n < 31 && left - (int32_t)sum > 0));
		}
		sched_charge(&many, (uint8_t)queue, sum, more);
		assert_memory_equal(&one, &many, sizeof(one));
	}
}

TEST_MAIN()
