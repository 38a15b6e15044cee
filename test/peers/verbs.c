/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RC QPs of an RDMA device with numbers from the command line, for a peer that has no other way to
 * learn them. Arguments are KEY=VALUE (see keys[]). Prints "ready qpn=.. addr=.. rkey=..", waits
 * for the file go=, works, and prints what became of each kind of completion.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define MOST_QPS 256

enum key {
	QPS,
	PEER_QPN,
	PSN,
	MTU,
	GID,
	SIZE,
	COUNT,
	RADDR,
	RKEY,
	RECV,
	RD_ATOMIC,
	RNR_TIMER,
	TIMEOUT,
	RETRY,
	DEPTH,
	SECONDS,
	KEYS
};

static const char *const keys[KEYS] = {
	[QPS] = "qps",           /* RC QPs */
	[PEER_QPN] = "peer_qpn", /* of the first; the others have the numbers after it */
	[PSN] = "psn",           /* first of both directions */
	[MTU] = "mtu",           /* 1 to 5: 256 to 4096 */
	[GID] = "gid",           /* index of our address */
	[SIZE] = "size",         /* bytes of a message */
	[COUNT] = "count",       /* messages of each QP; serve: to receive */
	[RADDR] = "raddr",       /* of WRITE and READ */
	[RKEY] = "rkey",
	[RECV] = "recv", /* receive buffers of each QP at the start; -1: kept posted */
	[RD_ATOMIC] = "rd_atomic",
	[RNR_TIMER] = "rnr_timer",
	[TIMEOUT] = "timeout",
	[RETRY] = "retry",
	[DEPTH] = "depth",     /* messages of each QP that wait for their ends */
	[SECONDS] = "seconds", /* serve: for how long at most */
};

static int64_t value[KEYS] = {
	[QPS] = 1,   [PEER_QPN] = 17, [MTU] = 3,       [GID] = 1,       [SIZE] = 1024,
	[COUNT] = 1, [RECV] = -1,     [RD_ATOMIC] = 1, [RNR_TIMER] = 1, [TIMEOUT] = 14,
	[RETRY] = 7, [DEPTH] = 1,     [SECONDS] = 60,
};
static const char *verb = "serve", *peer = "", *go = "/tmp/go";

static struct ibv_qp *qp[MOST_QPS];
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static uint8_t *memory;

static void
die(const char *what)
{
	printf("failed: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
read_arguments(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *is = strchr(argv[i], '=');
		int k = 0;

		if (is == NULL)
			die(argv[i]);
		*is++ = '\0';
		while (k < KEYS && strcmp(keys[k], argv[i]) != 0)
			k++;
		if (k < KEYS)
			value[k] = strtoll(is, NULL, 0);
		else if (strcmp(argv[i], "verb") == 0)
			verb = is;
		else if (strcmp(argv[i], "peer") == 0)
			peer = is;
		else if (strcmp(argv[i], "go") == 0)
			go = is;
		else
			die(argv[i]);
	}
}

static void
connect_qp(struct ibv_qp *q, uint32_t peer_qpn)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_LOCAL_WRITE |
						   IBV_ACCESS_REMOTE_WRITE |
						   IBV_ACCESS_REMOTE_READ};
	uint8_t *gid = a.ah_attr.grh.dgid.raw;

	if (ibv_modify_qp(q, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) !=
	    0)
		die("INIT");
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = (enum ibv_mtu)value[MTU];
	a.dest_qp_num = peer_qpn;
	a.rq_psn = a.sq_psn = (uint32_t)value[PSN];
	a.max_dest_rd_atomic = a.max_rd_atomic = (uint8_t)value[RD_ATOMIC];
	a.min_rnr_timer = (uint8_t)value[RNR_TIMER];
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.hop_limit = 64;
	a.ah_attr.grh.sgid_index = (uint8_t)value[GID];
	if (inet_pton(AF_INET6, peer, gid) != 1) {
		memcpy(gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		if (inet_pton(AF_INET, peer, gid + 12) != 1)
			die("peer");
	}
	if (ibv_modify_qp(q, &a,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER) != 0)
		die("RTR");
	a.qp_state = IBV_QPS_RTS;
	a.timeout = (uint8_t)value[TIMEOUT];
	a.retry_cnt = a.rnr_retry = (uint8_t)value[RETRY];
	if (ibv_modify_qp(q, &a,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) != 0)
		die("RTS");
}

/* Each QP has its own part of the memory. */
static struct ibv_sge
part(int i)
{
	return (struct ibv_sge){.addr = (uintptr_t)memory + (uint64_t)(i * value[SIZE]),
				.length = (uint32_t)value[SIZE],
				.lkey = mr->lkey};
}

static void
post_recv(int i)
{
	struct ibv_sge sge = part(i);
	struct ibv_recv_wr wr = {.wr_id = (uint64_t)i, .sg_list = &sge, .num_sge = 1}, *bad;

	if (ibv_post_recv(qp[i], &wr, &bad) != 0)
		die("ibv_post_recv");
}

