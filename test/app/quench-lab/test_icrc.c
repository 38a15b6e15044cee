/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lab checks the ICRC of a frame that carries the mark of the constant payload without reading
 * that payload. Every frame that arrives anywhere is checked both ways: the answers are equal.
 */
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "ctl/config/config.h"
#include "fabric/net/net_state.h"
#include "fabric/results/probe.h"
#include "nic/qp/payload.h"
#include "quench-lab/scenario/event_set.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"

/* Frames whose headers are spoilt, bit by bit. */
#define SPOILT 200u

static struct {
	struct net *net;
	uint64_t known, read; /* RoCEv2 frames with the mark, and others */
	uint64_t known_wrong, read_wrong;
	uint64_t lengths[NIC_MAX_MTU + 1]; /* frames with the mark, by payload */
	uint64_t opcodes[256];             /* likewise */
	uint64_t tagged;                   /* RoCEv2 frames with a VLAN tag */
	uint64_t spoilt;                   /* wrong answers after a bit was flipped */
} seen;

static bool
parse(const struct rte_mbuf *m, struct roce_view *roce)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view frame;

	return frame_parse(buf, m->data_len, &frame) == FRAME_OK &&
	       roce_parse(buf, m->data_len, &frame, false, roce) == ROCE_OK;
}

/* Check a frame both ways. @return is its ICRC valid? */
static bool
check(const struct rte_mbuf *m, const struct roce_view *roce)
{
	bool whole = roce_icrc_is_valid(rte_pktmbuf_mtod(m, const uint8_t *), roce);

	assert_int_equal(nic_icrc_is_valid(seen.net->payloads, m, roce), whole);
	return whole;
}

