/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fabric is made of and what runs over it: the contents of a scenario file.
 *
 * Hosts are numbered from 1; host N has MAC 02:00:00:00:hh:ll of its number. Where switches are
 * bridges its address is 10.0.hh.ll, in one subnet, or one of the subnet of its [interface]. Where
 * they are routers, the switches with hosts have the subnets 10.0.0.0/24, 10.0.1.0/24 and on, of
 * which .1 is the switch and .2 its first host.
 */
#ifndef QUENCH_FABRIC_SCENARIO_H
#define QUENCH_FABRIC_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "fabric/scenario/fault.h"
#include "fabric/topology/routes.h"
#include "fabric/topology/topology.h"
#include "nic/measure/trace.h"
#include "nic/nic.h"
#include "nic/workload/workload.h"
#include "switch/sw.h"

enum fabric_forwarding { FABRIC_FORWARDING_AUTO, FABRIC_FORWARDING_L2, FABRIC_FORWARDING_L3 };

#define FLOW_NAME_CHARS 32
#define FLOW_HOSTS_CHARS 128
#define LINK_ENDS_CHARS 40
#define EVENT_PATH_CHARS 128
/* VLAN of hosts, unless a [link NAME] says otherwise. */
#define SCENARIO_HOST_VLAN 1
/* "NAME h12-h345" */
#define FLOW_TITLE_CHARS (FLOW_NAME_CHARS + 16)

struct fabric_params {
	int topology; /* enum topology_shape */
	uint16_t hosts;
	uint16_t switches, leaves, spines, fat_tree_k;
	uint64_t link_rate_bps, link_delay_ns;
	uint64_t core_rate_bps, core_delay_ns; /* 0: as link_ */
	int forwarding;                        /* enum fabric_forwarding */
	bool ecmp_seed_by_stage;
	uint64_t reroute_after_ns;    /* NEVER_NS: routes stay as they are */
	uint32_t backing_frame_bytes; /* 0: scenario_backing_frames() decides */
	uint64_t duration_ns;
	uint64_t measure_from_ns;
	uint64_t sample_ns;
	uint64_t seed;
	char slow_hosts[FLOW_HOSTS_CHARS + 1]; /* that [receiver] is about */
};

extern const struct field fabric_fields[];
extern const unsigned int fabric_fields_n;

enum flow_pattern {
	FLOW_TO_DST,      /* each of src to dst */
	FLOW_PERMUTATION, /* each of src to another one, by chance, so that each is sent to */
	FLOW_ALL_TO_ALL,  /* each of src to each other one */
	FLOW_RING,        /* each of src to the next one */
	FLOW_ALL_REDUCE,  /* the same, and a message waits for the one before to come in */
	FLOW_TRACE,       /* as a file says */
};

extern const char *const flow_pattern_words[];

struct flow_pair {
	uint16_t src, dst;     /* host numbers */
	uint64_t bytes, at_ns; /* of a trace: its message, and when it starts */
};

/* One [flow NAME]: for each pair of hosts, qp_count QPs that all do the same. */
struct flow_params {
	char name[FLOW_NAME_CHARS + 1];
	char src[FLOW_HOSTS_CHARS + 1]; /* a host list */
	char dst[FLOW_HOSTS_CHARS + 1];
	int pattern; /* enum flow_pattern */
	char trace[EVENT_PATH_CHARS + 1];
	uint16_t qp_count;
	uint16_t mtu_bytes;
	int verb;             /* enum nic_verb */
	int8_t dscp;          /* -1: the hosts' data_dscp */
	uint32_t max_recv_wr; /* of the responder; 0: there is always one */
	uint64_t post_recv_ns;
	WORKLOAD_EMBED;
	uint64_t rate_cap_bps; /* 0: none */
	uint64_t base_rtt_ns;  /* for slowdown; 0: the least that is measured */
	uint16_t trace_qps;    /* of each source, the first ones */
	bool stopped;          /* until an event */
	/* from scenario_resolve(); those of a trace from whoever read it */
	struct flow_pair *pairs;
	uint32_t n_pairs;
};

extern const struct field flow_fields[];
extern const unsigned int flow_fields_n;