static void
post_send(int i)
{
	struct ibv_sge sge = part(i);
	struct ibv_send_wr wr = {.wr_id = (uint64_t)i,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	wr.opcode = strcmp(verb, "send") == 0    ? IBV_WR_SEND
		    : strcmp(verb, "write") == 0 ? IBV_WR_RDMA_WRITE
						 : IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = (uint64_t)value[RADDR];
	wr.wr.rdma.rkey = (uint32_t)value[RKEY];
	if (ibv_post_send(qp[i], &wr, &bad) != 0)
		die("ibv_post_send");
}

static void
open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c = list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = c != NULL ? ibv_alloc_pd(c) : NULL;
	size_t bytes = (size_t)(value[QPS] * value[SIZE]);

	if (pd == NULL)
		die("no RDMA device");
	memory = aligned_alloc(4096, (bytes + 8191) / 4096 * 4096);
	/* What is sent: byte n is n modulo 251. Elsewhere, a byte that shows what nobody wrote. */
	for (size_t i = 0; memory != NULL && i < bytes; i++)
		memory[i] = strcmp(verb, "send") == 0 || strcmp(verb, "write") == 0 ||
					    strcmp(verb, "source") == 0
				    ? (uint8_t)(i % 251)
				    : 0xEE;
	cq = ibv_create_cq(c, 4096, NULL, NULL, 0);
	mr = memory == NULL ? NULL
			    : ibv_reg_mr(pd, memory, bytes > 0 ? bytes : 1,
					 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						 IBV_ACCESS_REMOTE_READ);
	if (cq == NULL || mr == NULL)
		die("CQ and MR");
	for (int i = 0; i < value[QPS]; i++) {
		struct ibv_qp_init_attr init = {.send_cq = cq,
						.recv_cq = cq,
						.qp_type = IBV_QPT_RC,
						.cap = {.max_send_wr = 16,
							.max_recv_wr = 64,
							.max_send_sge = 1,
							.max_recv_sge = 1}};

		qp[i] = ibv_create_qp(pd, &init);
		if (qp[i] == NULL)
			die("QP");
		if (qp[i]->qp_num != qp[0]->qp_num + (unsigned int)i)
			die("QP numbers with gaps");
		connect_qp(qp[i], (uint32_t)(value[PEER_QPN] + i));
	}
}

/* Byte i of the payload of each packet that quench sends (lib/nic/qp/payload.c). */
static uint8_t
quench_byte(uint32_t i)
{
	return (uint8_t)(i * 151 + i / 256 * 29 + 7);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	uint64_t good = 0, bytes = 0, wrong = 0;
	bool serves;
	int64_t left;
	int64_t begun[MOST_QPS] = {0};
	double end;

	setvbuf(stdout, NULL, _IOLBF, 0);
	read_arguments(argc, argv);
	serves = strcmp(verb, "serve") == 0 || strcmp(verb, "source") == 0;
	open_device();
	for (int i = 0; serves && i < value[QPS]; i++)
		for (int64_t k = 0; k < (value[RECV] < 0 ? 16 : value[RECV]); k++)
			post_recv(i);
	printf("ready qpn=%u addr=%" PRIuPTR " rkey=%u\n", qp[0]->qp_num, (uintptr_t)memory,
	       mr->rkey);
	while (access(go, F_OK) != 0)
		usleep(10000);
	left = value[QPS] * value[COUNT];
	for (int i = 0; !serves && i < value[QPS]; i++)
		for (; begun[i] < value[DEPTH] && begun[i] < value[COUNT]; begun[i]++)
			post_send(i);
	end = now() + (double)value[SECONDS];
	while (left > 0 && now() < end && (!serves || access("/tmp/stop", F_OK) != 0)) {
		struct ibv_wc wc;
		int n = ibv_poll_cq(cq, 1, &wc);

		if (n == 0) {
			usleep(1000);
			continue;
		}
		if (wc.status != IBV_WC_SUCCESS) {
			printf("error qp=%" PRIu64 " %s\n", wc.wr_id, ibv_wc_status_str(wc.status));
			break;
		}
		good++;
		left--;
		bytes += serves ? wc.byte_len : (uint64_t)value[SIZE];
		if (serves && value[RECV] < 0)
			post_recv((int)wc.wr_id);
		if (!serves && begun[wc.wr_id] < value[COUNT]) {
			begun[wc.wr_id]++;
			post_send((int)wc.wr_id);
		}
	}
	for (int64_t i = 0; i < value[QPS] * value[SIZE]; i++)
		wrong += memory[i] !=
			 quench_byte((uint32_t)(i % value[SIZE]) % (128u << value[MTU]));
	printf("done completions=%" PRIu64 " bytes=%" PRIu64 " wrong=%" PRIu64 "\n", good, bytes,
	       wrong);
	return 0;
}
