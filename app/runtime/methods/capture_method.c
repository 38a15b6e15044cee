/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/methods/methods.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/numbers/decimal.h"
#include "runtime/capture/capture.h"
#include "runtime/device/port_device.h"
#include "runtime/run/run.h"

static_assert(POLL_MAX_PORTS <= CAPTURE_PORTS, "any port can be captured");

/* Find the port of a number or name. @return false: there is none. */
static bool
find_port(const struct run_app *app, const char *word, uint16_t *port)
{
	uint64_t number;

	if (decimal_parse(word, 0, app->n_ports - 1u, &number)) {
		*port = (uint16_t)number;
		return true;
	}
	for (*port = 0; *port < app->n_ports; ++*port)
		if (strcasecmp(port_word(app->ethdevs[*port], *port), word) == 0)
			return true;
	return false;
}

/* @return false: refused, with the reason in call. */
static bool
read_port(struct desk_call *call, uint16_t *port)
{
	const struct run_app *app = call->desk->app;
	char expected[64], digits[DESK_DIGITS];
	const char *word = desk_word(call, "port", digits);

	if (find_port(app, word, port))
		return true;
	snprintf(expected, sizeof(expected), "a number from 0 to %u, or the name of a port",
		 app->n_ports - 1u);
	desk_refuse_param(call, expected, "PORT = %s", word);
	return false;
}

/* The port's name, or else that of its device. */
static const char *
interface_name(const struct run_app *app, uint16_t port)
{
	const char *word = port_word(app->ethdevs[port], port);
	uint64_t number;

	return decimal_parse(word, 0, UINT16_MAX, &number) ? port_name(app->ethdevs[port]) : word;
}

/* The taps of the loops that poll the port. */
static void
find_taps(const struct desk_call *call, struct capture_order *order)
{
	const struct run_result *result = call->desk->result;

	for (uint16_t i = 0; i < result->n_loops && order->n_taps < CAPTURE_TAPS; i++)
		if (poll_loop_polls(&result->loops[i], order->port))
			order->taps[order->n_taps++] = &result->loops[i].ports[order->port].tap;
}

static json_t *
refuse_start(struct desk_call *call, uint16_t port, int rc)
{
	if (rc == -EBUSY)
		return desk_refuse(call, "another port, or the end of that capture",
				   "port %u is being captured", port);
	return desk_refuse(call, "another try", "port %u: %s", port, strerror(-rc));
}

/* @param words  KEY=VALUE, separated by blanks; is cut into pieces. */
static json_t *
start(struct desk_call *call, char *words)
{
	char line[FIELD_TEXT_SIZE + 128], socket[CAPTURE_SOCKET_CHARS];
	struct capture_params params;
	struct capture_order order = {.params = &params, .clock = call->desk->clock};
	int rc;

	if (!read_port(call, &order.port))
		return NULL;
	if (capture_params_read(&params, words, line, sizeof(line)) != 0)
		return desk_refuse_line(call, line);
	order.name = interface_name(call->desk->app, order.port);
	find_taps(call, &order);
	rc = capture_start(&order, socket);
	if (rc != 0)
		return refuse_start(call, order.port, rc);
	return json_pack("{s:s, s:s}", "socket", socket, "interface",
			 interface_name(call->desk->app, order.port));
}

void
capture_result(struct walk *w)
{
	walk_text(w, WALK_KEY, "socket", "stream socket that sends pcapng to one client", NULL);
	walk_text(w, WALK_KEY, "interface", "name of the port, or else of its device", NULL);
}

json_t *
capture_reply(struct desk_call *call)
{
	char *words = desk_words(call, "options", ' ');
	json_t *reply = words == NULL ? NULL : start(call, words);

	free(words);
	return reply;
}

const struct desk_param capture_params_of_method[] = {
	{"port", DESK_WORD, true, "number or name of the port"},
	{"options", DESK_WORDS, false, "KEY=VALUE, as of quenchctl capture"},
	{0},
};
