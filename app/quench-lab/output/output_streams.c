/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of raw frames: what was sent, and what has arrived. */
#include <inttypes.h>
#include <string.h>

#include "runtime/report/report.h"
#include "quench-lab/output/output.h"

struct stream_row {
	const struct stream_params *params;
	uint32_t src;
	const struct tester_stats *sent;
	uint64_t received;
};

static const char *
host_name(uint32_t host, char text[16])
{
	snprintf(text, 16, "h%u", host);
	return text;
}

/* Call visit for each stream, in the order of the file. */
static void
each_stream(const struct lab_run *run, void (*visit)(void *arg, const struct stream_row *row),
	    void *arg)
{
	const struct scenario *s = run->scenario;
	uint32_t index = 0;
	uint32_t of_host[TOPOLOGY_MAX_HOSTS + 1];

	memset(of_host, 0, (s->topology->n_hosts + 1u) * sizeof(of_host[0]));
	for (uint32_t i = 0; i < s->n_streams; i++)
		for (uint32_t k = 0; k < s->streams[i].n_from; k++, index++) {
			uint32_t src = s->streams[i].from[k];
			const struct stream_row row = {
				.params = &s->streams[i],
				.src = src,
				.sent = tester_sent(net_tester(run->net, src), of_host[src]++),
				.received = tester_received(net_tester(run->net, s->streams[i].to),
							    index),
			};

			visit(arg, &row);
		}
}

/* row is NULL with names_only. */
static void
walk_row(void *walk, const struct stream_row *row)
{
	struct walk *w = walk;
	char name[16];

	walk_item(w, "streams");
	w->object = "stream";
	WALK(text, w, KEY, "name", "name of the stream", row->params->name);
	WALK(text, w, KEY, "src", "the sending host", host_name(row->src, name));
	WALK(text, w, KEY, "dst", "the receiving host", host_name(row->params->to, name));
	WALK(number, w, COUNTER, "tx_packets", "frames sent", row->sent->tx_packets);
	WALK(number, w, COUNTER, "tx_wire_bytes", "their bytes on the wire", row->sent->tx_bytes);
	WALK(number, w, COUNTER, "rx_packets", "frames that arrived", row->received);
	WALK(number, w, COUNTER, "held_ns",
	     "time that frames waited beyond the time between two of them", row->sent->held_ns);
	WALK(number, w, COUNTER, "no_mbuf", "frames not sent because no mbuf was free",
	     row->sent->no_mbuf);
	walk_leave(w);
}

void
output_walk_streams(struct walk *w, const struct lab_run *run)
{
	walk_list(w, "streams");
	if (w->names_only)
		walk_row(w, NULL);
	else
		each_stream(run, walk_row, w);
}

static void
print_row(void *arg, const struct stream_row *row)
{
	fprintf(arg, "%-26s %s h%u to h%u: %" PRIu64 " frames sent, %" PRIu64 " arrived\n",
		"stream", row->params->name, row->src, row->params->to, row->sent->tx_packets,
		row->received);
}

void
output_streams_table(FILE *out, const struct lab_run *run)
{
	each_stream(run, print_row, out);
}