/* Flip each bit of the headers, one after the other: none keeps the ICRC, unless it is masked. */
static void
spoil_headers(const struct rte_mbuf *m, const struct roce_view *roce)
{
	uint8_t *buf = rte_pktmbuf_mtod(m, uint8_t *);
	struct roce_view spoilt;

	for (unsigned int bit = 0; bit < 8u * roce->payload_off; bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (parse(m, &spoilt) && !check(m, &spoilt))
			seen.spoilt++;
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

/* Cut the frame to every shorter payload, with headers that agree. */
static void
truncate_payload(struct rte_mbuf *m, const struct roce_view *roce)
{
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *) + roce->ip_off, *udp = ip + IPV4_HDR_BYTES;
	uint16_t len = m->data_len, ip_bytes = be16_load(ip + 2), sum = be16_load(ip + 10);
	struct roce_view cut;

	for (uint16_t less = 4; less <= roce->payload_bytes; less += 4) {
		be16_store(ip + 2, (uint16_t)(ip_bytes - less));
		be16_store(udp + 4, (uint16_t)(ip_bytes - less - IPV4_HDR_BYTES));
		be16_store(ip + 10, 0);
		be16_store(ip + 10, ipv4_header_checksum(ip, IPV4_HDR_BYTES));
		m->data_len = m->pkt_len = (uint16_t)(len - less);
		if (parse(m, &cut))
			assert_false(check(m, &cut));
	}
	be16_store(ip + 2, ip_bytes);
	be16_store(udp + 4, (uint16_t)(ip_bytes - IPV4_HDR_BYTES));
	be16_store(ip + 10, sum);
	m->data_len = m->pkt_len = len;
}

static void
on_arrival(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	struct roce_view roce;
	bool valid;

	(void)arg;
	(void)at_ns;
	if (!parse(m, &roce))
		return;
	valid = check(m, &roce);
	seen.tagged += roce.ip_off > ETH_HDR_BYTES;
	if (nic_payload_in(seen.net->payloads, m, &roce) == NULL) {
		seen.read++;
		seen.read_wrong += !valid;
		return;
	}
	seen.known++;
	seen.known_wrong += !valid;
	seen.lengths[roce.payload_bytes]++;
	seen.opcodes[roce.opcode]++;
	if (seen.known <= SPOILT || seen.opcodes[roce.opcode] == 1) {
		spoil_headers(m, &roce);
		truncate_payload((struct rte_mbuf *)m, &roce);
	}
}

static void
read_scenario(const char *text, struct scenario *s)
{
	const struct scenario_override none = {0};
	struct config_error err = {.text = ""};
	struct config *cfg = config_open_text("test", text, strlen(text), &err);

	if (cfg == NULL || scenario_read(cfg, &none, s, &err) != 0)
		fail_msg("%s", err.text);
	config_close(cfg);
}

/* Run a scenario and check every frame at the end of each cable. @return frames corrupted. */
static uint64_t
run(const char *text)
{
	const struct topology *t;
	struct scenario s = {0};
	struct probe *probe;
	uint64_t corrupted = 0;
	char why[256] = "";

	memset(&seen, 0, sizeof(seen));
	read_scenario(text, &s);
	seen.net = net_create(&s, 1, NULL, why, sizeof(why));
	if (seen.net == NULL)
		fail_msg("%s", why);
	t = s.topology;
	for (uint32_t i = 0; i < t->n_links; i++) {
		const struct topology_end ends[] = {t->links[i].a, t->links[i].b};

		for (unsigned int k = 0; k < 2; k++)
			assert_int_equal(fabric_tap(net_fabric(seen.net),
						    (struct fabric_end){ends[k].node, ends[k].port},
						    (struct cable_tap){NULL, NULL},
						    (struct cable_tap){on_arrival, NULL}),
					 0);
	}
	probe = probe_create(seen.net);
	assert_true(probe_run(probe, NULL, NULL, NULL, NULL));
	for (uint32_t i = 0; i < t->n_links; i++) {
		const struct topology_end ends[] = {t->links[i].a, t->links[i].b};

		for (unsigned int k = 0; k < 2; k++)
			corrupted += net_cable_stats(seen.net, ends[k]).corrupted;
	}
	probe_destroy(probe);
	net_destroy(seen.net);
	scenario_free(&s);
	return corrupted;
}

#define NIC "[nic]\nlocal_ack_timeout = 5\n[wred]\nKmin = 5KB\nKmax = 200KB\n"

TEST(every_verb_over_routers_is_known)
{
	uint64_t corrupted =
		run("[fabric]\ntopology = leaf_spine\nleaves = 2\nspines = 2\nhosts = 4\n"
		    "link_rate_bps = 10G\nduration_ns = 2ms\nsample_ns = 100us\n" NIC
		    "[flow write]\nsrc = 1-3\ndst = 4\nmessage_size = uniform\n"
		    "message_min_bytes = 0\nmessage_bytes = 5KB\n"
		    "[flow imm]\nsrc = 1\ndst = 4\nverb = write_imm\nmessage_bytes = 1023\n"
		    "[flow send]\nsrc = 2\ndst = 4\nverb = send\nmessage_bytes = 2049\n"
		    "[flow read]\nsrc = 3\ndst = 2\nverb = read\nmessage_bytes = 4001\n"
		    "[flow ud]\nsrc = 4\ndst = 1\nverb = ud_send\nmessage_bytes = 77\n");

	assert_int_equal(corrupted, 0);
	assert_true(seen.known > 1000 && seen.read > 0 && seen.spoilt > 1000);
	assert_true(seen.known_wrong == 0 && seen.read_wrong == 0);
	/* All data is known; ACKs and CNPs are not, and have no payload. */
	for (unsigned int op = 0; op < 256; op++)
		if (seen.opcodes[op] > 0)
			assert_true(op != RC_ACK && op != ROCE_CNP);
	assert_true(seen.opcodes[RC_WRITE_FIRST] > 0 && seen.opcodes[RC_WRITE_MIDDLE] > 0 &&
		    seen.opcodes[RC_WRITE_LAST] > 0 && seen.opcodes[RC_WRITE_ONLY] > 0 &&
		    seen.opcodes[RC_WRITE_ONLY_IMM] > 0 && seen.opcodes[RC_SEND_LAST] > 0 &&
		    seen.opcodes[RC_READ_REQUEST] > 0 && seen.opcodes[RC_READ_RESP_FIRST] > 0 &&
		    seen.opcodes[RC_READ_RESP_LAST] > 0 && seen.opcodes[UD_SEND_ONLY] > 0);
	assert_true(seen.lengths[1024] > 0 && seen.lengths[1023] > 0 && seen.lengths[1] > 0 &&
		    seen.lengths[929] > 0 && seen.lengths[77] > 0);
}

TEST(frames_that_a_fault_touched_are_read)
{
	uint64_t corrupted = run("[fabric]\ntopology = star\nhosts = 4\nlink_rate_bps = 10G\n"
				 "duration_ns = 3ms\nsample_ns = 100us\n" NIC
				 "[flow f]\nsrc = 1-3\ndst = 4\nmessage_bytes = 10KB\n"
				 "[flow r]\nsrc = 4\ndst = 1\nverb = read\nmessage_bytes = 5001\n"
				 "[event up]\nat_ns = 10us\naction = corrupt\n"
				 "node = h1\nframe_ppb = 20000000\n"
				 "[event down]\nat_ns = 10us\naction = corrupt\n"
				 "node = h4\nframe_ppb = 20000000\n"
				 "[event lost]\nat_ns = 500us\naction = loss\n"
				 "node = h2\nframe_ppb = 20000000\n"
				 "[event late]\nat_ns = 500us\naction = reorder\n"
				 "node = h3\nframe_ppb = 50000000\n"
				 "reorder_frames = 3\ndelay_ns = 5us\n");

	assert_true(corrupted > 20);
	assert_true(seen.known > 1000 && seen.known_wrong == 0);
	/* A corrupted frame that leaves a host arrives twice. */
	assert_in_range(seen.read_wrong, corrupted - 1, 2 * corrupted);
}

/* A frame from host 1 to host 2 with the pattern as payload, in hexadecimal. */
static void
write_frame(char *hex, bool right)
{
	struct nic_payloads *p = nic_payloads_create();
	struct roce_path path = {.src_mac = {2, 0, 0, 0, 0, 1},
				 .dst_mac = {2, 0, 0, 0, 0, 2},
				 .src_ip = {10, 0, 0, 1},
				 .dst_ip = {10, 0, 0, 2},
				 .ip_version = 4,
				 .dscp = 26,
				 .ttl = 64,
				 .udp_sport = 0xC000,
				 .dest_qp = SCENARIO_FIRST_QPN,
				 .pkey = PKEY_DEFAULT};
	struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE};
	uint8_t buf[128];
	size_t n = roce_build(buf, sizeof(buf), &path, &fields, p->pattern, 32);

	assert_true(n > 0);
	buf[n - 5] ^= !right; /* the last byte of the payload */
	for (size_t i = 0; i < n; i++)
		sprintf(&hex[2 * i], "%02x", buf[i]);
	nic_payloads_destroy(p);
}

