/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of the telemetry socket as DPDK hands them over: the first byte names the command, the
 * rest are its parameters, commas and all. Each is answered with an object, of what was read or of
 * an error; what was read as a number is that number, in its range.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <rte_telemetry.h>
#include <string.h>

#include "base/numbers/array.h"
#include "runtime/telemetry/telemetry.h"
#include "fuzz/fuzz.h"
#include "unit/eal.h"

/* DPDK reads 1024 bytes with the command. */
#define PARAMS_CHARS 1023
#define LEAST 3u
#define MOST (UINT64_MAX - 3)

static telemetry_cb on_command;

/* In the place of DPDK's: nothing listens here. Its libraries register commands of theirs. */
int
rte_telemetry_register_cmd(const char *path, telemetry_cb fn, const char *help)
{
	(void)help;
	if (strncmp(path, "/fuzz/", 6) == 0)
		on_command = fn;
	return 0;
}

/* DPDK frees the arrays of a reply as it sends it. */
static struct rte_tel_data *made[8];
static unsigned int n_made;

struct rte_tel_data *
rte_tel_data_alloc(void)
{
	static struct rte_tel_data *(*alloc)(void);

	if (alloc == NULL)
		alloc = (struct rte_tel_data * (*)(void)) dlsym(RTLD_NEXT, "rte_tel_data_alloc");
	FUZZ_CHECK(alloc != NULL && n_made < ARRAY_LEN(made));
	made[n_made] = alloc();
	FUZZ_CHECK(made[n_made] != NULL);
	return made[n_made++];
}

/* A refusal says what is wrong and what would be right, in printable ASCII. */
static json_t *
check_refusal(const struct telemetry_call *call)
{
	FUZZ_CHECK(call->error[0] != '\0' && call->expected[0] != '\0');
	for (const char *c = call->error; *c != '\0'; c++)
		FUZZ_CHECK(*c >= ' ' && *c <= '~');
	return NULL;
}

static json_t *
numbers_reply(struct telemetry_call *call)
{
	json_t *o;

	FUZZ_CHECK(call->n_args <= TELEMETRY_ARGS);
	for (unsigned int i = 0; i < call->n_args; i++) {
		const char *digits = call->args[i];
		uint64_t value = 0;
		char text[24];

		FUZZ_CHECK(strchr(digits, ',') == NULL);
		if (!telemetry_number(call, i, "NUMBER", LEAST, MOST, &value))
			return check_refusal(call);
		FUZZ_CHECK(value >= LEAST && value <= MOST);
		snprintf(text, sizeof(text), "%" PRIu64, value);
		FUZZ_CHECK(strcmp(digits + strspn(digits, "0"), text) == 0);
	}
	o = json_object();
	json_object_set_new(o, "numbers", json_integer(call->n_args));
	return o;
}

static json_t *
switch_reply(struct telemetry_call *call)
{
	uint64_t value = 0;
	bool on;

	if (!telemetry_switch(call, 0, "SWITCH", &on) ||
	    !telemetry_optional_number(call, 1, "NUMBER", 0, 9, &value))
		return check_refusal(call);
	FUZZ_CHECK(value <= 9);
	return json_pack("{s:b}", "on", on);
}

static json_t *
none_reply(struct telemetry_call *call)
{
	FUZZ_CHECK(call->n_args == 0);
	return json_object();
}

/* A whole line is refused in pieces. */
static json_t *
whole_reply(struct telemetry_call *call)
{
	FUZZ_CHECK(call->n_args <= 1);
	if (call->n_args == 0)
		return json_object();
	telemetry_refuse_line(call, call->args[0]);
	FUZZ_CHECK(strlen(call->error) + strlen(call->rest) == strlen(call->args[0]));
	return NULL;
}

static const struct telemetry_endpoint endpoints[] = {
	{"/fuzz/numbers", ",N...", "Returns numbers", TELEMETRY_ARGS, numbers_reply},
	{"/fuzz/switch", ",on|off[,N]", "Sets a switch", 2, switch_reply},
	{"/fuzz/none", "", "Returns nothing", 0, none_reply},
	{"/fuzz/whole", ",TEXT", "Returns a refusal", TELEMETRY_WHOLE, whole_reply},
};

#define ENDPOINTS (ARRAY_LEN(endpoints))

static void
start(void)
{
	static struct telemetry telemetry = {.endpoints = endpoints, .n_endpoints = ENDPOINTS};

	if (test_eal_init(64) < 0)
		abort();
	FUZZ_CHECK(telemetry_open(&telemetry) == 0 && on_command != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char params[PARAMS_CHARS + 1];
	struct rte_tel_data *reply;
	int rc;

	if (on_command == NULL)
		start();
	if (len == 0 || len - 1 > PARAMS_CHARS)
		return 0;
	memcpy(params, data + 1, len - 1);
	params[len - 1] = '\0';
	reply = rte_tel_data_alloc();
	/* strtok() gives DPDK no empty text. */
	rc = on_command(endpoints[data[0] % ENDPOINTS].path, params[0] == '\0' ? NULL : params,
			reply);
	FUZZ_CHECK(rc == 0);
	while (n_made > 0)
		rte_tel_data_free(made[--n_made]);
	return 0;
}
