/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/capture/capture.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <rte_common.h>
#include <rte_eal.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "ctl/output/pcapng.h"
#include "runtime/desk/control_thread.h"

/* Time for the client to connect. */
#define CONNECT_NS (5 * NS_PER_SEC)
/* Interval of looks at the rings while they are empty. */
#define LOOK_MS 1
/* Interval of looks at the end of the program while the client does not read. */
#define STUCK_MS 20
/* Time that a client gets to read the rest when the program ends. */
#define LAST_NS (2 * NS_PER_SEC)
/* Blocks of about this size are sent together. */
#define BATCH_BYTES 65536

enum capture_end { GOES_ON, ENDED, LIMIT_REACHED, CLIENT_GONE };

struct capture {
	struct control_thread thread;
	struct capture_params params;
	char name[64];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const struct tsc_clock *clock;
	uint64_t epoch_ns; /* time since 1970 at the clock's 0 */
	int listener, fd;
	atomic_bool stop;  /* the program ends */
	atomic_bool ended; /* the thread is about to return */
	uint64_t stop_ns;  /* when the thread saw that */
	uint64_t frames, bytes;
	FILE *out; /* to batch */
	char *batch;
	size_t batch_bytes;
	uint16_t n_lanes;
	struct capture_tap **taps;
	uint64_t *lost; /* of each lane, as of the last frame written */
	struct capture_lane *lanes;
};

static struct {
	pthread_mutex_t lock;
	bool open;
	struct capture *of[CAPTURE_PORTS];
} captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t
lost_frames(const struct capture *c)
{
	uint64_t lost = 0;

	for (uint16_t i = 0; i < c->n_lanes; i++)
		lost += c->lost[i];
	return lost;
}

/* Has the program ended, and the client's time for the rest too? */
static bool
is_too_late(struct capture *c)
{
	uint64_t now_ns = tsc_clock_now(c->clock);

	if (!atomic_load_explicit(&c->stop, memory_order_relaxed))
		return false;
	if (c->stop_ns == 0)
		c->stop_ns = now_ns;
	return now_ns - c->stop_ns > LAST_NS;
}

/* @return CLIENT_GONE or GOES_ON. */
static enum capture_end
send_all(struct capture *c, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(c->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		struct pollfd writable = {.fd = c->fd, .events = POLLOUT};

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return CLIENT_GONE;
		if (sent > 0) {
			bytes += sent;
			n -= (size_t)sent;
		} else if (is_too_late(c)) {
			return CLIENT_GONE;
		} else {
			(void)poll(&writable, 1, STUCK_MS);
		}
	}
	return GOES_ON;
}

/* Send the blocks in c->out. @return CLIENT_GONE or GOES_ON. */
static enum capture_end
flush(struct capture *c)
{
	if (fflush(c->out) != 0 || ferror(c->out))
		return CLIENT_GONE;
	c->bytes += c->batch_bytes;
	if (send_all(c, c->batch, c->batch_bytes) != GOES_ON)
		return CLIENT_GONE;
	rewind(c->out);
	return GOES_ON;
}

/* The lane with the oldest frame, and the frame; or NULL. */
static const struct capture_record *
oldest(struct capture *c, uint16_t *lane)
{
	const struct capture_record *first = NULL;

	for (uint16_t i = 0; i < c->n_lanes; i++) {
		const struct capture_record *r = capture_ring_peek(&c->lanes[i].ring);

		if (r != NULL && (first == NULL || r->at_ns < first->at_ns)) {
			first = r;
			*lane = i;
		}
	}
	return first;
}

/* Write frames of the rings to c->out, up to a batch. */
static enum capture_end
take_frames(struct capture *c)
{
	const uint64_t most_bytes = c->params.most_bytes;
	const struct capture_record *r;
	uint64_t bytes = c->bytes;
	uint16_t lane = 0;

	while (bytes - c->bytes < BATCH_BYTES && (r = oldest(c, &lane)) != NULL) {
		const struct pcapng_frame frame = {
			.bytes = (const uint8_t *)(r + 1),
			.n_bytes = r->n_bytes,
			.frame_bytes = r->frame_bytes,
			.at_ns = c->epoch_ns + r->at_ns,
			.lost = r->lost - c->lost[lane],
			.comment = r->why,
			.way = r->way,
		};

		bytes += pcapng_frame_bytes(&frame);
		if (most_bytes != 0 && bytes + PCAPNG_END_BYTES > most_bytes)
			return LIMIT_REACHED;
		pcapng_write(c->out, &frame);
		c->lost[lane] = r->lost;
		capture_ring_take(&c->lanes[lane].ring);
		if (++c->frames == c->params.most_frames)
			return LIMIT_REACHED;
	}
	return GOES_ON;
}

