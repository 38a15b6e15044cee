/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/perftest/perftest_commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "quenchctl/perftest/perftest_flows.h"
#include "quenchctl/perftest/perftest_options.h"
#include "quenchctl/perftest/perftest_peer.h"
#include "quenchctl/perftest/perftest_wire.h"
#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"

/* What perftest takes for its buffers if it finds nothing out. */
#define CYCLE_BUFFER_BYTES 4096u
#define CACHE_LINE_BYTES 64u
#define LOOK_MS 20
/* Responder's memory: any address will do, since nothing is stored. */
#define FIRST_ADDR (1ull << 40)
#define BYTES_PER_MIB 1048576.0

struct run {
	const struct ctl_options *o;
	struct perftest_options options;
	struct perftest_peer peer;
	struct perftest_flows flows;
	struct perftest_end ours[PERFTEST_MOST_QPS], theirs[PERFTEST_MOST_QPS];
	char version[PERFTEST_VERSION_BYTES + 1]; /* the peer's */
	uint16_t mtu_bytes;
	struct perftest_sums sums;
	uint64_t elapsed_ns;
	struct perftest_report report; /* ours; of listen: the peer's, if it sent one */
	bool has_report;
};

static int
refuse(const struct run *r, const char *what)
{
	say_error("%s: %s", r->peer.name, what);
	return APP_FAILED;
}

static int
swap_versions(struct run *r)
{
	uint8_t ours[PERFTEST_VERSION_BYTES] = PERFTEST_OUR_VERSION;
	uint8_t theirs[PERFTEST_VERSION_BYTES];
	uint32_t version;
	int rc = perftest_peer_swap(&r->peer, "its version", ours, theirs, sizeof(ours),
				    PERFTEST_PATIENCE_MS);

	if (rc != 0)
		return rc;
	version = perftest_version(theirs);
	for (unsigned int i = 0; i < sizeof(theirs); i++)
		r->version[i] = theirs[i] >= ' ' && theirs[i] < 0x7f ? (char)theirs[i] : '\0';
	if (version >= PERFTEST_FIRST_VERSION && version <= PERFTEST_LAST_VERSION)
		return 0;
	say_error("%s: version %s: expected perftest 4.5, whose versions are 5.98 to 6.10",
		  r->peer.name, r->version[0] == '\0' ? "(no number)" : r->version);
	return APP_FAILED;
}

/* The sizes that perftest places its buffers by. We have none, and follow the peer. */
static int
swap_sizes(struct run *r)
{
	const uint32_t sizes[] = {CYCLE_BUFFER_BYTES, CACHE_LINE_BYTES};
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < 2; i++) {
		uint8_t ours[4], theirs[4];

		perftest_put_u32(sizes[i], ours);
		rc = perftest_peer_swap(&r->peer, "the sizes of its buffers", ours, theirs,
					sizeof(ours), PERFTEST_PATIENCE_MS);
	}
	return rc;
}

static int
swap_mtus(struct run *r)
{
	uint8_t ours[PERFTEST_MTU_BYTES], theirs[PERFTEST_MTU_BYTES];
	uint16_t mtu_bytes;
	int rc;

	perftest_put_mtu(r->options.mtu_bytes, ours);
	rc = perftest_peer_swap(&r->peer, "its MTU", ours, theirs, sizeof(ours),
				PERFTEST_PATIENCE_MS);
	if (rc != 0)
		return rc;
	mtu_bytes = perftest_mtu(theirs);
	r->mtu_bytes = (uint16_t)min_u64(mtu_bytes, r->options.mtu_bytes);
	return mtu_bytes == 0 ? refuse(r, "its MTU is not one of RoCE") : 0;
}

