/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/perftest/perftest_options.h"

#include <string.h>

#include "base/field/field_table.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "runtime/notice/say.h"

const char *const perftest_verb_words[] = {"send", "write", "read", NULL};
static const char *const gid_words[] = {"auto", "ipv4", "ipv6", NULL};

/* The defaults are perftest's, with its option in brackets. */
const struct field perftest_fields[] = {
	{FIELD_OF(struct perftest_options, verb), .type = FIELD_ENUM,
	 .choices = perftest_verb_words, .def = "write",
	 .help = "program of the peer: ib_send_bw, ib_write_bw or ib_read_bw"},
	{FIELD_OF(struct perftest_options, message_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .max = 2ull << 30, .def = "65536", .least_bare = 1,
	 .help = "connect: payload of a message (-s)"},
	{FIELD_OF(struct perftest_options, messages), .type = FIELD_U32, .min = 1, .max = 100000000,
	 .def = "1000", .help = "connect: messages of each QP (-n)"},
	{FIELD_OF(struct perftest_options, duration_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 3600 * NS_PER_SEC, .def = "0",
	 .help = "connect: send for this time instead (-D); 0: send `messages`"},
	{FIELD_OF(struct perftest_options, qp_count), .type = FIELD_U32, .min = 1,
	 .max = PERFTEST_MOST_QPS, .def = "1", .help = "number of QPs (-q), the same at the peer"},
	{FIELD_OF(struct perftest_options, mtu_bytes), .type = FIELD_U16, .unit = UNIT_BYTES,
	 .min = 256, .max = 4096, .def = "1024",
	 .help = "RoCE MTU (-m), a power of two; the smaller one of both ends is used"},
	{FIELD_OF(struct perftest_options, depth), .type = FIELD_U32, .min = 1, .max = 65536,
	 .def = "128",
	 .help = "connect: messages in flight per QP (-t); of READs, at most what both ends take"},
	{FIELD_OF(struct perftest_options, port), .type = FIELD_U16, .min = 1, .max = 65535,
	 .def = "18515", .help = "TCP port of the exchange (-p)"},
	{FIELD_OF(struct perftest_options, gid), .type = FIELD_ENUM, .choices = gid_words,
	 .def = "auto",
	 .help = "address to name: auto: as the client's, or IPv4 if the NIC has ip (the peer: -x)"},
	{FIELD_OF(struct perftest_options, gbits), .type = FIELD_BOOL, .def = "off",
	 .help = "tell the peer rates in Gb/s instead of MiB/s (the peer: --report_gbits)"},
	{FIELD_OF(struct perftest_options, flow), .type = FIELD_STR, .min = 1,
	 .max = PERFTEST_FLOW_CHARS, .def = "perftest",
	 .help = "name of the flows; to it are added the verb, in or out, and the number of the QP"},
};
const unsigned int perftest_fields_n = ARRAY_LEN(perftest_fields);

void
perftest_options_print(FILE *out)
{
	fputs("\n  KEY=VALUE, with the default:\n", out);
	for (unsigned int i = 0; i < perftest_fields_n; i++) {
		const struct field *f = &perftest_fields[i];
		char key[64];

		snprintf(key, sizeof(key), "%s=%s", f->name, f->def);
		fprintf(out, "    %-24s  %s\n", key, f->help);
	}
	fputc('\n', out);
}

static int
read_word(const char *word, struct perftest_options *o)
{
	const char *equals = strchr(word, '=');
	size_t n = equals == NULL ? 0 : (size_t)(equals - word);
	char expected[FIELD_TEXT_SIZE], keys[256] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < perftest_fields_n; i++) {
		const struct field *f = &perftest_fields[i];

		used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%s",
					 i == 0 ? "" : ", ", f->name);
		if (strlen(f->name) != n || strncmp(f->name, word, n) != 0)
			continue;
		if (field_parse(f, NULL, equals + 1, o, expected, sizeof(expected)) == 0)
			return 0;
		say_error("%.*s = %s: expected %s", (int)n, word, equals + 1, expected);
		return APP_BAD_USAGE;
	}
	say_error("%s: expected KEY=VALUE, with a KEY of: %s", word, keys);
	return APP_BAD_USAGE;
}

int
perftest_options_read(const char *const *words, unsigned int n, struct perftest_options *o)
{
	int rc = 0;

	*o = (struct perftest_options){0};
	field_defaults(perftest_fields, perftest_fields_n, o);
	for (unsigned int i = 0; rc == 0 && i < n && words[i] != NULL; i++)
		rc = read_word(words[i], o);
	if (rc == 0 && (o->mtu_bytes & (o->mtu_bytes - 1)) != 0) {
		say_error("mtu_bytes = %u: expected 256, 512, 1024, 2048 or 4096", o->mtu_bytes);
		rc = APP_BAD_USAGE;
	}
	if (rc == 0 &&
	    o->flow[strspn(o->flow, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-")] != '\0') {
		say_error("flow = %s: expected letters, digits, _ and -", o->flow);
		rc = APP_BAD_USAGE;
	}
	return rc;
}