/* Has the client closed its side, for writing or altogether? */
static bool
client_asks_for_end(const struct capture *c, int wait_ms)
{
	struct pollfd readable = {.fd = c->fd, .events = POLLIN};

	return poll(&readable, 1, wait_ms) > 0;
}

/* Take and send once. @param moved  Were there frames? */
static enum capture_end
pass(struct capture *c, bool *moved)
{
	uint64_t frames = c->frames;
	enum capture_end end = take_frames(c);

	*moved = c->frames != frames;
	if (*moved && flush(c) != GOES_ON)
		return CLIENT_GONE;
	return end;
}

static enum capture_end
go_on(struct capture *c)
{
	uint64_t begin_ns = tsc_clock_now(c->clock);
	bool moved;
	enum capture_end end;

	do {
		end = pass(c, &moved);
		if (end != GOES_ON)
			return end;
		if (client_asks_for_end(c, moved ? 0 : LOOK_MS) ||
		    atomic_load_explicit(&c->stop, memory_order_relaxed))
			return ENDED;
	} while (c->params.duration_ns == 0 ||
		 tsc_clock_now(c->clock) - begin_ns < c->params.duration_ns);
	return ENDED;
}

/* No lcore adds frames any more: write those in the rings, and count those lost since. */
static enum capture_end
write_rest(struct capture *c)
{
	enum capture_end end;
	bool moved;

	do {
		end = pass(c, &moved);
	} while (end == GOES_ON && moved);
	for (uint16_t i = 0; end == GOES_ON && i < c->n_lanes; i++)
		c->lost[i] = atomic_load_explicit(&c->lanes[i].ring.lost, memory_order_relaxed);
	return end == GOES_ON ? ENDED : end;
}

static void
serve(struct capture *c)
{
	enum capture_end end;

	pcapng_begin(c->out, &(struct pcapng_interface){.name = c->name,
							.snap_bytes = c->params.snap_bytes});
	for (uint16_t i = 0; i < c->n_lanes; i++)
		capture_tap_connect(c->taps[i], &c->lanes[i]);
	/* The client takes the headers for the beginning of the capture. */
	end = flush(c);
	if (end == GOES_ON)
		end = go_on(c);
	for (uint16_t i = 0; i < c->n_lanes; i++)
		capture_tap_disconnect(c->taps[i]);
	if (end == ENDED)
		end = write_rest(c);
	if (end == CLIENT_GONE)
		return;
	pcapng_end(c->out, &(struct pcapng_statistics){
				   .at_ns = c->epoch_ns + tsc_clock_now(c->clock),
				   .written = c->frames,
				   .lost = lost_frames(c),
			   });
	(void)flush(c);
}

/* @return false: no client came in time. */
static bool
wait_for_client(struct capture *c)
{
	struct pollfd waiting = {.fd = c->listener, .events = POLLIN};
	uint64_t begin_ns = tsc_clock_now(c->clock);

	while (!atomic_load_explicit(&c->stop, memory_order_relaxed) &&
	       tsc_clock_now(c->clock) - begin_ns < CONNECT_NS)
		if (poll(&waiting, 1, STUCK_MS) > 0) {
			c->fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);
			return c->fd >= 0;
		}
	return false;
}

static void
close_socket(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void
free_rings(struct capture *c)
{
	for (uint16_t i = 0; i < c->n_lanes; i++)
		capture_ring_free(&c->lanes[i].ring);
}

static void
run(void *arg)
{
	struct capture *c = arg;
	bool came = wait_for_client(c);

	unlink(c->path);
	close_socket(&c->listener);
	if (came)
		serve(c);
	free_rings(c);
	/* Before the client sees the end, so that the next capture can begin then. */
	atomic_store_explicit(&c->ended, true, memory_order_release);
	close_socket(&c->fd);
}

/* The thread does not run. */
static void
destroy(struct capture *c)
{
	if (c->listener >= 0)
		unlink(c->path);
	close_socket(&c->listener);
	close_socket(&c->fd);
	if (c->out != NULL)
		fclose(c->out);
	free(c->batch);
	free_rings(c);
	free(c->lanes);
	free(c->lost);
	free(c->taps);
	free(c);
}

static uint64_t
epoch_of(const struct tsc_clock *clock)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec - tsc_clock_now(clock);
}

