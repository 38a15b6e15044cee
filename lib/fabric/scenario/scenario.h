/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents of a scenario file: the nodes of a fabric, and the traffic on it.
 *
 * Hosts are numbered from 1; host N has MAC 02:uu:00:00:hh:ll, where uuhhll is N. With bridges, its
 * address is 10.uu.hh.ll in one common subnet, or an address of its [interface]'s subnet. With
 * routers, the switches that have hosts get the subnets 10.0.0.0/24, 10.0.1.0/24 and so on (/23
 * or /22 if one of them has more than 253 hosts), in
 * which .1 is the switch and .2 its first host. With ip_version = 6, addresses are those of IPv4
 * after fd00::/96, and prefixes are 96 bits longer.
 */
#ifndef QUENCH_FABRIC_SCENARIO_SCENARIO_H
#define QUENCH_FABRIC_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "fabric/tester/stream.h"
#include "fabric/topology/topology_routes.h"
#include "fabric/topology/topology.h"
#include "nic/jobs/job_keys.h"
#include "nic/measure/trace.h"
#include "nic/nic.h"
#include "nic/workload/flow_order.h"
#include "nic/workload/open_loop.h"
#include "nic/workload/workload.h"
#include "switch/sw.h"

/* Error found by a rule across keys: section, key, and what was expected. */
struct scenario_fault {
	char section[64];
	const char *key;
	char expected[320];
};

/** Fill in fault. @return -EINVAL. */
int scenario_refuse(struct scenario_fault *fault, const char *word, const char *name,
		    const char *key, const char *expected);

enum fabric_forwarding { FABRIC_FORWARDING_AUTO, FABRIC_FORWARDING_L2, FABRIC_FORWARDING_L3 };

enum fabric_ip_version { FABRIC_IPV4, FABRIC_IPV6 };

#define FLOW_NAME_CHARS 32
#define FLOW_HOSTS_CHARS 1023
#define LINK_ENDS_CHARS 40
#define EVENT_PATH_CHARS 128
/* Edges of the buckets of message sizes in results. */
#define SCENARIO_MAX_EDGES 15u
/* NICs of a server. */
#define SCENARIO_MAX_NICS 64u
/* VLAN of hosts, unless a [link NAME] overrides it. */
#define SCENARIO_HOST_VLAN 1
/* First QPN of every host: low numbers are reserved (in InfiniBand, 0 and 1 are management QPs). */
#define SCENARIO_FIRST_QPN 0x100u
/* "NAME h12-h345" */
#define FLOW_TITLE_CHARS (FLOW_NAME_CHARS + 16)

struct fabric_params {
	int topology; /* enum topology_shape */
	uint32_t hosts;
	uint16_t switches, leaves, spines, fat_tree_k, groups;
	uint16_t nics_per_server;
	uint64_t server_rate_bps, server_delay_ns;
	uint64_t signal_delay_ns; /* from the end of a flow to the start of one that waits for it */
	uint64_t link_rate_bps, link_delay_ns;
	uint64_t core_rate_bps, core_delay_ns; /* 0: as link_rate_bps, link_delay_ns */
	int forwarding;                        /* enum fabric_forwarding */
	int ip_version;                        /* enum fabric_ip_version */
	bool ecmp_seed_by_stage;
	uint64_t reroute_after_ns;    /* NEVER_NS: routes do not change */
	uint32_t backing_frame_bytes; /* 0: chosen by scenario_backing_frames() */
	uint64_t duration_ns;
	uint64_t measure_from_ns;
	uint64_t fluid_ns; /* the fluid model beside packets: simulated time; 0: off */
	uint64_t sample_ns;
	bool messages_csv;
	uint32_t flow_rows; /* flows with rows in results.json and the CSV files */
	char size_edges[FLOW_HOSTS_CHARS + 1]; /* "none": equal shares */
	/* from size_edges, by scenario_resolve() */
	uint64_t edges[SCENARIO_MAX_EDGES];
	uint32_t n_edges;
	uint64_t seed;
	char slow_hosts[FLOW_HOSTS_CHARS + 1]; /* to which [receiver] applies */
};

FIELD_TABLE(fabric_fields);

enum flow_pattern {
	FLOW_TO_DST,      /* each of src to dst */
	FLOW_PERMUTATION, /* each of src to a random other one, such that each receives from one */
	FLOW_ALL_TO_ALL,  /* each of src to every other one */
	FLOW_RING,        /* each of src to the next one */
	FLOW_TRACE,       /* from a file */
	FLOW_JOB,         /* no word of a file stands for it: of a [job NAME] */
};

