/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as an INI file of each role: refused with one line, or taken; and a configuration that
 * was taken is printed as a file that is taken again and prints the same.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "ctl/nic_config/nic_config.h"
#include "ctl/switch_config/switch_config.h"
#include "fuzz/fuzz.h"

struct role {
	/* Read the file and print to out what is in force. Returns as config_read(). */
	int (*read_and_print)(struct config *cfg, FILE *out, struct config_error *err);
};

static int
switch_role(struct config *cfg, FILE *out, struct config_error *err)
{
	static struct sw_params params;
	int rc = switch_config_read(cfg, &params, err);

	if (rc == 0)
		rc = config_finish(cfg, err);
	if (rc == 0)
		switch_config_print(out, &params);
	return rc;
}

static int
nic_role(struct config *cfg, FILE *out, struct config_error *err)
{
	struct nic_config config;
	int rc = nic_config_read(cfg, NULL, &config, err);

	if (rc != 0)
		return rc;
	rc = config_finish(cfg, err);
	if (rc == 0)
		nic_config_print(out, &config);
	nic_config_free(&config);
	return rc;
}

/* One file in memory, written anew for each text, that config_open() is given by name. */
static void
memory_file(const void *data, size_t len, char *path, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("config", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, data, len, 0) == (ssize_t)len);
	snprintf(path, size, "/proc/self/fd/%d", fd);
}

/* @return what the role prints, to be freed; or NULL after a refusal of one line. */
static char *
take(const struct role *role, const void *data, size_t len)
{
	struct config_error err = {""};
	char path[64], *text = NULL;
	struct config *cfg;
	size_t size = 0;
	bool taken;
	FILE *out;

	memory_file(data, len, path, sizeof(path));
	out = open_memstream(&text, &size);
	cfg = config_open(path, &err);
	taken = cfg && role->read_and_print(cfg, out, &err) == 0;
	config_close(cfg);
	fclose(out);
	if (taken)
		return text;
	free(text);
	FUZZ_CHECK(strncmp(err.text, path, strlen(path)) == 0);
	FUZZ_CHECK(strchr(err.text, '\n') == NULL);
	FUZZ_CHECK(strlen(err.text) < sizeof(err.text) - 1); /* nothing was cut off */
	return NULL;
}

static void
run_role(const struct role *role, const uint8_t *data, size_t len)
{
	char *text = take(role, data, len), *again;

	if (!text)
		return;
	again = take(role, text, strlen(text));
	FUZZ_CHECK(again != NULL && strcmp(text, again) == 0);
	free(text);
	free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct role roles[] = {{switch_role}, {nic_role}};

	for (unsigned int i = 0; i < ARRAY_LEN(roles); i++)
		run_role(&roles[i], data, len);
	return 0;
}