/* Our QP of this index, before the peer's is known. */
static struct perftest_end
our_end(const struct run *r, uint32_t i)
{
	const struct perftest_flows *f = &r->flows;
	bool v6 = r->options.gid == PERFTEST_GID_IPV6 ||
		  (r->options.gid == PERFTEST_GID_AUTO && f->ip.version == 0);

	return (struct perftest_end){.rd_depth = f->max_rd_atomic,
				     .qpn = f->first_qpn + i,
				     .psn = (uint32_t)lrand48() & 0xffffff,
				     .rkey = (uint32_t)lrand48() | 1,
				     .addr = FIRST_ADDR + i * PERFTEST_MEMORY_BYTES,
				     .ip = v6 ? f->ip6 : f->ip};
}

/* As a server, answer with an address of the client's kind. */
static int
choose_address(const struct run *r, const struct perftest_end *theirs, struct perftest_end *ours)
{
	const struct perftest_flows *f = &r->flows;

	if (!r->peer.client && r->options.gid == PERFTEST_GID_AUTO)
		ours->ip = theirs->ip.version == 6 ? f->ip6 : f->ip;
	if (ours->ip.version == theirs->ip.version)
		return 0;
	say_error(
		"%s: its address is IPv%u, %s: expected both ends to have the same kind (gid=, the "
		"peer: -x)",
		r->peer.name, theirs->ip.version,
		ours->ip.version == 0 ? "and the NIC has none of that kind" : "ours is not");
	return APP_FAILED;
}

/* Swap the data of QP i. */
static int
swap_end(struct run *r, uint32_t i, int patience_ms)
{
	static const char what[] = "the data of its QPs";
	uint8_t ours[PERFTEST_END_BYTES], theirs[PERFTEST_END_BYTES];
	int rc = 0;

	perftest_put_end(&r->ours[i], ours);
	if (r->peer.client)
		rc = perftest_peer_send(&r->peer, ours, sizeof(ours));
	if (rc == 0)
		rc = perftest_peer_receive(&r->peer, what, theirs, sizeof(theirs), patience_ms);
	if (rc == 0 && !perftest_get_end(theirs, &r->theirs[i]))
		rc = refuse(r,
			    "the data of its QPs cannot be read: is it perftest 4.5 on Ethernet?");
	if (rc == 0)
		rc = choose_address(r, &r->theirs[i], &r->ours[i]);
	if (rc == 0 && !r->peer.client) {
		perftest_put_end(&r->ours[i], ours);
		rc = perftest_peer_send(&r->peer, ours, sizeof(ours));
	}
	return rc;
}

static int
swap_ends(struct run *r)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < r->options.qp_count; i++)
		rc = swap_end(r, i, PERFTEST_PATIENCE_MS);
	return rc;
}

/*
 * From the connection to the instant before the first message. Between the two rounds of QP data
 * each end makes its QPs; the extra exchanges are those of send_bw.c, write_bw.c and read_bw.c.
 */
static int
prepare(struct run *r)
{
	int rc = swap_versions(r);

	if (rc == 0)
		rc = perftest_flows_number(&r->flows);
	if (rc == 0)
		rc = swap_sizes(r);
	if (rc == 0)
		rc = swap_mtus(r);
	if (rc == 0) {
		for (uint32_t i = 0; i < r->options.qp_count; i++)
			r->ours[i] = our_end(r, i);
		rc = swap_ends(r);
	}
	for (uint32_t i = 0; rc == 0 && i < r->options.qp_count; i++)
		rc = perftest_flows_add(&r->flows, &r->ours[i], &r->theirs[i], r->mtu_bytes);
	if (rc == 0 && r->options.verb == PERFTEST_SEND)
		rc = swap_end(r, 0, PERFTEST_PATIENCE_MS);
	if (rc == 0)
		rc = swap_ends(r);
	return rc == 0 ? swap_end(r, 0, PERFTEST_PATIENCE_MS) : rc;
}