struct flow_pair {
	uint32_t src, dst;     /* host numbers */
	uint32_t from, to;     /* of a job: ranks */
	uint64_t bytes, at_ns; /* of a trace: its message and start time */
	/* of a large trace, and of READs with a QP per message: its messages; bytes is then the
	 * largest, at_ns the first start */
	uint32_t first_message, n_messages;
	/* of other flows with a QP per message: the QPs that share its messages, and the number
	 * from which these are drawn; all_drawn: no QP is used twice */
	uint32_t n_qps, first_qpn;
	bool all_drawn;
};

enum flow_qp_per_message {
	FLOW_QP_PER_MESSAGE_AUTO,
	FLOW_QP_PER_MESSAGE_ON,
	FLOW_QP_PER_MESSAGE_OFF
};

/* Most messages of a trace, and most QPs of a flow whose messages have QPs of their own. */
#define FLOW_MOST_MESSAGES 1000000u
/* Most QPs that share the messages of a pair of hosts. */
#define FLOW_MOST_SHARED 64u

/* Results of a larger trace have a row for each pair of hosts instead of each message. */
#define TRACE_MOST_ROWS 4096u

/* A message that has QPs of its own: of a large trace, or of an open loop. */
struct flow_message {
	uint32_t src, dst;
	uint32_t row;   /* of a trace: its number in the file, from 0 on */
	uint32_t parts; /* equal messages of the same QP: it has more than WORKLOAD_MAX_BYTES */
	uint32_t bytes; /* of each part */
	uint64_t at_ns;
};

/* One [flow NAME]: qp_count identical QPs for each pair of hosts. */
struct flow_params {
	char name[FLOW_NAME_CHARS + 1];
	char src[FLOW_HOSTS_CHARS + 1]; /* a host list */
	char dst[FLOW_HOSTS_CHARS + 1];
	int pattern; /* enum flow_pattern */
	char trace[EVENT_PATH_CHARS + 1];
	uint16_t qp_count;
	int qp_per_message; /* enum flow_qp_per_message */
	uint16_t mtu_bytes;
	int verb; /* enum nic_verb */
	bool imm_timestamp;
	int8_t dscp;          /* -1: data_dscp of the hosts */
	int cc;               /* a choice (cc.h); 0: that of the sending host */
	uint32_t max_recv_wr; /* of the responder; 0: unlimited */
	uint64_t post_recv_ns;
	WORKLOAD_EMBED;
	uint32_t load_ppm;     /* of the host's link, over all its QPs here; 0: load_bps */
	uint64_t rate_cap_bps; /* 0: none */
	uint16_t trace_qps;    /* traced QPs of each source, the first ones */
	bool stopped;          /* until an event changes it */
	char after[FLOW_HOSTS_CHARS + 1];     /* names of flows; "none" */
	char barrier[FLOW_BARRIER_CHARS + 1]; /* "none" */
	/* set by scenario_resolve(); for a trace by its reader */
	struct flow_pair *pairs;
	uint32_t n_pairs;
	bool shares_qps; /* QP per message: n_qps of each pair */
	/* of a large trace and of READs with a QP per message, by pair; else NULL */
	struct flow_message *messages_of_pairs;
	uint32_t n_messages;
	/* of a trace: the earlier message, counted from 1, whose end each message of the file waits
	 * for; 0: none. NULL: no message waits */
	uint32_t *trace_after;
	const struct job_section *job; /* FLOW_JOB */
};

FIELD_TABLE(flow_fields);

/*
 * One [job NAME]. Its messages are a flow of its name, with a pair for each rank that sends to
 * another.
 */
struct job_section {
	char name[FLOW_NAME_CHARS + 1];
	char ranks[FLOW_HOSTS_CHARS + 1]; /* a host list: rank 0 is on its first host */
	uint16_t ranks_per_server;        /* 0: one on each host of the list */
	char rank_nics[JOB_RANKS_CHARS + 1];
	bool pxn;
	JOB_KEYS_EMBED;
	struct job_graph graph; /* from goal, by its reader; else set by scenario_resolve() */
	/* set by scenario_resolve() */
	uint32_t *hosts;  /* by rank */
	bool shares_nics; /* several ranks are on one host */
	struct collective_servers
		servers; /* that have ranks, in order; n is 0: they do not matter */
};

FIELD_TABLE(job_section_fields);

/* One [host NAME]: keys of some hosts. */
struct host_section {
	char name[FLOW_NAME_CHARS + 1];
	char hosts[FLOW_HOSTS_CHARS + 1]; /* a host list */
	int cc;                           /* a choice (cc.h); 0: that of [nic] */
};

