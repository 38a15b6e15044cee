/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ICRC costs a sender and a receiver, beside rte_net_crc over the whole frame with each
 * algorithm that this CPU has; a receiver's check uses the same instruction set as its peer.
 */
#include <string.h>

#include "bench.h"
#include "net_crc.h"
#include "../host_path.h"
#include "base/numbers/array.h"
#include "wire/icrc/icrc.h"
#include "wire/icrc/icrc_impl.h"
#include "wire/roce/roce.h"

#define ROUNDS 15
/* Two bursts: as a sender's packets, they come from the cache but not from registers. */
#define BUFFERS 64
#define ROOM 4352
#define HEADROOM 128

static uint8_t buffers[BUFFERS][ROOM] __attribute__((aligned(64)));
static volatile uint32_t sink;

/* What is measured: one call does BUFFERS frames. */
struct job {
	void (*run)(const struct job *);
	uint16_t frame_bytes;
	unsigned int ip_version;
	uint8_t opcode;
	struct roce_template template;
	struct roce_ends ends;
	struct roce_payload payload;
};

static void
run_stamp(const struct job *job)
{
	static uint32_t psn;
	struct roce_fields f = {
		.opcode = job->opcode,
		.migreq = true,
		.reth_va = 0x7f0000000000ull,
		.reth_rkey = 0x1234,
		.reth_dma_bytes = 1u << 20,
	};

	for (unsigned int i = 0; i < BUFFERS; i++) {
		f.psn = psn++;
		sink = roce_template_stamp(&job->template, &job->ends, &job->payload, &f,
					   buffers[i] + HEADROOM);
	}
}

static void
run_rte(const struct job *job)
{
	for (unsigned int i = 0; i < BUFFERS; i++)
		sink = net_crc(buffers[i], job->frame_bytes);
}

static void
run_receive(const struct job *job)
{
	uint32_t n = job->frame_bytes - ETH_HDR_BYTES - ICRC_BYTES;

	for (unsigned int i = 0; i < BUFFERS; i++)
		sink = icrc_compute(buffers[i] + ETH_HDR_BYTES, job->ip_version, n);
}

static double
round_ns(void *arg)
{
	const struct job *job = arg;
	/* About a millisecond a round. */
	static const unsigned int most = 20000;
	unsigned int calls = 1;
	double start, spent;

	do {
		start = bench_clock_ns();
		for (unsigned int i = 0; i < calls; i++)
			job->run(job);
		spent = bench_clock_ns() - start;
		if (spent > 1e6 || calls >= most)
			return spent / calls / BUFFERS;
		calls *= 2;
	} while (1);
}

/* Instruction sets, and who uses them. */
static const struct set {
	const char *peer_name;
	enum rte_net_crc_alg peer;
	unsigned int backend; /* of icrc_backends, where there are so many */
} sets[] = {
	{"scalar", RTE_NET_CRC_SCALAR, 0},
	{"SSE4.2", RTE_NET_CRC_SSE42, 1},
	{"AVX-512", RTE_NET_CRC_AVX512, 2},
};

static void
report(const char *name, struct job *job, const struct set *set)
{
	struct job rte = {.run = run_rte, .frame_bytes = job->frame_bytes};
	char peer[48];

	if (!net_crc_use(set->peer))
		return;
	snprintf(peer, sizeof(peer), "rte_net_crc %s over %u B", set->peer_name, job->frame_bytes);
	bench_compare((struct bench_side){name, round_ns, job},
		      (struct bench_side){peer, round_ns, &rte}, "ns/frame", ROUNDS);
}

static void
report_stamp(const char *what, struct job *job)
{
	char name[96];

	job->run = run_stamp;
	snprintf(name, sizeof(name), "tx headers and ICRC, %s", what);
	for (unsigned int i = 0; i < ARRAY_LEN(sets); i++)
		report(name, job, &sets[i]);
}

static void
report_receive(const char *what, struct job *job)
{
	char name[96];

	job->run = run_receive;
	for (unsigned int i = 0; i < icrc_backend_count; i++) {
		if (!icrc_backends[sets[i].backend].supported())
			continue;
		icrc_use(&icrc_backends[sets[i].backend]);
		snprintf(name, sizeof(name), "rx ICRC check (%s), %s", icrc_backend(), what);
		report(name, job, &sets[i]);
	}
}

static void
make_job(struct job *job, unsigned int ip_version, uint8_t opcode, uint16_t mtu)
{
	struct roce_path path = host_path(1, 2, 0x22);

	path.ip_version = (uint8_t)ip_version;
	memset(job, 0, sizeof(*job));
	job->ip_version = ip_version;
	job->opcode = opcode;
	job->frame_bytes = (uint16_t)(14 + (ip_version == 4 ? 20 : 40) + 8 + 12 +
				      roce_ext_bytes(opcode) + mtu + 4);
	roce_template_init(&job->template, &path);
	job->ends = roce_path_ends(&path);
	roce_payload_init(&job->payload, buffers[0] + HEADROOM, mtu);
}

int
main(void)
{
	static struct job job;

	for (unsigned int i = 0; i < BUFFERS; i++) {
		for (unsigned int k = 0; k < ROOM; k++)
			buffers[i][k] = (uint8_t)(k * 7 + 1);
	}
	make_job(&job, 4, RC_WRITE_MIDDLE, 1024);
	report_stamp("MTU 1024", &job);
	report_receive("MTU 1024", &job);
	make_job(&job, 4, RC_WRITE_MIDDLE, 4096);
	report_stamp("MTU 4096", &job);
	report_receive("MTU 4096", &job);
	make_job(&job, 4, RC_WRITE_ONLY, 1024);
	report_stamp("MTU 1024, RETH", &job);
	make_job(&job, 6, RC_WRITE_MIDDLE, 1024);
	report_stamp("MTU 1024, IPv6", &job);
	make_job(&job, 4, ROCE_CNP, 0);
	report_receive("CNP", &job);
	return EXIT_SUCCESS;
}