/* One [switch NAME]. */
struct switch_section {
	char name[TOPOLOGY_NAME_CHARS + 1];
	uint16_t hosts;      /* graph */
	uint8_t stage;       /* graph */
	struct sw_params sw; /* the common ones, changed by this section */
};

extern const struct field switch_section_fields[];
extern const unsigned int switch_section_fields_n;

/* One [link NAME]. */
struct link_section {
	char name[FLOW_NAME_CHARS + 1];
	char ends[LINK_ENDS_CHARS + 1];
	uint64_t link_rate_bps, link_delay_ns; /* 0: those of the fabric */
	uint32_t frame_loss_ppb;
	uint64_t bit_errors_per_tbit;
	char wred_profile[SW_PROFILE_NAME + 1];
	uint16_t access_vlan; /* of the switch port of a host; 0: none */
	char tagged_vlans[VLAN_LIST_CHARS + 1];
};

extern const struct field link_section_fields[];
extern const unsigned int link_section_fields_n;

/* One [static_route NAME]. */
struct static_route {
	char name[FLOW_NAME_CHARS + 1];
	char at[TOPOLOGY_NAME_CHARS + 1];
	char to[TOPOLOGY_NAME_CHARS + 1];
	char via[TOPOLOGY_NAME_CHARS + 1];
};

extern const struct field static_route_fields[];
extern const unsigned int static_route_fields_n;

enum event_action {
	EVENT_LINK_DOWN,
	EVENT_LINK_UP,
	EVENT_TX_DISABLE,
	EVENT_TX_ENABLE,
	EVENT_PFC_DELAY,
	EVENT_LOSS,
	EVENT_BIT_ERRORS,
	EVENT_CORRUPT,
	EVENT_REORDER,
	EVENT_DELAY,
	EVENT_PAUSE_STORM,
	EVENT_PAUSE_STORM_END,
	EVENT_SLOW_RECEIVER,
	EVENT_SWITCH_RESTART,
	EVENT_SET,
	EVENT_SEND,
	EVENT_CLEAR_WATERMARKS,
	EVENT_CLEAR_COUNTERS,
	EVENT_DUMP,
};

/* Of a cable at a port: both ways, what leaves by the port, or what comes to it. */
enum event_direction { EVENT_BOTH, EVENT_TX, EVENT_RX };

#define EVENT_PORT_CHARS 15
#define EVENT_FRAME_CHARS 252

/* A frame to be sent, and when, from the first one on. */
struct event_frame {
	uint64_t at_ns;
	uint32_t n_bytes; /* without FCS */
	size_t offset;    /* in event_frames.bytes */
};

/* Frames of an event, owned by whoever read them. */
struct event_frames {
	struct event_frame *frames;
	uint8_t *bytes;
	uint32_t n;
};

/* What other keys make of the scenario, from a time on; owned by whoever read it. */
struct scenario_change {
	struct scenario *next; /* whole, as if the file had said it from the start */
	bool *switches;        /* by number: is anything else for it? */
	bool hosts;
};

#define EVENT_SET_CHARS 252

/* One [event NAME]. */
struct event_params {
	char name[FLOW_NAME_CHARS + 1];
	uint64_t at_ns;
	int action; /* enum event_action */
	char node[TOPOLOGY_NODE_CHARS + 1];
	char port[EVENT_PORT_CHARS + 1]; /* a number, or the name of what it leads to */
	uint64_t for_ns;                 /* 0: without end */
	int direction;                   /* enum event_direction */
	int frames;                      /* enum cable_frames */
	uint32_t frame_ppb;
	uint64_t bit_errors_per_tbit;
	uint32_t reorder_frames;
	uint64_t delay_ns;
	uint64_t drain_rate_bps;
	uint16_t quanta;
	char frame[EVENT_FRAME_CHARS + 1]; /* hexadecimal */
	char file[EVENT_PATH_CHARS + 1];
	uint32_t count;
	uint64_t rate_bps, interval_ns;
	struct event_frames send; /* of frame or file */
	char set[EVENT_SET_CHARS + 1];
	struct scenario_change begin, end; /* of set; end: for_ns later */
	/* from scenario_resolve(), unless it is about all nodes */
	struct topology_end at;
	bool everywhere;
};