FIELD_TABLE(host_section_fields);

/* One [switch NAME]. */
struct switch_section {
	char name[TOPOLOGY_NAME_CHARS + 1];
	uint16_t hosts;      /* graph */
	uint8_t stage;       /* graph */
	struct sw_params sw; /* the common params, with the changes of this section */
};

FIELD_TABLE(switch_section_fields);

/* One [link NAME]. */
struct link_section {
	char name[FLOW_NAME_CHARS + 1];
	char ends[LINK_ENDS_CHARS + 1];
	uint64_t link_rate_bps, link_delay_ns; /* 0: as in [fabric] */
	uint32_t frame_loss_ppb;
	uint64_t bit_errors_per_tbit;
	char wred_profile[SW_PROFILE_NAME + 1];
	uint16_t access_vlan; /* of a host's switch port; 0: none */
	char tagged_vlans[VLAN_LIST_CHARS + 1];
};

FIELD_TABLE(link_section_fields);

#define SCENARIO_EVERY_PORT UINT16_MAX

/*
 * One [port N], [switch NAME port] or the like: keys of some ports, which override those of the
 * sections before it.
 */
struct port_section {
	char name[TOPOLOGY_NAME_CHARS + 20]; /* as in a file */
	char sw[TOPOLOGY_NAME_CHARS + 1];    /* "": of every switch */
	uint16_t port;                       /* or SCENARIO_EVERY_PORT */
	uint64_t given;                      /* rows of sw_port_fields whose values apply */
	struct sw_port_params keys;
};

/* One [static_route NAME]. */
struct static_route {
	char name[FLOW_NAME_CHARS + 1];
	char at[TOPOLOGY_NAME_CHARS + 1];
	char to[TOPOLOGY_NAME_CHARS + 1];
	char via[TOPOLOGY_NAME_CHARS + 1];
};

FIELD_TABLE(static_route_fields);

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

/*
 * Direction of a cable at a port: both, frames that leave by the port, or frames that arrive there.
 */
enum event_direction { EVENT_BOTH, EVENT_TX, EVENT_RX };

#define EVENT_PORT_CHARS 15
#define EVENT_FRAME_CHARS 252

/* A frame to send, and its time after the first one. */
struct event_frame {
	uint64_t at_ns;
	uint32_t n_bytes; /* without FCS */
	size_t offset;    /* in event_frames.bytes */
};

/* Frames of an event, owned by the code that read them. */
struct event_frames {
	struct event_frame *frames;
	uint8_t *bytes;
	uint32_t n;
};

/* The scenario after a set event, owned by the code that read it. */
struct scenario_change {
	struct scenario *next; /* complete, as if the file had these values from the start */
	bool *switches;        /* by number: does this switch change? */
	bool hosts;
};

#define EVENT_SET_CHARS 252

/* One [event NAME]. */
struct event_params {
	char name[FLOW_NAME_CHARS + 1];
	uint64_t at_ns;
	int action; /* enum event_action */
	char node[TOPOLOGY_NODE_CHARS + 1];
	char port[EVENT_PORT_CHARS + 1]; /* a number, or the name of the node at its other end */
	uint64_t for_ns;                 /* 0: unlimited */
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
	struct event_frames send; /* from frame or file */
	char set[EVENT_SET_CHARS + 1];
	struct scenario_change begin, end; /* for set; end applies for_ns later */
	/* set by scenario_resolve(), unless the event is for all nodes */
	struct topology_end at;
	bool everywhere;
};

FIELD_TABLE(event_fields);
extern const char *const event_action_words[];

/* One [record NAME]: a port whose frames are written to a file. */
struct record_params {
	char name[FLOW_NAME_CHARS + 1];
	char node[TOPOLOGY_NODE_CHARS + 1];
	char port[EVENT_PORT_CHARS + 1];
	uint32_t snap_bytes;    /* 0: whole frames */
	struct topology_end at; /* from scenario_resolve() */
};

FIELD_TABLE(record_fields);

struct scenario_host {
	struct field_ip ip;
	uint16_t domain; /* VLAN, or SW_PORT_DOMAIN + the number of a routed port; 0: none */
	bool routed;     /* in the subnet of an [interface] */
	uint8_t cc;      /* a choice (cc.h), from a [host NAME] */
};