static int
make_lanes(struct capture *c, const struct capture_order *order)
{
	uint16_t n = order->n_taps;
	int rc = 0;

	c->taps = calloc(n, sizeof(struct capture_tap *));
	c->lost = calloc(n, sizeof(*c->lost));
	c->lanes = aligned_alloc(RTE_CACHE_LINE_SIZE, n * sizeof(*c->lanes));
	if (c->taps == NULL || c->lost == NULL || c->lanes == NULL)
		return -ENOMEM;
	memset(c->lanes, 0, n * sizeof(*c->lanes));
	memcpy(c->taps, order->taps, n * sizeof(struct capture_tap *));
	for (; rc == 0 && c->n_lanes < n; c->n_lanes++) {
		struct capture_lane *lane = &c->lanes[c->n_lanes];

		lane->filter = c->params.filter;
		lane->snap_bytes = c->params.snap_bytes;
		rc = capture_ring_init(&lane->ring, rte_align32pow2(c->params.buffer_bytes));
	}
	return rc;
}

static int
listen_at(struct capture *c, const char *name)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int n = snprintf(c->path, sizeof(c->path), "%s/%s", rte_eal_get_runtime_dir(), name);

	if (n < 0 || (size_t)n >= sizeof(c->path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, c->path, sizeof(addr.sun_path));
	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listener < 0)
		return -errno;
	/* Of a program that was killed and had the same number. */
	(void)unlink(c->path);
	return bind(c->listener, (const struct sockaddr *)&addr, sizeof(addr)) == 0 &&
			       listen(c->listener, 1) == 0
		       ? 0
		       : -errno;
}

/* @return 0 or -errno; *c is destroyed by the caller. */
static int
create(const struct capture_order *order, const char *name, struct capture **made)
{
	struct capture *c = calloc(1, sizeof(*c));
	int rc;

	*made = c;
	if (c == NULL)
		return -ENOMEM;
	c->listener = c->fd = -1;
	c->params = *order->params;
	c->clock = order->clock;
	c->epoch_ns = epoch_of(order->clock);
	snprintf(c->name, sizeof(c->name), "%s", order->name);
	c->out = open_memstream(&c->batch, &c->batch_bytes);
	if (c->out == NULL)
		return -ENOMEM;
	rc = make_lanes(c, order);
	return rc == 0 ? listen_at(c, name) : rc;
}

/* Forget a capture that has ended. */
static void
reap(uint16_t port)
{
	struct capture *c = captures.of[port];

	captures.of[port] = NULL;
	control_thread_join(&c->thread);
	destroy(c);
}

static int
start(const struct capture_order *order, const char *name)
{
	struct capture **at = &captures.of[order->port];
	struct capture *c;
	int rc;

	if (!captures.open)
		return -ESHUTDOWN;
	if (*at != NULL && !atomic_load_explicit(&(*at)->ended, memory_order_acquire))
		return -EBUSY;
	if (*at != NULL)
		reap(order->port);
	rc = create(order, name, &c);
	if (rc == 0)
		rc = control_thread_start(&c->thread, "capture", run, c);
	if (rc == 0)
		*at = c;
	else if (c != NULL)
		destroy(c);
	return rc;
}

int
capture_start(const struct capture_order *order, char socket[CAPTURE_SOCKET_CHARS])
{
	int rc;

	snprintf(socket, CAPTURE_SOCKET_CHARS, "cap.%ld.%u", (long)getpid(), order->port);
	pthread_mutex_lock(&captures.lock);
	rc = start(order, socket);
	pthread_mutex_unlock(&captures.lock);
	return rc;
}

void
captures_open(void)
{
	pthread_mutex_lock(&captures.lock);
	captures.open = true;
	pthread_mutex_unlock(&captures.lock);
}

void
captures_close(void)
{
	pthread_mutex_lock(&captures.lock);
	captures.open = false;
	for (uint16_t i = 0; i < CAPTURE_PORTS; i++)
		if (captures.of[i] != NULL)
			atomic_store_explicit(&captures.of[i]->stop, true, memory_order_relaxed);
	for (uint16_t i = 0; i < CAPTURE_PORTS; i++)
		if (captures.of[i] != NULL)
			reap(i);
	pthread_mutex_unlock(&captures.lock);
}