extern const struct field event_fields[];
extern const unsigned int event_fields_n;
extern const char *const event_action_words[];

/* One [record NAME]: a port whose frames are written to a file. */
struct record_params {
	char name[FLOW_NAME_CHARS + 1];
	char node[TOPOLOGY_NODE_CHARS + 1];
	char port[EVENT_PORT_CHARS + 1];
	uint32_t snap_bytes;    /* 0: whole frames */
	struct topology_end at; /* from scenario_resolve() */
};

extern const struct field record_fields[];
extern const unsigned int record_fields_n;

struct scenario_host {
	struct field_ip ip;
	uint16_t domain; /* VLAN, or SW_PORT_DOMAIN and the number of a routed port; 0: none */
	bool routed;     /* behind an [interface] */
};

struct scenario {
	struct fabric_params fabric;
	struct sw_params sw;   /* of switches without a section; ports: for checks, and of a star */
	struct nic_params nic; /* of all hosts; addresses and speeds are filled in */
	struct switch_section *switches;
	struct link_section *links;
	struct static_route *static_routes;
	struct flow_params *flows;
	struct event_params *events;
	struct record_params *records;
	uint32_t n_switches, n_links, n_static_routes, n_flows, n_events, n_records;
	/* from scenario_resolve() */
	struct topology *topology;
	struct routes *routes;       /* NULL: bridges */
	struct scenario_host *hosts; /* [n - 1] is host n */
};

/** Frames that buffers and cables may hold: what each of the fabric's packet pools must have. */
uint64_t scenario_backing_frames(const struct scenario *s);

void scenario_host_mac(uint16_t host, uint8_t mac[6]);
/** Of a resolved scenario. */
struct field_ip scenario_host_ip(const struct scenario *s, uint16_t host);
uint16_t scenario_host_domain(const struct scenario *s, uint16_t host);
void scenario_router_mac(uint32_t sw, uint8_t mac[6]);
/** Where a host's frames to another one go first: the host itself, or its own router. */
void scenario_next_hop_mac(const struct scenario *s, uint16_t host, uint16_t peer, uint8_t mac[6]);

/** What results call one of its pairs. @return text. */
const char *scenario_flow_title(const struct flow_params *flow, uint32_t pair,
				char text[FLOW_TITLE_CHARS + 1]);

/** Has the action an end of its own, for_ns after its beginning? */
bool event_may_last(int action);

/**
 * Shortest paths with the static routes over them, of a scenario with a topology.
 *
 * @param down  By link, not 0: there is no way over it; NULL: all are up.
 * @return      Owned by the caller, or NULL: no memory.
 */
struct routes *scenario_routes(const struct scenario *s, const uint8_t *down);

/** The params of a switch by its section, or those of all. */
const struct sw_params *scenario_switch_params(const struct scenario *s, uint32_t sw);

/** By which a router spreads flows over equal ways; of a resolved scenario. */
uint32_t scenario_ecmp_seed(const struct scenario *s, uint32_t sw);

/**
 * The params of one switch: ports, addresses, and as a router its interfaces, routes and
 * neighbours, as an operator would write them.
 *
 * @param out  After success scenario_switch_release().
 * @return     0, -ENOSPC (more shortest paths than a route may have) or -ENOMEM.
 */
int scenario_switch_build(const struct scenario *s, uint32_t sw, struct sw_params *out);
void scenario_switch_release(const struct scenario *s, struct sw_params *params);
/** Of that the ports and what follows from them, over what params holds. */
void scenario_switch_fill(const struct scenario *s, uint32_t sw, struct sw_params *params);

/**
 * Check what no single key of fabric and flows can show, and fill in what follows for switches and
 * NICs, whose own rules (sw_params_check(), nic_params_check()) are the caller's to ask.
 * @return 0, or -EINVAL with fault filled in; scenario_release() after both.
 */
int scenario_resolve(struct scenario *s, struct scenario_fault *fault);

/** Free all that the scenario owns, but not what its workloads and events own. */
void scenario_release(struct scenario *s);

#endif
