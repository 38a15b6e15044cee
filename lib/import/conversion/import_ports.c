/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/conversion/import_ports.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/numbers/decimal.h"

static const char digits[] = "0123456789";

static int
refuse(struct import_log *log, const char *text)
{
	return import_refuse(log,
			     " --ports %.60s: expected up to 64 ports of the file, such as "
			     "Ethernet1/1,1/3 or Ethernet0-28, or the number of its first ports",
			     text);
}

/* The last number of a name, with those before it. */
static size_t
prefix_length(const char *name, size_t n)
{
	while (n > 0 && strchr(digits, name[n - 1]) != NULL)
		n--;
	return n;
}

/*
 * An item of the list. Without letters it continues the one before: after "Ethernet1/1", "1/3" is
 * Ethernet1/3 and "4" is Ethernet1/4.
 */
static bool
parse_item(const char *item, const char *before, struct import_port_range *out)
{
	size_t n = strcspn(item, "-"), prefix = prefix_length(item, n);
	size_t keep = strlen(before);
	char *end;

	if (prefix == n || n - prefix > 9)
		return false;
	if (strchr(digits, *item) == NULL)
		keep = 0;
	else if (prefix > 0)
		keep = strcspn(before, digits);
	if (keep + prefix == 0 || keep + prefix > IMPORT_PORT_NAME)
		return false;
	snprintf(out->prefix, sizeof(out->prefix), "%.*s%.*s", (int)keep, before, (int)prefix,
		 item);
	out->first = out->last = strtoul(item + prefix, &end, 10);
	if (*end == '-' && strspn(end + 1, digits) > 0 && strlen(end + 1) <= 9)
		out->last = strtoul(end + 1, &end, 10);
	return *end == '\0' && out->last >= out->first;
}

int
import_ports_parse(const char *text, struct import_ports *out, struct import_log *log)
{
	const char *before = "";
	uint64_t count;

	*out = (struct import_ports){.is_given = text != NULL, .count = SW_DEVICE_PORTS};
	if (text == NULL)
		return 0;
	if (decimal_parse(text, 1, SW_DEVICE_PORTS, &count)) {
		out->count = (unsigned int)count;
		return 0;
	}
	out->count = 0;
	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");
		char item[64];

		if (n >= sizeof(item) || out->n == SW_DEVICE_PORTS)
			return refuse(log, text);
		snprintf(item, sizeof(item), "%.*s", (int)n, at);
		if (!parse_item(item, before, &out->list[out->n]))
			return refuse(log, text);
		before = out->list[out->n++].prefix;
		at += n;
		if (*at == '\0')
			return 0;
	}
}

bool
import_ports_want(struct import_ports *p, const char *name, unsigned int n_before)
{
	size_t prefix = prefix_length(name, strlen(name));
	unsigned long number = strtoul(name + prefix, NULL, 10);

	if (p->count > 0)
		return n_before < p->count;
	for (unsigned int i = 0; i < p->n; i++) {
		struct import_port_range *r = &p->list[i];

		if (name[prefix] == '\0' || strlen(r->prefix) != prefix ||
		    strncasecmp(r->prefix, name, prefix) != 0 || number < r->first ||
		    number > r->last)
			continue;
		r->found = true;
		p->too_many |= n_before == SW_DEVICE_PORTS;
		return n_before < SW_DEVICE_PORTS;
	}
	return false;
}

int
import_ports_check(const struct import_ports *p, struct import_log *log)
{
	if (p->too_many)
		return import_refuse(log, " --ports: expected at most %u ports of the file",
				     SW_DEVICE_PORTS);
	for (unsigned int i = 0; i < p->n; i++)
		if (!p->list[i].found)
			return import_refuse(log, " --ports %s%lu: expected a port of the file",
					     p->list[i].prefix, p->list[i].first);
	return 0;
}

void
import_ports_left(const struct import_ports *p, const char *name, unsigned int n,
		  struct import_log *log)
{
	if (n > 0 && p->is_given)
		import_note(log, " --ports leaves out %s%s", name, n > 1 ? " and others" : "");
	else if (n > 0)
		import_lost(log,
			    " %s, the first of %u more ports: a switch has at most %u; --ports "
			    "chooses them, such as --ports %s",
			    name, n, SW_DEVICE_PORTS, name);
}
