/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of ours for other programs to judge: make_frames FRAMES.pcap FRAMES.json
 *
 * The pcap file holds every opcode that we build, over IPv4 and IPv6, tagged and untagged, from the
 * builder and from a template, some marked CE; then PFC and PAUSE. The JSON file says on one line
 * for each frame what it was meant to be.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "wire/frame/ecn.h"
#include "wire/link/pfc_frame.h"
#include "wire/roce/roce.h"

#define ROOM 4352u

struct output {
	FILE *pcap, *json;
};

struct kind {
	const char *name;
	struct roce_fields fields;
	uint16_t payload_bytes;
	bool stamped; /* can be made from a template too */
};

#define RETH .reth_va = 0x7f0012345678, .reth_rkey = 0x9abcdef0, .reth_dma_bytes = 123456

static const struct kind kinds[] = {
	{"send_first", {.opcode = RC_SEND_FIRST, .migreq = true, .psn = 1}, 1024, true},
	{"send_middle", {.opcode = RC_SEND_MIDDLE, .migreq = true, .psn = 2}, 256, true},
	{"send_last", {.opcode = RC_SEND_LAST, .ack_req = true, .psn = 3}, 1, true},
	{"send_last_imm",
	 {.opcode = RC_SEND_LAST_IMM, .solicited = true, .psn = 4, .imm = 0xdeadbeef},
	 2,
	 true},
	{"send_only", {.opcode = RC_SEND_ONLY, .psn = 0xFFFFFF}, 3, true},
	{"send_only_empty", {.opcode = RC_SEND_ONLY, .psn = 0x800000}, 0, true},
	{"send_only_imm", {.opcode = RC_SEND_ONLY_IMM, .psn = 5, .imm = 1}, 77, true},
	{"write_first", {.opcode = RC_WRITE_FIRST, .migreq = true, .psn = 6, RETH}, 4096, true},
	{"write_middle", {.opcode = RC_WRITE_MIDDLE, .migreq = true, .psn = 7}, 4096, true},
	{"write_last", {.opcode = RC_WRITE_LAST, .ack_req = true, .psn = 8}, 512, true},
	{"write_last_imm", {.opcode = RC_WRITE_LAST_IMM, .psn = 9, .imm = 0x01020304}, 5, true},
	{"write_only", {.opcode = RC_WRITE_ONLY, .ack_req = true, .psn = 10, RETH}, 1023, true},
	{"write_only_imm",
	 {.opcode = RC_WRITE_ONLY_IMM, .ack_req = true, .psn = 11, RETH, .imm = 0xFFFFFFFF},
	 64,
	 true},
	{"read_request", {.opcode = RC_READ_REQUEST, .ack_req = true, .psn = 12, RETH}, 0, false},
	{"read_resp_first",
	 {.opcode = RC_READ_RESP_FIRST, .psn = 13, .aeth_syndrome = AETH_ACK, .aeth_msn = 7},
	 1024,
	 true},
	{"read_resp_middle", {.opcode = RC_READ_RESP_MIDDLE, .psn = 14}, 1024, true},
	{"read_resp_last",
	 {.opcode = RC_READ_RESP_LAST, .psn = 15, .aeth_syndrome = AETH_ACK, .aeth_msn = 8},
	 9,
	 true},
	{"read_resp_only",
	 {.opcode = RC_READ_RESP_ONLY, .psn = 16, .aeth_syndrome = AETH_ACK, .aeth_msn = 9},
	 0,
	 true},
	{"ack",
	 {.opcode = RC_ACK,
	  .migreq = true,
	  .psn = 17,
	  .aeth_syndrome = AETH_ACK,
	  .aeth_msn = 0xABCDEF},
	 0,
	 false},
	{"nak_psn_sequence",
	 {.opcode = RC_ACK, .psn = 18, .aeth_syndrome = AETH_NAK_PSN_SEQ, .aeth_msn = 1},
	 0,
	 false},
	{"ud_send_only",
	 {.opcode = UD_SEND_ONLY, .psn = 19, .deth_qkey = 0x80010000, .deth_src_qp = 0x123456},
	 32,
	 false},
	{"ud_send_only_imm",
	 {.opcode = UD_SEND_ONLY_IMM,
	  .psn = 20,
	  .deth_qkey = 0x11111111,
	  .deth_src_qp = 2,
	  .imm = 3},
	 31,
	 false},
	{"cnp", {.opcode = ROCE_CNP, .becn = true}, 0, false},
};

