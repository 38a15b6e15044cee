/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/recording/recording.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "ctl/output/pcapng.h"
#include "switch/sw.h"
#include "runtime/notice/say.h"

#define PCAPNG_PART ".pcapng.part"

struct seen {
	uint64_t at_ns;
	uint64_t number; /* order of observation */
	uint32_t n_bytes, frame_bytes;
	enum pcapng_way way;
	char why[NODE_WHY_CHARS]; /* what a switch has done to it; "": nothing */
	const struct rte_mbuf *m; /* received frame, only for comparison; else NULL */
	uint8_t *bytes;
};

struct recordings;

struct recording {
	struct node_drops drops; /* first: those of its switch are told to one of its recordings */
	struct recordings *all;
	FILE *file;
	char path[PATH_MAX];
	uint32_t snap_bytes;
	struct fabric_end end;
	struct net *net;
	const struct node *sw; /* at this end; NULL: a host */
	struct cable_tap also_sent, also_received;
	/* frames not written yet, because a frame with an earlier time may still be added */
	struct seen *waiting;
	uint32_t n, capacity;
	uint64_t numbers;
	bool lost; /* no memory */
};

struct recordings {
	struct net *net;
	bool lost; /* at any port: no memory */
	uint32_t n;
	struct recording items[];
};

/* A switch drops a frame that a recorded port of it has received: the newest with this mbuf. */
static void
see_dropped(struct node_drops *drops, uint16_t port, const struct rte_mbuf *m, const char *reason)
{
	const struct recording *any = (const struct recording *)drops;

	for (uint32_t i = 0; i < any->all->n; i++) {
		struct recording *r = &any->all->items[i];

		if (r->sw != any->sw || r->end.port != port)
			continue;
		for (uint32_t k = r->n; k-- > 0;) {
			if (r->waiting[k].m != m)
				continue;
			snprintf(r->waiting[k].why, NODE_WHY_CHARS, "dropped: %s", reason);
			break;
		}
	}
}

static void
add(struct recording *r, const struct rte_mbuf *m, uint64_t at_ns, enum pcapng_way way)
{
	uint32_t n = (uint32_t)min_u64(m->data_len, r->snap_bytes);
	struct seen *more = r->waiting;

	if (r->n == r->capacity) {
		uint32_t capacity = r->capacity == 0 ? 64 : 2 * r->capacity;

		more = realloc(r->waiting, capacity * sizeof(*more));
		if (more != NULL) {
			r->waiting = more;
			r->capacity = capacity;
		}
	}
	if (more == NULL || (more = &r->waiting[r->n], more->bytes = malloc(n + 1u)) == NULL) {
		r->lost = true;
		return;
	}
	memcpy(more->bytes, rte_pktmbuf_mtod(m, const uint8_t *), n);
	more->at_ns = at_ns;
	more->number = r->numbers++;
	more->n_bytes = n;
	more->frame_bytes = m->pkt_len;
	more->way = way;
	more->why[0] = '\0';
	more->m = way == PCAPNG_RECEIVED ? m : NULL;
	if (way == PCAPNG_SENT && r->sw != NULL)
		r->sw->ops->why(r->sw, r->end.port, m, more->why, sizeof(more->why));
	r->n++;
}

/* A switch drops a frame that was to leave by a recorded port of it. */
static void
see_lost(struct node_drops *drops, const struct node_lost_frame *frame)
{
	const struct recording *any = (const struct recording *)drops;

	for (uint32_t i = 0; i < any->all->n; i++) {
		struct recording *r = &any->all->items[i];
		uint32_t n = r->n;

		if (r->sw != any->sw || r->end.port != frame->port)
			continue;
		add(r, frame->m, frame->now_ns, PCAPNG_LOST);
		if (r->n > n)
			node_say_lost(frame, r->waiting[n].why);
	}
}

static void
see_sent(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	const struct recording *r = arg;

	add(arg, m, at_ns, PCAPNG_SENT);
	if (r->also_sent.fn != NULL)
		r->also_sent.fn(r->also_sent.arg, m, at_ns);
}