struct scenario {
	/* That a set event changes to this one. Its jobs share their graphs with it. NULL: none */
	const struct scenario *before;
	struct fabric_params fabric;
	/* for switches without a section; ports: used for checks, and by a star */
	struct sw_params sw;
	struct nic_params nic; /* for all hosts; addresses and speeds are filled in per host */
	struct host_section *host_sections;
	struct switch_section *switches;
	struct port_section *ports; /* from the most general to the most specific */
	struct link_section *links;
	struct static_route *static_routes;
	struct flow_params *flows; /* those of sections, and after them one for each job */
	struct job_section *jobs;
	struct stream_params *streams;
	struct event_params *events;
	struct record_params *records;
	uint32_t max_switches; /* for which switches has room */
	uint32_t n_switches, n_ports, n_links, n_static_routes, n_flows, n_streams, n_events,
		n_records, n_jobs, n_flow_sections, n_host_sections;
	/* set by scenario_resolve() */
	struct flow_order order; /* of the flows of sections */
	struct topology *topology;
	struct routes *routes; /* NULL: switches are bridges */
	uint8_t host_bits;     /* routers: of an address, for the host; the rest: its subnet */
	struct scenario_host *hosts; /* [n - 1] is host n */
};

/**
 * Have room for sections of switches, all zero. Their memory is taken as it is touched: params of a
 * switch have rows for SW_MAX_PORTS ports. @return 0 or -ENOMEM.
 */
int scenario_reserve_switches(struct scenario *s, uint32_t n);

/**
 * Largest number of frames in buffers and on cables: the minimum size of each of the fabric's
 * packet pools.
 */
uint64_t scenario_backing_frames(const struct scenario *s);

void scenario_host_mac(uint32_t host, uint8_t mac[6]);
/** Address of place n in the subnet of a switch's hosts; place 1 is the router. */
uint32_t scenario_subnet_address(const struct scenario *s, uint32_t subnet, uint32_t place);
/** The address of the fabric's IP version for one of IPv4. */
struct field_ip scenario_address(const struct scenario *s, uint32_t ipv4);
/** The scenario must be resolved. */
struct field_ip scenario_host_ip(const struct scenario *s, uint32_t host);
/** Set the NIC's address of the fabric's IP version. */
void scenario_set_nic_ip(const struct scenario *s, uint32_t host, struct nic_params *params);
uint16_t scenario_host_domain(const struct scenario *s, uint32_t host);
void scenario_router_mac(uint32_t sw, uint8_t mac[6]);
/** First destination MAC of a host's frames to a peer: the peer itself, or the host's router. */
void scenario_next_hop_mac(const struct scenario *s, uint32_t host, uint32_t peer, uint8_t mac[6]);

/* Servers are numbered from 0; of a host from 1 on. */
static inline uint32_t
scenario_server_of(const struct scenario *s, uint32_t host)
{
	return (host - 1u) / s->fabric.nics_per_server;
}

static inline uint16_t
scenario_nic_of(const struct scenario *s, uint32_t host)
{
	return (uint16_t)((host - 1u) % s->fabric.nics_per_server);
}

static inline uint32_t
scenario_n_servers(const struct scenario *s)
{
	return s->topology->n_hosts / s->fabric.nics_per_server;
}

/** Are there ranks that may exchange messages inside a server? */
bool scenario_has_servers(const struct scenario *s);

/** Are both ranks on one server? */
static inline bool
scenario_is_inside(const struct scenario *s, const struct job_section *job, uint32_t rank,
		   uint32_t other)
{
	return scenario_server_of(s, job->hosts[rank]) == scenario_server_of(s, job->hosts[other]);
}

/** Does a rank send to its peer through QPs? Then the job's flow has a pair for them. */
static inline bool
scenario_is_pair(const struct scenario *s, const struct job_section *job, uint32_t rank,
		 const struct job_peer *peer)
{
	return peer->n_sends > 0 && !scenario_is_inside(s, job, rank, peer->rank);
}

/** The host that sends the data of a pair: of a READ, the one that is asked. */
uint32_t scenario_sender(const struct flow_params *flow, uint32_t pair);

/** Choice of an algorithm (cc.h) for a pair: of the flow, or of the host that sends its data. */
int scenario_cc_choice(const struct scenario *s, const struct flow_params *flow, uint32_t pair);

/** Number of pairs of hosts, over all flows. */
uint32_t scenario_flow_pairs(const struct scenario *s);

/**
 * Seed of sizes and arrivals of a host's QPs: the QPs of all hosts have the same numbers, so it
 * depends on the host.
 */
uint64_t scenario_flow_seed(const struct scenario *s, const struct flow_params *flow,
			    uint32_t host);