static const uint8_t macs[2][6] = {{0x02, 0, 0, 0, 0, 0x0A}, {0x02, 0, 0, 0, 0, 0x0B}};
static uint8_t pattern[ROOM];

static void
put(const struct output *out, const uint8_t *frame, size_t len)
{
	const uint32_t header[4] = {0, 0, (uint32_t)len, (uint32_t)len};

	fwrite(header, sizeof(header), 1, out->pcap);
	fwrite(frame, 1, len, out->pcap);
}

static void
start_pcap(FILE *pcap)
{
	/* Microseconds, version 2.4, Ethernet; readers take the byte order from the first word. */
	const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, accuracy, snap, link;
	} header = {0xa1b2c3d4, 2, 4, 0, 0, 65535, 1};

	fwrite(&header, sizeof(header), 1, pcap);
}

static void
make_path(struct roce_path *path, unsigned int ip_version, bool tagged, bool cnp)
{
	static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};

	memset(path, 0, sizeof(*path));
	memcpy(path->src_mac, macs[0], 6);
	memcpy(path->dst_mac, macs[1], 6);
	memcpy(path->src_ip, ip_version == 4 ? (const uint8_t[16]){10, 0, 0, 1} : v6, 16);
	memcpy(path->dst_ip, ip_version == 4 ? (const uint8_t[16]){10, 0, 0, 2} : v6, 16);
	path->dst_ip[ip_version == 4 ? 3 : 15] = 2;
	path->ip_version = (uint8_t)ip_version;
	path->tagged = tagged;
	path->vlan_tci = 3 << 13 | 100;
	path->dscp = cnp ? 48 : 26;
	path->ecn = ECN_ECT0;
	path->ttl = 64;
	path->dest_qp = 0x22;
	path->flow_label = roce_flow_label(0x11, 0x22);
	path->udp_sport = roce_udp_sport(path->flow_label);
	path->pkey = PKEY_DEFAULT;
}

static void
describe(const struct output *out, const char *maker, const struct kind *k,
	 const struct roce_path *p, unsigned int ecn)
{
	const struct roce_fields *f = &k->fields;

	fprintf(out->json,
		"{\"name\": \"%s_ipv%u%s_%s\", \"kind\": \"roce\", \"ip_version\": %u, "
		"\"tagged\": %d, \"vlan_tci\": %u, \"dscp\": %u, \"ecn\": %u, \"udp_sport\": %u, "
		"\"opcode\": %u, \"dest_qp\": %u, \"psn\": %u, \"pkey\": %u, \"ack_req\": %d, "
		"\"solicited\": %d, \"migreq\": %d, \"becn\": %d, \"pad\": %u, \"payload_bytes\": "
		"%u, "
		"\"reth_va\": %" PRIu64 ", \"reth_rkey\": %u, \"reth_dma_bytes\": %u, "
		"\"aeth_syndrome\": %u, \"aeth_msn\": %u, \"deth_qkey\": %u, \"deth_src_qp\": %u, "
		"\"imm\": %u}\n",
		k->name, p->ip_version, p->tagged ? "_tagged" : "", maker, p->ip_version, p->tagged,
		p->vlan_tci, p->dscp, ecn, p->udp_sport, f->opcode, p->dest_qp, f->psn, p->pkey,
		f->ack_req, f->solicited, f->migreq, f->becn, -k->payload_bytes & 3u,
		k->payload_bytes, f->reth_va, f->reth_rkey, f->reth_dma_bytes, f->aeth_syndrome,
		f->aeth_msn, f->deth_qkey, f->deth_src_qp, f->imm);
}

