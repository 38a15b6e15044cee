// SPDX-License-Identifier: BSD-3-Clause
/* A NIC being converted. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/conversion/import_log.h"
#include "import/conversion/import_memory.h"

/* A NIC needs an address and a flow; these are examples, with addresses of RFC 5737. */
static const char start[] = "[nic]\nip = 192.0.2.1\n[rp]\nrp_profile = mlx\n[flow peer]\npeer_ip = "
			    "192.0.2.2\n";

static int
read_config(const char *text, size_t size, struct nic_config *out, struct import_log *log)
{
	struct config_error err = {""};
	struct config *cfg = config_open_text("", text, size, &err);
	const char *what;
	int rc = -EINVAL;

	memset(out, 0, sizeof(*out));
	if (cfg != NULL)
		rc = nic_config_read(cfg, NULL, out, &err);
	if (rc == 0 && config_finish(cfg, &err) != 0) {
		nic_config_free(out);
		rc = -EINVAL;
	}
	config_close(cfg);
	if (rc == 0)
		return 0;
	import_check_memory(&err);
	what = strchr(err.text, '[');
	return import_refuse(log, " makes an invalid configuration of quench-nic: %s",
			     what != NULL ? what : err.text);
}

void
import_nic_begin(struct nic_config *out)
{
	struct import_log log = {.file = "defaults"};

	if (read_config(start, strlen(start), out, &log) != 0)
		import_no_memory();
}

void
import_nic_print(FILE *out, const struct nic_config *nic, const struct import_log *log)
{
	struct nic_flow flow = {.qp_count = 0};
	char *text, *base;
	struct nic_config plain, bare; /* bare: without the example of a flow */
	size_t size;
	FILE *full = import_text_open(&text, &size);

	import_nic_begin(&plain);
	nic_config_print(full, nic);
	import_text_close(full, &text);
	full = import_text_open(&base, &size);
	plain.nic.ip.version = 0;
	field_defaults(nic_flow_fields, nic_flow_fields_n, &flow);
	bare = plain;
	bare.n_flows = 0;
	nic_config_print(full, &bare);
	config_print(full, "flow", nic_flow_fields, nic_flow_fields_n, &flow);
	import_text_close(full, &base);
	nic_config_free(&plain);
	import_print_head(out, "quench-nic", log);
	import_print_changed(out, text, base);
	free(text);
	free(base);
}

/* Keys that the file omits must have the same values after reading it, by their defaults. */
static void
assert_same(const struct nic_config *a, const struct nic_config *b)
{
	char *text[2];
	size_t size;

	for (unsigned int i = 0; i < 2; i++) {
		FILE *out = import_text_open(&text[i], &size);

		nic_config_print(out, i == 0 ? a : b);
		import_text_close(out, &text[i]);
	}
	assert(strcmp(text[0], text[1]) == 0);
	free(text[0]);
	free(text[1]);
}

int
import_nic_finish(const struct nic_config *nic, struct import_log *log)
{
	struct nic_config back;
	char *text;
	size_t size;
	FILE *out = import_text_open(&text, &size);
	int rc;

	import_nic_print(out, nic, log);
	import_text_close(out, &text);
	rc = read_config(text, size, &back, log);
	if (rc == 0) {
		assert_same(nic, &back);
		nic_config_free(&back);
	}
	free(text);
	return rc;
}
