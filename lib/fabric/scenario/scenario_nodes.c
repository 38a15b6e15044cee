/* SPDX-License-Identifier: BSD-3-Clause */
/* Params of a single host or switch: addresses, VLAN, seeds, streams. */
#include <string.h>

#include "fabric/scenario/scenario.h"
#include "wire/bytes/be.h"

/* 2^64 / golden ratio: successive seeds of runs become distant seeds of the hash. */
#define RUN_SEED_FACTOR 0x9e3779b97f4a7c15ull
/* SONiC's ECMP seeds: ToR 0, leaf 10, spine 25. Each further stage adds 15. */
#define STAGE_SEED(stage) ((stage) == 0 ? 0u : 15u * (stage)-5u)

void
scenario_host_mac(uint32_t host, uint8_t mac[6])
{
	/* The addresses of switches have 0 in the second byte and not in the fourth. */
	const uint8_t m[6] = {0x02, (uint8_t)(host >> 16), 0,
			      0,    (uint8_t)(host >> 8),  (uint8_t)host};

	memcpy(mac, m, sizeof(m));
}

uint32_t
scenario_subnet_address(const struct scenario *s, uint32_t subnet, uint32_t place)
{
	return 10u << 24 | subnet << s->host_bits | place;
}

struct field_ip
scenario_address(const struct scenario *s, uint32_t ipv4)
{
	struct field_ip ip = {.version = 4};

	if (s->fabric.ip_version == FABRIC_IPV6)
		ip = (struct field_ip){.version = 6, .addr = {0xfd}};
	be32_store(ip.addr + (ip.version == 6 ? 12 : 0), ipv4);
	return ip;
}

struct field_ip
scenario_host_ip(const struct scenario *s, uint32_t host)
{
	return s->hosts[host - 1].ip;
}

void
scenario_set_nic_ip(const struct scenario *s, uint32_t host, struct nic_params *params)
{
	struct field_ip ip = scenario_host_ip(s, host);

	*(ip.version == 6 ? &params->ip6 : &params->ip) = ip;
}

uint16_t
scenario_host_domain(const struct scenario *s, uint32_t host)
{
	return s->hosts[host - 1].domain;
}

void
scenario_next_hop_mac(const struct scenario *s, uint32_t host, uint32_t peer, uint8_t mac[6])
{
	uint32_t sw = s->topology->hosts[host - 1].sw;

	if (s->routes != NULL && s->topology->hosts[peer - 1].sw != sw)
		scenario_router_mac(sw, mac);
	else if (s->routes == NULL && s->hosts[peer - 1].domain != s->hosts[host - 1].domain)
		memcpy(mac, scenario_switch_params(s, sw)->router.router_mac, 6);
	else
		scenario_host_mac(peer, mac);
}

void
scenario_router_mac(uint32_t sw, uint8_t mac[6])
{
	const uint8_t m[6] = {0x02, 0, (uint8_t)(sw >> 8), 2, (uint8_t)sw, 0};

	memcpy(mac, m, sizeof(m));
}

const struct sw_params *
scenario_switch_params(const struct scenario *s, uint32_t sw)
{
	for (uint32_t i = 0; i < s->n_switches; i++)
		if (strcmp(s->switches[i].name, s->topology->switches[sw].name) == 0)
			return &s->switches[i].sw;
	return &s->sw;
}

uint32_t
scenario_ecmp_seed(const struct scenario *s, uint32_t sw)
{
	uint32_t seed = scenario_switch_params(s, sw)->router.ecmp_hash_seed;

	if (s->fabric.ecmp_seed_by_stage)
		seed += STAGE_SEED(s->topology->switches[sw].stage);
	/* Seed 1 of the run, its default, adds 0: then the seeds are those of SONiC. */
	return seed + (uint32_t)((s->fabric.seed - 1) * RUN_SEED_FACTOR >> 32);
}

static struct stream_ends
ends_of(const struct scenario *s, const struct stream_params *p, uint32_t host)
{
	static const uint8_t none[6];
	struct stream_ends ends = {.src_ip = scenario_host_ip(s, host),
				   .dst_ip = scenario_host_ip(s, p->to)};

	scenario_host_mac(host, ends.src_mac);
	memcpy(ends.dst_mac, p->dst_mac, 6);
	if (memcmp(ends.dst_mac, none, 6) == 0)
		scenario_next_hop_mac(s, host, p->to, ends.dst_mac);
	return ends;
}

static void
make_stream(const struct scenario *s, const struct stream_params *p, uint32_t host,
	    struct tester_stream *out)
{
	const struct topology_link *link = &s->topology->links[s->topology->hosts[host - 1].link];
	const struct stream_ends ends = ends_of(s, p, host);

	*out = (struct tester_stream){
		.udp_sports = p->udp_sports,
		/* With link pause, priority 0 stands for the link. */
		.prio = s->nic.flow_control == NIC_FLOW_PAUSE ? 0 : stream_class(p, &s->nic.qos).pg,
		.obey_pause = p->obey_pause,
		.rate_bps = p->rate_bps > 0 ? p->rate_bps : link->cable.rate_bps,
		.start_ns = p->start_ns,
		.stop_ns = p->stop_ns,
		.count = p->count,
	};
	stream_template(p, &ends, out);
}

uint32_t
scenario_streams_of(const struct scenario *s, uint32_t host, struct tester_stream *out)
{
	uint32_t index = 0, n = 0;

	for (uint32_t i = 0; i < s->n_streams; i++)
		for (uint32_t k = 0; k < s->streams[i].n_from; k++, index++) {
			if (s->streams[i].from[k] != host)
				continue;
			if (out != NULL) {
				make_stream(s, &s->streams[i], host, &out[n]);
				out[n].index = index;
			}
			n++;
		}
	return n;
}

bool
scenario_is_tester(const struct scenario *s, uint32_t host)
{
	for (uint32_t i = 0; i < s->n_streams; i++)
		if (s->streams[i].to == host)
			return true;
	return scenario_streams_of(s, host, NULL) > 0;
}