static void
make_built(const struct output *out, const struct kind *k, const struct roce_path *p)
{
	struct roce_fields fields = k->fields;
	uint8_t buf[ROOM];
	size_t len;

	fields.ip_id = 0x1234;
	len = roce_build(buf, sizeof(buf), p, &fields, pattern, k->payload_bytes);
	put(out, buf, len);
	describe(out, "built", k, p, p->ecn);
	/* The same after a switch marked it. */
	ecn_set_ce(buf + (p->tagged ? 18 : 14), p->ip_version);
	put(out, buf, len);
	describe(out, "marked", k, p, ECN_CE);
}

static void
make_stamped(const struct output *out, const struct kind *k, const struct roce_path *p)
{
	static struct roce_payload payload;
	static struct roce_template template;
	struct roce_ends ends = roce_path_ends(p);
	uint8_t buf[ROOM], *at = buf + ROCE_MAX_HDR_BYTES;
	unsigned int hdr;

	memcpy(at, pattern, k->payload_bytes);
	roce_payload_init(&payload, at, k->payload_bytes);
	roce_template_init(&template, p);
	hdr = roce_template_stamp(&template, &ends, &payload, &k->fields, at);
	put(out, at - hdr, (size_t)hdr + k->payload_bytes + payload.pad + ICRC_BYTES);
	describe(out, "stamped", k, p, p->ecn);
}

static void
make_roce(const struct output *out)
{
	for (unsigned int i = 0; i < 4; i++) {
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
			struct roce_path path;

			make_path(&path, i & 1 ? 6 : 4, i & 2, kinds[k].fields.opcode == ROCE_CNP);
			make_built(out, &kinds[k], &path);
			if (kinds[k].stamped)
				make_stamped(out, &kinds[k], &path);
		}
	}
}

static void
make_pfc(const struct output *out, const char *name, uint8_t enable, const uint16_t quanta[8])
{
	uint8_t buf[PFC_FRAME_BYTES];

	pfc_frame_build(buf, macs[0], enable, quanta);
	put(out, buf, sizeof(buf));
	fprintf(out->json, "{\"name\": \"%s\", \"kind\": \"pfc\", \"enable\": %u, \"quanta\": [",
		name, enable);
	for (unsigned int prio = 0; prio < 8; prio++)
		fprintf(out->json, "%s%u", prio ? ", " : "", enable >> prio & 1 ? quanta[prio] : 0);
	fprintf(out->json, "]}\n");
}

static void
make_mac_control(const struct output *out)
{
	static const uint16_t all[8] = {0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF,
					0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF};
	static const uint16_t none[8], mix[8] = {1, 22, 333, 4444, 55555, 6, 77, 888};
	uint8_t buf[PFC_FRAME_BYTES];

	make_pfc(out, "xoff_prio3", 1 << 3, all);
	make_pfc(out, "xon_prio3", 1 << 3, none);
	make_pfc(out, "xoff_all", 0xFF, all);
	make_pfc(out, "mixed", 0xA5, mix);
	pause_frame_build(buf, macs[0], 0xFFFF);
	put(out, buf, sizeof(buf));
	fprintf(out->json, "{\"name\": \"pause\", \"kind\": \"pause\", \"quanta\": [65535]}\n");
}

int
main(int argc, char **argv)
{
	struct output out;
	int bad;

	if (argc != 3) {
		fprintf(stderr, "usage: %s FRAMES.pcap FRAMES.json\n", argv[0]);
		return 2;
	}
	out.pcap = fopen(argv[1], "wb");
	out.json = fopen(argv[2], "w");
	if (out.pcap == NULL || out.json == NULL) {
		perror(out.pcap == NULL ? argv[1] : argv[2]);
		return 1;
	}
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 31 + (i >> 8));
	start_pcap(out.pcap);
	make_roce(&out);
	make_mac_control(&out);
	bad = ferror(out.pcap) | ferror(out.json);
	bad |= fclose(out.pcap);
	bad |= fclose(out.json);
	return bad ? 1 : 0;
}