/* Wait until the time is over, or all QPs have ended. @return 0 or an exit code. */
static int
await_end(struct run *r)
{
	const uint32_t qps = r->options.qp_count;
	uint64_t end_ns = monotonic_ns() + r->options.duration_ns;
	int rc = 0;

	while (rc == 0) {
		rc = perftest_flows_read(&r->flows, &r->sums);
		if (rc == 0 && r->sums.failed > 0) {
			say_error("%s: %" PRIu64
				  " of %u QPs failed: it does not answer, or refuses "
				  "(quenchctl show drops, show counters)",
				  r->peer.name, r->sums.failed, qps);
			return APP_FAILED;
		}
		if (rc == 0 && r->sums.present < qps) {
			say_error("%s: %" PRIu64
				  " of %u flows were removed by a command or a reload",
				  r->peer.name, qps - r->sums.present, qps);
			return APP_FAILED;
		}
		if (r->options.duration_ns > 0 ? monotonic_ns() >= end_ns : r->sums.done == qps)
			break;
		if (rc == 0)
			rc = perftest_peer_rest(&r->peer, LOOK_MS);
	}
	return rc;
}

/* Rate in the unit of the reports. */
static double
rate(const struct run *r, uint64_t bytes, uint64_t ns)
{
	double per_s = ns == 0 ? 0 : (double)bytes * 1e9 / (double)ns;

	return r->options.gbits ? per_s * 8 / 1e9 : per_s / BYTES_PER_MIB;
}

static void
make_report(struct run *r)
{
	const struct perftest_sums *s = &r->sums;

	/* QPs begin up to a millisecond apart: the time is that of all of them. */
	r->elapsed_ns = sub_sat(s->ended_ns, s->started_ns);
	r->has_report = true;
	r->report = (struct perftest_report){
		.bytes = r->options.message_bytes,
		.iterations = s->messages,
		.average = rate(r, s->payload_bytes, r->elapsed_ns),
		.mmps = r->elapsed_ns == 0 ? 0 : (double)s->messages * 1e3 / (double)r->elapsed_ns,
	};
}

static int
swap_reports(struct run *r)
{
	struct perftest_report theirs = {0};
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < PERFTEST_NUMBERS; i++) {
		uint8_t ours[PERFTEST_NUMBER_BYTES], bytes[PERFTEST_NUMBER_BYTES];

		perftest_put_number(&r->report, i, ours);
		rc = perftest_peer_swap(&r->peer, "its results", ours, bytes, sizeof(ours),
					PERFTEST_PATIENCE_MS);
		perftest_get_number(bytes, i, &theirs);
	}
	if (rc == 0 && !r->peer.client) {
		r->report = theirs;
		r->has_report = true;
	}
	return rc;
}

/* Both say that they are done. The peer may have gone already. */
static int
finish(struct run *r)
{
	int rc = swap_end(r, 0, r->peer.client ? PERFTEST_PATIENCE_MS : PERFTEST_FOREVER);

	if (rc == 0)
		perftest_peer_send(&r->peer, PERFTEST_DONE, sizeof(PERFTEST_DONE));
	return rc;
}

static int
run_client(struct run *r)
{
	int rc = perftest_flows_stop(&r->flows, false);

	if (rc == 0)
		rc = await_end(r);
	if (rc != 0)
		return rc;
	make_report(r);
	if (r->options.duration_ns > 0)
		rc = perftest_flows_stop(&r->flows, true);
	if (rc == 0 && r->options.verb != PERFTEST_SEND) {
		rc = swap_end(r, 0, PERFTEST_PATIENCE_MS);
		if (rc == 0)
			rc = swap_reports(r);
	}
	return rc == 0 ? finish(r) : rc;
}

static int
run_server(struct run *r)
{
	uint64_t begin_ns = monotonic_ns();
	int rc = 0;

	/* The client speaks when it has finished. */
	if (r->options.verb != PERFTEST_SEND) {
		rc = swap_end(r, 0, PERFTEST_FOREVER);
		r->elapsed_ns = monotonic_ns() - begin_ns;
		if (rc == 0)
			rc = swap_reports(r);
	}
	if (rc == 0)
		rc = finish(r);
	if (r->options.verb == PERFTEST_SEND)
		r->elapsed_ns = monotonic_ns() - begin_ns;
	if (rc == 0)
		rc = perftest_flows_read(&r->flows, &r->sums);
	return rc;
}

