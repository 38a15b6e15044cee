/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/perftest/perftest_flows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/decimal.h"
#include "base/numbers/fixed.h"
#include "ctl/nic_config/nic_config.h"
#include "runtime/notice/say.h"

static int ask(struct perftest_flows *f, json_t **reply, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int
ask(struct perftest_flows *f, json_t **reply, const char *format, ...)
{
	char request[CLIENT_REQUEST_CHARS + 1];
	json_t *unread = NULL;
	va_list args;
	int rc;

	va_start(args, format);
	vsnprintf(request, sizeof(request), format, args);
	va_end(args);
	rc = client_ask(f->client, request, reply != NULL ? reply : &unread);
	json_decref(unread);
	return rc;
}

static uint64_t
number_of(const json_t *row, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(row, key));
}

/* The NIC's section as a file: the keys that differ from their defaults. @return the caller's, or
 * NULL. */
static char *
section_text(const json_t *rows)
{
	const json_t *row;
	char *text = NULL;
	size_t i, size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	fputs("[nic]\n", out);
	json_array_foreach (rows, i, row) {
		const char *section = json_string_value(json_object_get(row, "section"));
		const char *key = json_string_value(json_object_get(row, "key"));
		const char *value = json_string_value(json_object_get(row, "value"));

		if (section != NULL && key != NULL && value != NULL && strcmp(section, "nic") == 0)
			fprintf(out, "%s = %s\n", key, value);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* Read the addresses and limits of the NIC. */
static int
read_nic(struct perftest_flows *f)
{
	json_t *reply;
	int rc = ask(f, &reply, "/quench/config");
	char *text = rc == 0 ? section_text(json_object_get(reply, "rows")) : NULL;
	struct config_error err = {.text = "out of memory"};
	struct nic_config nic = {0};
	struct config *cfg = NULL;

	json_decref(reply);
	if (rc != 0)
		return rc;
	if (text != NULL)
		cfg = config_open_text("the NIC's configuration", text, strlen(text), &err);
	if (cfg == NULL || nic_config_read(cfg, NULL, &nic, &err) != 0) {
		say_error("%s", err.text);
		rc = APP_FAILED;
	}
	f->ip = nic.nic.ip;
	f->ip6 = nic.nic.ip6;
	f->max_rd_atomic = nic.nic.max_rd_atomic;
	nic_config_free(&nic);
	config_close(cfg);
	free(text);
	if (rc == 0 && f->ip.version == 0 && f->ip6.version == 0) {
		say_error(
			"[nic] ip = none: expected an address of the NIC, for a peer to reach it");
		rc = APP_BAD_USAGE;
	}
	return rc;
}

/* The number in the name of a flow of this prefix. @return false: it is another flow. */
static bool
number_in(const struct perftest_flows *f, const json_t *row, uint64_t *number)
{
	const char *name = json_string_value(json_object_get(row, "flow"));
	size_t n = strlen(f->prefix);

	return name != NULL && strncmp(name, f->prefix, n) == 0 &&
	       decimal_parse(name + n, 0, UINT32_MAX, number);
}

static bool
is_ours(const struct perftest_flows *f, const json_t *row)
{
	uint64_t number;

	if (!number_in(f, row, &number))
		return false;
	for (uint32_t i = 0; i < f->added; i++)
		if (f->numbers[i] == number)
			return true;
	return false;
}

static bool
is_gone(const json_t *row)
{
	return number_of(row, "gone") != 0;
}

static void
add_row(struct perftest_sums *s, const json_t *row)
{
	s->present += !is_gone(row);
	s->messages += number_of(row, "messages");
	s->payload_bytes += number_of(row, "payload_bytes");
	s->retransmitted_packets += number_of(row, "retransmitted_packets");
	s->cnps_handled += number_of(row, "cnps_handled");
	s->cnps_sent += number_of(row, "cnps_sent");
	s->ce_packets += number_of(row, "ce_packets");
	s->done += number_of(row, "qps_done");
	s->failed += number_of(row, "qps_failed");
	if (number_of(row, "ended_ns") > 0) {
		s->started_ns = min_u64(s->started_ns, number_of(row, "started_ns"));
		s->ended_ns = max_u64(s->ended_ns, number_of(row, "ended_ns"));
	}
}

int
perftest_flows_open(struct perftest_flows *f, struct client *c,
		    const struct perftest_options *options, bool requester)
{
	*f = (struct perftest_flows){.client = c, .options = options, .requester = requester};
	snprintf(f->prefix, sizeof(f->prefix), "%s-%s-%s-", options->flow,
		 perftest_verb_words[options->verb], requester ? "out" : "in");
	return read_nic(f);
}

int
perftest_flows_number(struct perftest_flows *f)
{
	json_t *reply;
	int rc = ask(f, &reply, "/quench/free_qpns,%u", f->options->qp_count);

	f->first_qpn = (uint32_t)number_of(reply, "local_qpn");
	json_decref(reply);
	return rc;
}

/*
 * The lowest number that no flow has, nor a removed one that is not idle yet: it would be counted
 * as ours. *row is the removed flow of this name, or NULL.
 */
static uint32_t
free_number(const struct perftest_flows *f, const json_t *rows, const json_t **row)
{
	uint32_t free = f->added == 0 ? 0 : f->numbers[f->added - 1] + 1;
	bool again;

	do {
		const json_t *at;
		uint64_t number;
		size_t i;

		again = false;
		*row = NULL;
		json_array_foreach (rows, i, at) {
			if (!number_in(f, at, &number) || number != free)
				continue;
			again = !is_gone(at) || number_of(at, "qps_ending") > 0;
			*row = at;
		}
		free += again;
	} while (again);
	return free;
}

/* Add a flow of this number. */
static int
add_numbered(struct perftest_flows *f, uint32_t number, const struct perftest_end *ours,
	     const struct perftest_end *theirs, uint16_t mtu_bytes)
{
	const struct perftest_options *o = f->options;
	char request[CLIENT_REQUEST_CHARS + 1], address[FIELD_IP_CHARS];
	char flow[sizeof(f->prefix) + 24];
	uint32_t depth = o->depth;
	size_t n = 0;

	/* A QP has at most as many READs in flight as the responder takes (IBTA 9.4.4). */
	if (o->verb == PERFTEST_READ)
		depth = (uint32_t)min_u64(depth, min_u64(f->max_rd_atomic, theirs->rd_depth));
	snprintf(flow, sizeof(flow), "flow %s%u", f->prefix, number);
	n += (size_t)snprintf(request + n, sizeof(request) - n,
			      "/quench/set,%s.peer_ip=%s\n%s.peer_qpn=%u\n%s.local_qpn=%u\n"
			      "%s.verb=%s\n%s.mtu_bytes=%u\n",
			      flow, field_ip_text(&theirs->ip, address), flow, theirs->qpn, flow,
			      ours->qpn, flow, perftest_verb_words[o->verb], flow, mtu_bytes);
	if (f->requester)
		n += (size_t)snprintf(request + n, sizeof(request) - n,
				      "%s.stopped=on\n%s.initial_psn=%u\n%s.message_bytes=%" PRIu64
				      "\n%s.messages=%u\n%s.depth=%u\n",
				      flow, flow, ours->psn, flow, o->message_bytes, flow,
				      o->duration_ns > 0 ? 0 : o->messages, flow,
				      depth < 1 ? 1 : depth);
	else
		n += (size_t)snprintf(request + n, sizeof(request) - n,
				      "%s.requester=off\n%s.initial_psn=%u\n", flow, flow,
				      theirs->psn);
	/* SEND names no memory. */
	if (f->requester && o->verb != PERFTEST_SEND)
		snprintf(request + n, sizeof(request) - n,
			 "%s.remote_addr=%" PRIu64 "\n%s.rkey=%u\n", flow, theirs->addr, flow,
			 theirs->rkey);
	else if (o->verb != PERFTEST_SEND)
		snprintf(request + n, sizeof(request) - n,
			 "%s.local_addr=%" PRIu64 "\n%s.local_bytes=%" PRIu64
			 "\n%s.local_rkey=%u\n",
			 flow, ours->addr, flow, (uint64_t)PERFTEST_MEMORY_BYTES, flow, ours->rkey);
	return ask(f, NULL, "%s", request);
}

int
perftest_flows_add(struct perftest_flows *f, const struct perftest_end *ours,
		   const struct perftest_end *theirs, uint16_t mtu_bytes)
{
	json_t *reply = NULL;
	const json_t *row;
	uint32_t number = UINT32_MAX, tried;
	int rc;

	/* Another run may have taken the number since we looked. */
	f->client->quiet = true;
	do {
		tried = number;
		json_decref(reply);
		rc = ask(f, &reply, "/quench/flows");
		if (rc != 0)
			break;
		number = free_number(f, json_object_get(reply, "rows"), &row);
		rc = number == tried ? APP_BAD_USAGE
				     : add_numbered(f, number, ours, theirs, mtu_bytes);
	} while (rc == APP_BAD_USAGE && number != tried);
	f->client->quiet = false;
	if (rc == 0) {
		add_row(&f->before, row);
		f->numbers[f->added++] = number;
	} else {
		say_error("%s", f->client->error);
	}
	json_decref(reply);
	return rc;
}

/* Set a key of all flows, as many in one change as a request takes. */
int
perftest_flows_stop(struct perftest_flows *f, bool stopped)
{
	char request[CLIENT_REQUEST_CHARS + 1];
	uint32_t i = 0;
	int rc = 0;

	while (rc == 0 && i < f->added) {
		size_t n = (size_t)snprintf(request, sizeof(request), "/quench/set,");

		for (; i < f->added && n + sizeof(f->prefix) + 32 < CLIENT_REQUEST_CHARS; i++)
			n += (size_t)snprintf(request + n, sizeof(request) - n,
					      "flow %s%u.stopped=%s\n", f->prefix, f->numbers[i],
					      stopped ? "on" : "off");
		rc = ask(f, NULL, "%s", request);
	}
	return rc;
}

int
perftest_flows_read(struct perftest_flows *f, struct perftest_sums *sums)
{
	const struct perftest_sums *b = &f->before;
	const json_t *row;
	json_t *reply;
	size_t i;
	int rc = ask(f, &reply, "/quench/flows");

	*sums = (struct perftest_sums){.started_ns = UINT64_MAX};
	json_array_foreach (json_object_get(reply, "rows"), i, row)
		if (is_ours(f, row))
			add_row(sums, row);
	json_decref(reply);

	sums->messages -= b->messages;
	sums->payload_bytes -= b->payload_bytes;
	sums->retransmitted_packets -= b->retransmitted_packets;
	sums->cnps_handled -= b->cnps_handled;
	sums->cnps_sent -= b->cnps_sent;
	sums->ce_packets -= b->ce_packets;
	sums->done -= b->done;
	sums->failed -= b->failed;
	return rc;
}

/* Remove the flows of these rows that are ours, as many at a time as a request takes. */
static int
remove_rows(struct perftest_flows *f, const json_t *rows)
{
	char request[CLIENT_REQUEST_CHARS + 1];
	const json_t *row;
	size_t i, n = 0;
	int rc = 0;

	json_array_foreach (rows, i, row) {
		if (!is_ours(f, row) || is_gone(row))
			continue;
		if (n + sizeof(f->prefix) + 32 >= CLIENT_REQUEST_CHARS) {
			rc = ask(f, NULL, "%s", request);
			n = 0;
		}
		n += (size_t)snprintf(request + n, sizeof(request) - n, "%s%s",
				      n == 0 ? "/quench/remove," : "\n",
				      json_string_value(json_object_get(row, "flow")));
	}
	return n == 0 ? rc : ask(f, NULL, "%s", request);
}

int
perftest_flows_close(struct perftest_flows *f)
{
	json_t *reply = NULL;
	int rc = f->added == 0 ? 0 : ask(f, &reply, "/quench/flows");

	/* Some may have been removed by a command. */
	if (rc == 0)
		rc = remove_rows(f, json_object_get(reply, "rows"));
	json_decref(reply);
	f->added = 0;
	return rc;
}