TEST(injected_frames_are_read)
{
	char text[2048], right[260], wrong[260];

	write_frame(right, true);
	write_frame(wrong, false);
	snprintf(text, sizeof(text),
		 "[fabric]\ntopology = star\nhosts = 3\nlink_rate_bps = 10G\nduration_ns = 1ms\n"
		 "sample_ns = 100us\n"
		 "[flow f]\nsrc = 3\ndst = 2\nmessage_bytes = 32\nmessages = 2000\n"
		 "[event right]\nat_ns = 100us\naction = send\nnode = h1\nframe = %s\ncount = 7\n"
		 "[event wrong]\nat_ns = 200us\naction = send\nnode = h1\nframe = %s\ncount = 5\n",
		 right, wrong);
	run(text);
	/* Each arrives at the switch and at host 2. */
	assert_int_equal(seen.read_wrong, 2 * 5);
	assert_true(seen.read >= 2 * (5 + 7));
	assert_true(seen.lengths[32] > 100 && seen.known_wrong == 0);
}

/* After a restart no address is known: frames are flooded, to hosts 3 and 4 with a tag. */
TEST(tagged_and_flooded_frames_are_checked)
{
	run("[fabric]\ntopology = star\nhosts = 4\nlink_rate_bps = 10G\nduration_ns = 1ms\n"
	    "sample_ns = 100us\n[switch]\nvlan_filtering = on\n"
	    "[event e]\nat_ns = 50us\nfor_ns = 50us\naction = switch_restart\nnode = s1\n"
	    "[link ten]\nends = h1-h2 s1\naccess_vlan = 10\n"
	    "[link twenty]\nends = h3-h4 s1\naccess_vlan = 20\ntagged_vlans = 10\n"
	    "[flow a]\nsrc = 1\ndst = 2\nverb = ud_send\nmessage_bytes = 301\n"
	    "[flow b]\nsrc = 3\ndst = 4\nmessage_bytes = 3001\n");
	assert_true(seen.known > 500 && seen.tagged > 0);
	assert_true(seen.known_wrong == 0 && seen.read_wrong == 0);
}

TEST_MAIN(.begin = start_eal)
