/* SPDX-License-Identifier: BSD-3-Clause */
/* import and export: convert a file, with a line for each setting that is not carried over. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/notice/say.h"
#include "quenchctl/convert/convert_commands.h"
#include "import/conversion/import.h"
#include "import/export/export_sonic.h"
#include "import/mlx5/mlnx.h"
#include "import/nxos/nxos.h"
#include "import/sonic/sonic.h"

/* The byte order mark that Windows editors put before UTF-8. */
#define BOM "\xef\xbb\xbf"

/* @return the text, to be freed, with a zero after it; NULL after an error line. */
static char *
read_input(const char *path, size_t *size)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	char *text = malloc(IMPORT_MAX_BYTES + 2);

	if (in == NULL || text == NULL) {
		say_error("%s: cannot be opened: %s", path, strerror(errno));
		free(text);
		return NULL;
	}
	errno = 0;
	*size = fread(text, 1, IMPORT_MAX_BYTES + 1, in);
	if (ferror(in)) {
		say_error("%s: cannot be read: %s", path, strerror(errno));
		free(text);
		text = NULL;
	} else if (*size > IMPORT_MAX_BYTES) {
		say_error("%s: expected a file of at most %u bytes", path, IMPORT_MAX_BYTES);
		free(text);
		text = NULL;
	} else {
		text[*size] = '\0';
		if (strncmp(text, BOM, strlen(BOM)) == 0) {
			*size -= strlen(BOM);
			memmove(text, text + strlen(BOM), *size + 1);
		}
	}
	if (!is_stdin)
		fclose(in);
	return text;
}

static int
say_log(const struct import_log *log)
{
	/* Not say(), which truncates long lines. */
	for (unsigned int i = 0; i < log->n_notes; i++)
		fprintf(stderr, "quenchctl: changed or assumed: %s:%s\n", log->file, log->notes[i]);
	for (unsigned int i = 0; i < log->n_lost; i++)
		fprintf(stderr, "quenchctl: not carried over: %s:%s\n", log->file, log->lost[i]);
	if (log->n_asides > 0) {
		char *asides = import_aside_text(log);

		fprintf(stderr, "quenchctl: not about forwarding or buffering: %s: %s\n", log->file,
			asides);
		free(asides);
	}
	/* Print the totals, because the notes on a running-config may fill more than a screen. */
	if (log->n_lost + log->n_notes > 20)
		say("%u not carried over, %u changed or assumed", log->n_lost, log->n_notes);
	return log->n_lost > 0 ? APP_PARTLY : APP_DONE;
}

static const char *input_name;

static void
end_without_memory(void)
{
	say_error("%s: out of memory", input_name);
	exit(APP_FAILED);
}

/* Conversion of one dialect, from text to text. */
typedef int convert_fn(const char *text, size_t size, FILE *out, struct import_log *log);

static convert_fn from_nxos, from_sonic;

static int
convert(const struct ctl_options *o, const char *path, convert_fn *fn)
{
	struct import_log log = {
		.file = strcmp(path, "-") == 0 ? "standard input" : path,
		.ports = o->ports,
	};
	char *output = NULL, *text;
	size_t size = 0, output_size = 0;
	FILE *out;
	bool is_whole;
	int rc;

	if (o->ports != NULL && fn != from_nxos && fn != from_sonic) {
		say_error("--ports: expected import nxos or import sonic");
		return APP_BAD_USAGE;
	}
	if (o->json || o->path != NULL || o->prefix != NULL) {
		say_error("import and export: expected no option but --output, since they use no "
			  "running program");
		return APP_BAD_USAGE;
	}
	text = read_input(path, &size);
	if (text == NULL)
		return APP_BAD_USAGE;
	input_name = log.file;
	import_on_no_memory(end_without_memory);
	out = open_memstream(&output, &output_size);
	if (out == NULL)
		end_without_memory();
	rc = fn(text, size, out, &log);
	is_whole = ferror(out) == 0;
	if (fclose(out) != 0 || !is_whole || output == NULL)
		end_without_memory();
	if (rc != 0) {
		say_error("%s", log.error);
		rc = APP_BAD_USAGE;
	} else {
		rc = write_output(o, output, output_size);
	}
	if (rc == APP_DONE)
		rc = say_log(&log);
	import_log_free(&log);
	free(output);
	free(text);
	return rc;
}

static int
to_switch(int (*import)(const char *, size_t, struct import_switch *, struct import_log *),
	  const char *text, size_t size, FILE *out, struct import_log *log)
{
	static struct import_switch sw;
	int rc = import(text, size, &sw, log);

	if (rc == 0)
		import_switch_print(out, &sw, log);
	import_switch_free(&sw);
	return rc;
}

static int
from_nxos(const char *text, size_t size, FILE *out, struct import_log *log)
{
	return to_switch(import_nxos, text, size, out, log);
}

static int
from_sonic(const char *text, size_t size, FILE *out, struct import_log *log)
{
	return to_switch(import_sonic, text, size, out, log);
}

static int
from_mlnx(const char *text, size_t size, FILE *out, struct import_log *log)
{
	struct nic_config nic;
	int rc = import_mlnx(text, size, &nic, log);

	if (rc != 0)
		return rc;
	import_nic_print(out, &nic, log);
	nic_config_free(&nic);
	return 0;
}

static int
to_sonic(const char *text, size_t size, FILE *out, struct import_log *log)
{
	static struct import_switch sw;
	int rc = import_switch_read(text, size, &sw, log);

	if (rc == 0) {
		rc = export_sonic(&sw, out, log);
		import_switch_free(&sw);
	}
	return rc;
}

int
command_import_nxos(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	return convert(o, params[0], from_nxos);
}

int
command_import_sonic(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	return convert(o, params[0], from_sonic);
}

int
command_import_mlnx(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	return convert(o, params[0], from_mlnx);
}

int
command_export_sonic(const struct ctl_options *o, const char *const params[COMMAND_PARAMS])
{
	return convert(o, params[0], to_sonic);
}
