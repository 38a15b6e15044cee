/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/report/telemetry_capture.h"

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

/* Cut off the port, the first word. @return false: refused, with the reason in call. */
static bool
read_port(struct telemetry_call *call, char **words, uint16_t *port)
{
	const struct run_app *app = call->telemetry->app;
	const char *word = strsep(words, " ");
	char expected[64];

	if (find_port(app, word, port))
		return true;
	snprintf(expected, sizeof(expected), "a number from 0 to %u, or the name of a port",
		 app->n_ports - 1u);
	telemetry_refuse(call, expected, "PORT = %s", word);
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
find_taps(const struct telemetry_call *call, struct capture_order *order)
{
	const struct run_result *result = call->telemetry->result;

	for (uint16_t i = 0; i < result->n_loops && order->n_taps < CAPTURE_TAPS; i++)
		if (poll_loop_polls(&result->loops[i], order->port))
			order->taps[order->n_taps++] = &result->loops[i].ports[order->port].tap;
}

static json_t *
refuse_start(struct telemetry_call *call, uint16_t port, int rc)
{
	if (rc == -EBUSY)
		return telemetry_refuse(call, "another port, or the end of that capture",
					"port %u is being captured", port);
	return telemetry_refuse(call, "another try", "port %u: %s", port, strerror(-rc));
}

/* @param words  As in call; is cut into pieces. */
static json_t *
start(struct telemetry_call *call, char *words)
{
	char line[FIELD_TEXT_SIZE + 128], socket[CAPTURE_SOCKET_CHARS];
	struct capture_params params;
	struct capture_order order = {.params = &params, .clock = call->telemetry->clock};
	int rc;

	if (!read_port(call, &words, &order.port))
		return NULL;
	if (capture_params_read(&params, words, line, sizeof(line)) != 0)
		return telemetry_refuse_line(call, line);
	order.name = interface_name(call->telemetry->app, order.port);
	find_taps(call, &order);
	rc = capture_start(&order, socket);
	if (rc != 0)
		return refuse_start(call, order.port, rc);
	return json_pack("{s:s, s:s}", "socket", socket, "interface",
			 interface_name(call->telemetry->app, order.port));
}

json_t *
capture_reply(struct telemetry_call *call)
{
	char *words = strdup(call->n_args > 0 ? call->args[0] : "");
	json_t *reply;

	if (words == NULL)
		return telemetry_refuse(call, "more memory", "out of memory");
	reply = start(call, words);
	free(words);
	return reply;
}
