/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ini/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Initial size of the text buffer. */
#define FIRST_ROOM (16u << 10)

struct parser {
	const char *path;
	struct config_store *store;
	struct config_error *err;
	unsigned int line;
	unsigned int sections;
	struct config_part *section; /* NULL: before the first */
};

#define REFUSE(p, ...) (config_error_set((p)->err, (p)->path, __VA_ARGS__), -EINVAL)

/* Cut blanks off both ends, in place. */
static char *
trim(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	for (n = strlen(text); n > 0 && strchr(" \t\r", text[n - 1]); n--)
		;
	text[n] = '\0';
	return text;
}

static void
cut_comment(char *line)
{
	for (char *c = line; *c; c++) {
		if ((*c == '#' || *c == ';') && (c == line || c[-1] == ' ' || c[-1] == '\t')) {
			*c = '\0';
			return;
		}
	}
}

static bool
printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

/* Replace several blanks by one: "port 0" becomes "port 0". */
static void
squeeze(char *name)
{
	char *to = name;

	for (const char *from = name; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = '\0';
}

static int
parse_section(struct parser *p, char *line)
{
	char *end = strchr(line, ']');
	char *name;

	if (!end)
		return REFUSE(p, "%u: expected ']' after the section name", p->line);
	if (end[1] != '\0')
		return REFUSE(p, "%u: expected nothing after ']'", p->line);
	*end = '\0';
	name = trim(line + 1);
	squeeze(name);
	if (*name == '\0')
		return REFUSE(p, "%u: expected a section name between '[' and ']'", p->line);
	if (strlen(name) > CONFIG_MAX_NAME)
		return REFUSE(p, "%u: expected a section name of at most %u characters", p->line,
			      CONFIG_MAX_NAME);
	if (config_store_find(p->store, name) != NULL)
		return REFUSE(p, "%u: section [%s] comes twice", p->line, name);
	if (p->sections++ == CONFIG_MAX_SECTIONS)
		return REFUSE(p, "%u: expected at most %u sections", p->line, CONFIG_MAX_SECTIONS);
	p->section = config_store_add(p->store, name);
	if (p->section == NULL)
		return REFUSE(p, " out of memory");
	p->section->line = p->line;
	return 0;
}

static int
parse_key(struct parser *p, char *line)
{
	char *equals = strchr(line, '=');
	char *key = line, *value;

	if (!equals)
		return REFUSE(p, "%u: expected [section] or key = value, found '%.40s'", p->line,
			      line);
	*equals = '\0';
	key = trim(key);
	value = trim(equals + 1);
	if (*key == '\0' || strpbrk(key, " []"))
		return REFUSE(p, "%u: expected one word before '='", p->line);
	if (strlen(key) > CONFIG_MAX_NAME)
		return REFUSE(p, "%u: expected a key of at most %u characters", p->line,
			      CONFIG_MAX_NAME);
	if (strlen(value) > CONFIG_MAX_VALUE)
		return REFUSE(p, "%u: expected a value of at most %u characters for %s", p->line,
			      CONFIG_MAX_VALUE, key);
	if (p->section == NULL)
		return REFUSE(p, "%u: expected a [section] before the first key, %s", p->line, key);
	if (p->section->n == CONFIG_MAX_KEYS)
		return REFUSE(p, "%u: expected at most %u keys in [%s]", p->line, CONFIG_MAX_KEYS,
			      p->section->name);
	if (config_part_find(p->section, key) != NULL)
		return REFUSE(p, "%u: %s comes twice in [%s]", p->line, key, p->section->name);
	if (config_part_add(p->section, key, value, p->line) != 0)
		return REFUSE(p, " out of memory");
	return 0;
}

static int
parse_line(struct parser *p, char *line)
{
	cut_comment(line);
	line = trim(line);
	for (char *c = line; *c; c++)
		if (*c == '\t')
			*c = ' ';
	if (*line == '\0')
		return 0;
	if (!printable(line))
		return REFUSE(p, "%u: expected printable ASCII outside comments", p->line);
	return *line == '[' ? parse_section(p, line) : parse_key(p, line);
}

static int
parse_text(struct parser *p, char *text, size_t size)
{
	char *next;
	int rc = 0;

	for (char *line = text; rc == 0 && line < text + size; line = next) {
		char *end = memchr(line, '\n', (size_t)(text + size - line));

		/* There is a zero after the last byte, which ends a last line without newline. */
		end = end ? end : text + size;
		next = end + 1;
		p->line++;
		*end = '\0';
		if (strlen(line) != (size_t)(end - line))
			return REFUSE(p, "%u: expected text, found a zero byte", p->line);
		rc = parse_line(p, line);
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
	struct parser p = {.path = path, .store = out, .err = err};

	return parse_text(&p, text, size);
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
	word = trim(text);
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

	if (!dot || !printable(text))
		return CONFIG_SET_FORM;
	if (!copy_trimmed(section, text, (size_t)(dot - text), CONFIG_MAX_NAME) ||
	    !copy_trimmed(key, dot + 1, (size_t)(equals - dot) - 1, CONFIG_MAX_NAME) ||
	    !copy_trimmed(value, equals + 1, strlen(equals + 1), CONFIG_MAX_VALUE))
		return CONFIG_SET_LENGTH;
	squeeze(section);
	return *section && *key && !strpbrk(key, " []") && !strpbrk(section, "[]")
		       ? CONFIG_SET_OK
		       : CONFIG_SET_FORM;
}
