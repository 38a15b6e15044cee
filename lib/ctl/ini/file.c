/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ini/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/ini/take.h"

/* Initial size of the text buffer. */
#define FIRST_ROOM (16u << 10)

static int
parse_section(struct config_taker *t, char *line)
{
	char *end = strchr(line, ']');

	if (!end)
		return config_take_refuse(t, "expected ']' after the section name");
	if (end[1] != '\0')
		return config_take_refuse(t, "expected nothing after ']'");
	*end = '\0';
	return config_take_section(t, line + 1);
}

static int
parse_key(struct config_taker *t, char *line)
{
	char *equals = strchr(line, '=');

	if (!equals)
		return config_take_refuse(t, "expected [section] or key = value, found '%.40s'",
					  line);
	*equals = '\0';
	return config_take_key(t, line, equals + 1);
}

static int
parse_line(struct config_taker *t, char *line)
{
	char *comment = config_comment(line);

	if (comment != NULL)
		*comment = '\0';
	line = config_trim(line);
	for (char *c = line; *c; c++)
		if (*c == '\t')
			*c = ' ';
	if (*line == '\0')
		return 0;
	if (!config_is_printable(line))
		return config_take_refuse(t, "expected printable ASCII outside comments");
	return *line == '[' ? parse_section(t, line) : parse_key(t, line);
}

static int
parse_text(struct config_taker *t, char *text, size_t size)
{
	char *next;
	int rc = 0;

	for (char *line = text; rc == 0 && line < text + size; line = next) {
		char *end = memchr(line, '\n', (size_t)(text + size - line));

		/* There is a zero after the last byte, which ends a last line without newline. */
		end = end ? end : text + size;
		next = end + 1;
		t->line++;
		*end = '\0';
		if (strlen(line) != (size_t)(end - line))
			return config_take_refuse(t, "expected text, found a zero byte");
		rc = parse_line(t, line);
	}
	return rc;
}

/*
 * Read to the end of the file, or until more than CONFIG_MAX_FILE_BYTES were read, so that a file
 * that is too large is detected even if it grows meanwhile. The buffer grows as needed, since most
 * files are far smaller than the limit.
 *
 * @param text  *text is NULL on entry. On return, also after an error, the caller frees it.
 * @return      The count, or -1 with errno set.
 */
static ssize_t
read_all(int fd, char **text)
{
	size_t size = 0, capacity = 0;
	ssize_t n;

	do {
		if (size == capacity) {
			char *grown;

			capacity = capacity == 0 ? FIRST_ROOM : 2 * capacity;
			grown = realloc(*text, capacity + 1);
			if (!grown)
				return -1;
			*text = grown;
		}
		n = read(fd, *text + size, capacity - size);
		if (n < 0)
			return -1;
		size += (size_t)n;
	} while (n > 0 && size <= CONFIG_MAX_FILE_BYTES);
	return (ssize_t)size;
}

/* @return the text of an open file with a zero after it, or NULL. The caller frees it. */
static char *
read_text(int fd, const char *path, size_t *size, struct config_error *err)
{
	char *text = NULL;
	ssize_t n = read_all(fd, &text);

	if (n < 0)
		config_error_set(err, path, " cannot be read: %s", strerror(errno));
	else if (n > (ssize_t)CONFIG_MAX_FILE_BYTES)
		config_error_set(err, path, " expected a file of at most %u bytes",
				 CONFIG_MAX_FILE_BYTES);
	if (n < 0 || n > (ssize_t)CONFIG_MAX_FILE_BYTES) {
		free(text);
		return NULL;
	}
	*size = (size_t)n;
	text[n] = '\0';
	return text;
}

/* @return a descriptor, -errno, or -ENOTSUP: no regular file. */
static int
open_regular(const char *path)
{
	/* O_NONBLOCK, so that a FIFO is refused, and does not block the program. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = -ENOTSUP;
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

FILE *
config_file_stream(const char *path, const char **fault)
{
	int fd = open_regular(path);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (file != NULL)
		return file;
	*fault = fd == -ENOTSUP ? "no regular file" : strerror(fd < 0 ? -fd : errno);
	if (fd >= 0)
		close(fd);
	return NULL;
}

char *
config_file_text(const char *path, size_t *size, struct config_error *err)
{
	int fd = open_regular(path);
	char *text = NULL;

	if (fd == -ENOTSUP)
		config_error_set(err, path, " expected a regular file");
	else if (fd < 0)
		config_error_set(err, path, " cannot be opened: %s", strerror(-fd));
	else
		text = read_text(fd, path, size, err);
	if (fd >= 0)
		close(fd);
	return text;
}

/* Modifies text, which must have a zero after its last byte. */
static int
parse(const char *path, char *text, size_t size, struct config_store *out, struct config_error *err)
{
	struct config_taker t = {.path = path, .store = out, .err = err};

	return parse_text(&t, text, size);
}

int
config_file_load(const char *path, struct config_store *out, struct config_error *err)
{
	size_t size = 0;
	char *text = config_file_text(path, &size, err);
	int rc = text ? parse(path, text, size, out, err) : -EINVAL;

	free(text);
	return rc;
}

int
config_file_parse(const char *path, const char *text, size_t size, struct config_store *out,
		  struct config_error *err)
{
	char *copy;
	int rc;

	copy = strndup(text, size);
	if (copy) {
		rc = parse(path, copy, strlen(copy), out, err);
	} else {
		config_error_set(err, path, " out of memory");
		rc = -EINVAL;
	}
	free(copy);
	return rc;
}

static bool
copy_trimmed(char *to, const char *from, size_t n, size_t most)
{
	char text[CONFIG_MAX_VALUE + 1];
	char *word;

	if (n >= sizeof(text))
		return false;
	memcpy(text, from, n);
	text[n] = '\0';
	word = config_trim(text);
	if (strlen(word) > most)
		return false;
	strcpy(to, word);
	return true;
}

enum config_set_fault
config_split_set(const char *text, char *section, char *key, char *value)
{
	const char *equals = strchr(text, '=');
	const char *dot = equals ? memrchr(text, '.', (size_t)(equals - text)) : NULL;

	if (!dot || !config_is_printable(text))
		return CONFIG_SET_FORM;
	if (!copy_trimmed(section, text, (size_t)(dot - text), CONFIG_MAX_NAME) ||
	    !copy_trimmed(key, dot + 1, (size_t)(equals - dot) - 1, CONFIG_MAX_NAME) ||
	    !copy_trimmed(value, equals + 1, strlen(equals + 1), CONFIG_MAX_VALUE))
		return CONFIG_SET_LENGTH;
	config_squeeze(section);
	return *section && *key && !strpbrk(key, " []") && !strpbrk(section, "[]")
		       ? CONFIG_SET_OK
		       : CONFIG_SET_FORM;
}
