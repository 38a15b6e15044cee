/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of raw frames: what was sent, and what has arrived. */
#include <inttypes.h>

#include "runtime/report/report.h"
#include "quench-lab/output/output.h"

struct stream_row {
	const struct stream_params *params;
	uint16_t src;
	const struct tester_stats *sent;
	uint64_t received;
};

/* Call visit for each stream, in the order of the file. */
static void
each_stream(const struct lab_run *run, void (*visit)(void *arg, const struct stream_row *row),
	    void *arg)
{
	const struct scenario *s = run->scenario;
	uint32_t index = 0;
	uint32_t of_host[TOPOLOGY_MAX_HOSTS + 1] = {0};

	for (uint32_t i = 0; i < s->n_streams; i++)
		for (uint32_t k = 0; k < s->streams[i].n_from; k++, index++) {
			uint16_t src = s->streams[i].from[k];
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

static void
add_object(void *arg, const struct stream_row *row)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(row->params->name));
	json_object_set_new(o, "src", json_sprintf("h%u", row->src));
	json_object_set_new(o, "dst", json_sprintf("h%u", row->params->to));
	report_set_u64(o, "tx_packets", row->sent->tx_packets);
	report_set_u64(o, "tx_wire_bytes", row->sent->tx_bytes);
	report_set_u64(o, "rx_packets", row->received);
	report_set_u64(o, "held_ns", row->sent->held_ns);
	report_set_u64(o, "no_mbuf", row->sent->no_mbuf);
	json_array_append_new(arg, o);
}

json_t *
output_streams(const struct lab_run *run)
{
	json_t *list = json_array();

	each_stream(run, add_object, list);
	return list;
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