/** The open loops of a pair that shares QPs, of which there are qp_count. */
void scenario_open_loops(const struct scenario *s, const struct flow_params *flow,
			 const struct flow_pair *pair, struct open_loop *loops);

/** Does the flow wait for others? */
bool scenario_has_after(const struct flow_params *flow);
/** Does it send in rounds, with the other flows of its barrier? */
bool scenario_has_barrier(const struct flow_params *flow);

/** The message of a trace that QP `number` of a pair carries, counted from 0. */
uint32_t scenario_message_row(const struct flow_params *flow, uint32_t pair, uint32_t number);
/** The message, counted from 1, that a QP of a trace waits for; 0: none. */
uint32_t scenario_awaited_message(const struct flow_params *flow, uint32_t pair, uint32_t number);

/** QPs of each message of messages_of_pairs. */
uint32_t scenario_message_qps(const struct flow_params *flow);

/** QPs of one pair of the flow, at each end. */
uint32_t scenario_pair_qps(const struct flow_params *flow, uint32_t pair);

/**
 * The streams that a host sends, in the order of the file; their index counts all streams of the
 * fabric. @param out  NULL: only count. @return their number.
 */
uint32_t scenario_streams_of(const struct scenario *s, uint32_t host, struct tester_stream *out);
/** Does the host send or receive streams? */
bool scenario_is_tester(const struct scenario *s, uint32_t host);

/** Name of one pair of the flow in results. @return text. */
const char *scenario_flow_title(const struct flow_params *flow, uint32_t pair,
				char text[FLOW_TITLE_CHARS + 1]);

/** Can the action end by itself, for_ns after it begins? */
bool event_may_last(int action);

/**
 * Shortest paths, overridden by the static routes. The scenario must have a topology.
 *
 * @param down  By link, nonzero: not usable; NULL: all are up.
 * @return      Owned by the caller, or NULL: out of memory.
 */
struct routes *scenario_routes(const struct scenario *s, const uint8_t *down);

/** The params of a switch from its section, or the common ones. */
const struct sw_params *scenario_switch_params(const struct scenario *s, uint32_t sw);

/** Does a section of ports apply to this port? */
bool scenario_port_applies(const struct scenario *s, const struct port_section *section,
			   uint32_t sw, uint16_t port);

/** Seed with which a router spreads flows over equal paths. The scenario must be resolved. */
uint32_t scenario_ecmp_seed(const struct scenario *s, uint32_t sw);

/**
 * The full params of one switch: ports and addresses, and for a router its interfaces, routes and
 * neighbours, as an operator would configure them.
 *
 * @param out  On success, release it with scenario_switch_release().
 * @return     0, -ENOSPC (more shortest paths than a route can have) or -ENOMEM.
 */
int scenario_switch_build(const struct scenario *s, uint32_t sw, struct sw_params *out);
void scenario_switch_release(const struct scenario *s, struct sw_params *params);
/**
 * Lossless groups of a switch with less headroom than their links need, if peers react at once to a
 * pause (but for peer_response_ns of their ports). None, if memory is short.
 */
struct sw_short_headroom scenario_short_headroom(const struct scenario *s, uint32_t sw);
/** As sw_auto_headroom(), of a switch. No port, if memory is short. */
struct sw_auto_headroom scenario_auto_headroom(const struct scenario *s, uint32_t sw);
/** Overwrite the ports in params, and the values that follow from them. */
void scenario_switch_fill(const struct scenario *s, uint32_t sw, struct sw_params *params);

/**
 * A copy of s in which one job runs alone: other flows have their QPs and send nothing, other jobs
 * begin after the run, and there are no streams, events or recordings. s must outlive it.
 * @return 0 or -ENOMEM. Call scenario_alone_free() in both cases.
 */
int scenario_alone(const struct scenario *s, uint32_t job, struct scenario *out);
void scenario_alone_free(struct scenario *alone);

/** The job of this name in s->before; NULL: none. Of its keys, only `stopped` may differ. */
const struct job_section *scenario_job_before(const struct scenario *s,
					      const struct job_section *job);

/**
 * Check the rules across keys of fabric and flows, and fill in the params of switches and NICs that
 * follow. The caller checks the rules of those: sw_params_check(), nic_params_check().
 * @return 0, or -EINVAL with fault filled in. Call scenario_release() in both cases.
 */
int scenario_resolve(struct scenario *s, struct scenario_fault *fault);

/**
 * Free everything that the scenario owns, except the files' contents that workloads and events
 * refer to.
 */
void scenario_release(struct scenario *s);

#endif
