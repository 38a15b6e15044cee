/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/command/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime/notice/say.h"
#include "ctl/output/out_file.h"

int
check_params(const char *const params[COMMAND_PARAMS])
{
	for (unsigned int i = 0; i < COMMAND_PARAMS && params[i] != NULL; i++) {
		if (*params[i] != '\0' && strchr(params[i], ',') == NULL &&
		    strlen(params[i]) < COMMAND_PARAM_CHARS)
			continue;
		say_error("%s: expected a word without a comma, of at most %d characters",
			  params[i], COMMAND_PARAM_CHARS - 1);
		return APP_BAD_USAGE;
	}
	return 0;
}

struct text_to_write {
	const char *text;
	size_t size;
};

static int
print_text(FILE *out, const void *arg)
{
	const struct text_to_write *t = arg;

	return fwrite(t->text, 1, t->size, out) == t->size ? 0 : -errno;
}

/* Write a file completely, or leave it unchanged. */
static int
write_file(const char *path, const char *text, size_t size)
{
	const struct text_to_write t = {text, size};
	int rc = out_file_write(path, print_text, &t);

	if (rc == 0)
		return APP_DONE;
	say_unwritten(path, -rc);
	return APP_FAILED;
}

int
write_output(const struct ctl_options *o, const char *text, size_t size)
{
	if (o->output != NULL)
		return write_file(o->output, text, size);
	/* say_end() reports an error here. */
	fwrite(text, 1, size, stdout);
	return APP_DONE;
}