static void
print_json(const struct run *r)
{
	const struct perftest_sums *s = &r->sums;
	char address[FIELD_IP_CHARS];
	json_t *o = json_pack(
		"{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "role",
		r->peer.client ? "client" : "server", "verb", perftest_verb_words[r->options.verb],
		"peer_ip", field_ip_text(&r->theirs[0].ip, address), "peer_version", r->version,
		"qps", (json_int_t)r->options.qp_count, "mtu_bytes", (json_int_t)r->mtu_bytes,
		"messages", (json_int_t)s->messages, "payload_bytes", (json_int_t)s->payload_bytes,
		"elapsed_ns", (json_int_t)r->elapsed_ns, "retransmitted_packets",
		(json_int_t)s->retransmitted_packets, "cnps_handled", (json_int_t)s->cnps_handled,
		"cnps_sent", (json_int_t)s->cnps_sent, "ce_packets", (json_int_t)s->ce_packets);
	if (r->has_report) {
		json_object_set_new(o, "message_bytes", json_integer((json_int_t)r->report.bytes));
		json_object_set_new(o, r->options.gbits ? "average_gbps" : "average_mib_per_s",
				    json_real(r->report.average));
		json_object_set_new(o, "mmessages_per_s", json_real(r->report.mmps));
	}
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}

static void
print_result(const struct run *r)
{
	const struct perftest_sums *s = &r->sums;

	if (r->o->json) {
		print_json(r);
		return;
	}
	printf("%s with %s, perftest %s: %u QPs, MTU %u\n", perftest_verb_words[r->options.verb],
	       r->peer.name, r->version, r->options.qp_count, r->mtu_bytes);
	printf("%" PRIu64 " messages, %" PRIu64 " bytes, %.3f s, %" PRIu64
	       " packets retransmitted, %" PRIu64 " with CE, CNPs: %" PRIu64 " sent, %" PRIu64
	       " handled\n",
	       s->messages, s->payload_bytes, (double)r->elapsed_ns / 1e9, s->retransmitted_packets,
	       s->ce_packets, s->cnps_sent, s->cnps_handled);
	if (r->has_report)
		printf("%s: %.2f %s, %.6f million messages/s of %" PRIu64 " bytes\n",
		       r->peer.client ? "average" : "the client's average", r->report.average,
		       r->options.gbits ? "Gb/s" : "MiB/s", r->report.mmps, r->report.bytes);
}

static int
run(struct client *c, const struct ctl_options *o, const char *host, const char *const *words,
    unsigned int n_words)
{
	struct run *r = calloc(1, sizeof(*r));
	int rc, end_rc;

	if (r == NULL) {
		say_error("out of memory");
		return APP_FAILED;
	}
	r->o = o;
	r->peer.fd = r->peer.signal_fd = -1;
	srand48((long)monotonic_ns() ^ getpid());
	rc = perftest_options_read(words, n_words, &r->options);
	if (rc == 0)
		rc = perftest_flows_open(&r->flows, c, &r->options, host != NULL);
	if (rc == 0)
		rc = host != NULL ? perftest_peer_connect(&r->peer, host, r->options.port)
				  : perftest_peer_accept(&r->peer, r->options.port);
	if (rc == 0)
		rc = prepare(r);
	if (rc == 0)
		rc = r->peer.client ? run_client(r) : run_server(r);
	end_rc = perftest_flows_close(&r->flows);
	if (rc == 0)
		print_result(r);
	perftest_peer_close(&r->peer);
	free(r);
	return rc != 0 ? rc : end_rc;
}

int
command_connect_perftest(const struct command *command, struct client *c,
			 const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	(void)command;
	return run(c, o, params[0], params + 1, COMMAND_PARAMS - 1);
}

int
command_listen_perftest(const struct command *command, struct client *c,
			const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	(void)command;
	return run(c, o, NULL, params, COMMAND_PARAMS);
}
