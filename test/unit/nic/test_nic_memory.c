/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that WRITEs and READs name, at the requester and at a responder with a region. */
#include "base/numbers/array.h"
#include "unit/nic/nic_test.h"

#define REGION_ADDR 0x7F0000001000ull
#define REGION_BYTES 65536u
#define REGION_KEY 0xA1B2C3D4u
#define REQUESTS 8u

static struct {
	uint64_t va[REQUESTS];
	uint32_t rkey[REQUESTS], dma_bytes[REQUESTS];
	unsigned int n;
} seen;

/* Keep the RETH of each request; lose frame pair.mishap. */
static enum fate
keep(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)n;
	if (from == 0 && (v->opcode == RC_WRITE_FIRST || v->opcode == RC_READ_REQUEST) &&
	    seen.n < REQUESTS) {
		seen.va[seen.n] = v->reth_va;
		seen.rkey[seen.n] = v->reth_rkey;
		seen.dma_bytes[seen.n++] = v->reth_dma_bytes;
	}
	return FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, keep, &seen, sizeof(seen));
	return solo_setup(state);
}

/* A requester and a responder that agree: one message of 2560 bytes a QP. */
static struct nic_qp_params
qp_of(int verb, unsigned int i)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.verb = verb;
	qp.messages = 1;
	qp.remote_addr_stride = 4096;
	qp.remote_addr = REGION_ADDR + i * qp.remote_addr_stride;
	qp.rkey = qp.local_rkey = REGION_KEY;
	qp.local_addr = REGION_ADDR;
	qp.local_bytes = REGION_BYTES;
	return qp;
}

TEST(requests_name_the_memory_of_their_qp)
{
	static const int verbs[] = {NIC_WRITE, NIC_READ};

	for (unsigned int k = 0; k < ARRAY_LEN(verbs); k++) {
		setup(NULL);
		pair_create(&pair, 256);
		for (unsigned int i = 0; i < 3; i++) {
			struct nic_qp_params qp = qp_of(verbs[k], i);

			pair_connect(&pair, &qp);
		}
		pair_run(&pair, NEVER_NS);
		assert_int_equal(seen.n, 3);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(seen.va[i], REGION_ADDR + i * 4096);
			assert_int_equal(seen.rkey[i], REGION_KEY);
			assert_int_equal(seen.dma_bytes[i], 2560);
			assert_int_equal(pair_info(&pair, 0, i).tx_messages, 1);
		}
		assert_int_equal(nic_stats(pair.nic[1])->drops[NIC_DROP_REMOTE_ACCESS], 0);
		pair_destroy(&pair);
	}
}

TEST(read_that_continues_after_a_loss_names_the_rest)
{
	struct nic_qp_params qp = qp_of(NIC_READ, 0);

	pair.mishap.from = 1;
	pair.mishap.frame = 1;
	pair.mishap.fate = FATE_LOSE;
	pair_play(&pair, 256, &qp);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.va[1], REGION_ADDR + 1024);
	assert_int_equal(seen.dma_bytes[1], 1536);
	assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 1);
	pair_destroy(&pair);
}

static void
respond(void)
{
	struct nic_qp_params qp = qp_of(NIC_WRITE, 0);

	qp.requester = false;
	solo_start(&solo, &qp);
}

TEST(request_outside_the_region_is_refused)
{
	const struct {
		uint64_t va;
		uint32_t rkey;
	} rows[] = {
		{REGION_ADDR - 1, REGION_KEY},
		{REGION_ADDR + REGION_BYTES - 7, REGION_KEY},
		{REGION_ADDR + REGION_BYTES, REGION_KEY},
		{UINT64_MAX - 3, REGION_KEY},
		{0, REGION_KEY},
		{REGION_ADDR, REGION_KEY + 1},
	};

	for (unsigned int i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		bool read = i % 2 == 1;
		struct roce_fields request = {
			.opcode = read ? RC_READ_REQUEST : RC_WRITE_ONLY,
			.ack_req = true,
			.reth_va = rows[i / 2].va,
			.reth_rkey = rows[i / 2].rkey,
			.reth_dma_bytes = 8,
		};
		struct nic_qp_params qp = qp_of(read ? NIC_READ : NIC_WRITE, 0);

		qp.requester = false;
		solo_init(&solo);
		solo_start(&solo, &qp);
		solo_feed(&solo, request, read ? 0 : 8);
		expect_answer(&solo, AETH_NAK_REMOTE_ACCESS, 0, 0);
		assert_int_equal(nic_stats(solo.nic)->drops[NIC_DROP_REMOTE_ACCESS], 1);
		/* In error: nothing is served any more. */
		request.reth_va = REGION_ADDR;
		request.reth_rkey = REGION_KEY;
		solo_feed(&solo, request, read ? 0 : 8);
		expect_silence(&solo, NEVER_NS);
		solo_destroy(&solo);
	}
}

TEST(request_at_the_ends_of_the_region_is_served)
{
	struct roce_fields write = {.opcode = RC_WRITE_ONLY,
				    .ack_req = true,
				    .reth_va = REGION_ADDR,
				    .reth_rkey = REGION_KEY,
				    .reth_dma_bytes = 8};

	respond();
	solo_feed(&solo, write, 8);
	expect_answer(&solo, AETH_ACK, 0, 1);
	write.psn = 1;
	write.reth_va = REGION_ADDR + REGION_BYTES - 8;
	solo_feed(&solo, write, 8);
	expect_answer(&solo, AETH_ACK, 1, 2);
	/* A request for no bytes may name anything. */
	write.psn = 2;
	write.reth_va = write.reth_rkey = write.reth_dma_bytes = 0;
	solo_feed(&solo, write, 0);
	expect_answer(&solo, AETH_ACK, 2, 3);
	solo_destroy(&solo);
}

/* The NAK puts the requester in error. */
TEST(requester_that_is_refused_fails)
{
	struct nic_qp_params qp = qp_of(NIC_WRITE, 0);

	qp.local_bytes = 2559;
	pair_play(&pair, 256, &qp);
	assert_true(pair_info(&pair, 0, 0).error);
	assert_int_equal(nic_stats(pair.nic[0])->qp_errors, 1);
	assert_int_equal(nic_stats(pair.nic[1])->drops[NIC_DROP_REMOTE_ACCESS], 1);
	pair_destroy(&pair);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