static void
see_received(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	const struct recording *r = arg;

	add(arg, m, at_ns, PCAPNG_RECEIVED);
	if (r->also_received.fn != NULL)
		r->also_received.fn(r->also_received.arg, m, at_ns);
}

static int
by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* ---- a frame that is complete: to the file, or to rank 0, which has the files ---- */

/* Begins a frame from another rank; its bytes follow. */
struct far_frame {
	struct seen seen; /* its pointers mean nothing here */
	uint32_t recording;
};

static void
pack_frame(const struct recording *r, const struct seen *s, struct rank_bytes *to)
{
	struct far_frame far;

	memset(&far, 0, sizeof(far));
	far.seen = *s;
	far.recording = (uint32_t)(r - r->all->items);
	rank_bytes_add(to, &far, sizeof(far));
	rank_bytes_add(to, s->bytes, s->n_bytes);
}

static void
write_frame(struct recording *r, const struct seen *s, const uint8_t *bytes)
{
	const struct pcapng_frame frame = {.bytes = bytes,
					   .n_bytes = s->n_bytes,
					   .frame_bytes = s->frame_bytes,
					   .at_ns = s->at_ns,
					   .comment = s->why,
					   .way = s->way};

	pcapng_write(r->file, &frame);
}

static void
flush(struct recording *r, struct rank_bytes *to_first, uint64_t now_ns)
{
	uint32_t n = 0;

	if (r->n == 0)
		return;
	qsort(r->waiting, r->n, sizeof(*r->waiting), by_time);
	for (; n < r->n && r->waiting[n].at_ns <= now_ns; n++) {
		const struct seen *s = &r->waiting[n];

		if (to_first != NULL)
			pack_frame(r, s, to_first);
		else
			write_frame(r, s, s->bytes);
		free(s->bytes);
	}
	r->n -= n;
	if (n > 0)
		memmove(r->waiting, r->waiting + n, r->n * sizeof(*r->waiting));
}

/* A recorded port has one rank, so its frames come in order. */
static void
take_frames(struct recordings *all, struct ranks *ranks)
{
	for (uint32_t q = 1; q < ranks->n; q++) {
		struct rank_reader from = rank_reader_of(&ranks->in[q]);
		bool lost;

		while (from.end - from.at > (ptrdiff_t)sizeof(lost)) {
			struct far_frame far;
			const uint8_t *bytes;

			rank_reader_copy(&from, &far, sizeof(far));
			bytes = rank_reader_take(&from, far.seen.n_bytes);
			if (from.bad || far.recording >= all->n)
				break;
			write_frame(&all->items[far.recording], &far.seen, bytes);
		}
		rank_reader_copy(&from, &lost, sizeof(lost));
		all->lost |= lost || from.bad;
	}
}

void
recordings_remove_parts(const char *dir)
{
	DIR *found = opendir(dir);
	struct dirent *entry;

	if (found == NULL)
		return;
	while ((entry = readdir(found)) != NULL) {
		size_t chars = strlen(entry->d_name), suffix = strlen(PCAPNG_PART);

		if (chars > suffix && strcmp(entry->d_name + chars - suffix, PCAPNG_PART) == 0)
			unlinkat(dirfd(found), entry->d_name, 0);
	}
	closedir(found);
}

static int
open_file(struct recording *r, const struct scenario *s, const struct record_params *params,
	  const char *dir)
{
	char node[TOPOLOGY_NODE_CHARS + 1], name[TOPOLOGY_NODE_CHARS + 16];

	snprintf(r->path, sizeof(r->path), "%s/%s" PCAPNG_PART, dir, params->name);
	r->file = fopen(r->path, "we");
	if (r->file == NULL) {
		say_error("%s: %s", r->path, strerror(errno));
		return -EIO;
	}
	snprintf(name, sizeof(name), "%s port %u",
		 topology_node_name(s->topology, params->at.node, node), params->at.port);
	pcapng_begin(r->file, &(struct pcapng_interface){.name = name});
	return 0;
}

static int
open_one(struct recording *r, const struct scenario *s, const struct record_params *params,
	 struct net *net, const char *dir)
{
	const struct fabric_end end = net_end_at(net, params->at);
	int rc;

	r->end = end;
	r->sw = topology_is_switch(s->topology, end.node) ? net_switch(net, end.node) : NULL;
	r->net = net;
	r->drops = (struct node_drops){
		.wanted = true, .dropped = see_dropped, .egress_wanted = 1, .lost = see_lost};
	if (r->sw != NULL)
		net_watch_drops(net, end.node, &r->drops);
	r->snap_bytes = params->snap_bytes > 0 ? params->snap_bytes : UINT32_MAX;
	if (dir != NULL && open_file(r, s, params, dir) < 0)
		return -EIO;
	rc = fabric_tap(net_fabric(net), end, (struct cable_tap){see_sent, r},
			(struct cable_tap){see_received, r});
	if (rc < 0)
		say_error("[record %s]: %s", params->name, strerror(-rc));
	return rc;
}

struct recordings *
recordings_open(const struct scenario *s, struct net *net, const char *dir)
{
	struct recordings *r = calloc(1, sizeof(*r) + s->n_records * sizeof(r->items[0]));
	int rc = 0;

	if (r == NULL) {
		say_error("no memory for recordings");
		return NULL;
	}
	r->net = net;
	for (; rc == 0 && r->n < s->n_records; r->n++) {
		r->items[r->n].all = r;
		rc = open_one(&r->items[r->n], s, &s->records[r->n], net, dir);
	}
	if (rc < 0) {
		recordings_close(r, false);
		return NULL;
	}
	return r;
}

bool
recordings_share(struct recordings *r, struct fabric_end end, struct cable_tap sent,
		 struct cable_tap received)
{
	for (uint32_t i = 0; r != NULL && i < r->n; i++) {
		if (r->items[i].end.node != end.node || r->items[i].end.port != end.port)
			continue;
		r->items[i].also_sent = sent;
		r->items[i].also_received = received;
		return true;
	}
	return false;
}

void
recordings_flush(struct recordings *r, uint64_t now_ns)
{
	struct ranks *ranks = r == NULL ? NULL : net_ranks(r->net);
	bool is_first = ranks == NULL || ranks->self == 0;

	if (r == NULL)
		return;
	if (ranks != NULL)
		ranks_begin(ranks);
	for (uint32_t i = 0; i < r->n; i++) {
		r->lost |= r->items[i].lost;
		flush(&r->items[i], is_first ? NULL : &ranks->out[0], now_ns);
	}
	if (ranks == NULL)
		return;
	if (!is_first)
		rank_bytes_add(&ranks->out[0], &r->lost, sizeof(r->lost));
	r->lost |= ranks_to_first(ranks) < 0;
	if (is_first)
		take_frames(r, ranks);
}

static int
close_one(struct recording *r, bool keep, bool lost)
{
	char path[PATH_MAX];
	int failed = 0;

	if (r->sw != NULL)
		net_watch_drops(r->net, r->end.node, NULL);
	if (r->file != NULL) {
		failed = ferror(r->file);
		failed |= fclose(r->file) != 0;
	}
	for (uint32_t i = 0; i < r->n; i++)
		free(r->waiting[i].bytes);
	free(r->waiting);
	if (r->path[0] == '\0')
		return 0;
	failed |= lost;
	if (!keep || failed)
		unlink(r->path);
	snprintf(path, sizeof(path), "%.*s", (int)(strlen(r->path) - strlen(".part")), r->path);
	if (keep && (failed || rename(r->path, path) < 0)) {
		say_error("%s: %s", path, strerror(lost ? ENOMEM : errno ? errno : EIO));
		return -EIO;
	}
	return 0;
}

int
recordings_close(struct recordings *r, bool keep)
{
	int rc = 0;

	/* Frames that would arrive after the end of the run are not written. */
	for (uint32_t i = 0; r != NULL && i < r->n; i++)
		if (close_one(&r->items[i], keep, r->lost || r->items[i].lost) < 0)
			rc = -EIO;
	free(r);
	return rc;
}
