/* SPDX-License-Identifier: BSD-3-Clause */
/* Lives by seed, the shortest life of those that fail, and lives from a file. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "unit/eal.h"
#include "life.h"

#define MEGABYTES 96
/* Of CPU, for one life: more is a loop without an end. */
#define MOST_SECONDS 120
#define MOST_JOBS 64
#define MOST_KINDS_OF_FAILURE 64
/* Lives that the shrinker tries, at most. */
#define MOST_ATTEMPTS 1500

static const struct life_kind *const kinds[] = {&life_pair, &life_switch, &life_fabric};
#define N_KINDS (ARRAY_LEN(kinds))

/* What a life that failed said, and the part of it that does not change with the numbers. */
struct failure {
	char text[8192];
	char what[256];
};

/* ---- scripts ---- */

static void
script_add(struct script *s, const char *line)
{
	s->line = realloc(s->line, (s->n + 1) * sizeof(*s->line));
	s->line[s->n++] = strdup(line);
}

static void
script_free(struct script *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		free(s->line[i]);
	free(s->line);
	*s = (struct script){0};
}

/* A part of a line of an INI file, as a word. */
static void
add_word(char *to, size_t size, const char *from, const char *end)
{
	size_t n = strlen(to);

	while (from < end && *from == ' ')
		from++;
	while (end > from && end[-1] == ' ')
		end--;
	for (; from < end && n + 1 < size; from++)
		to[n++] = *from == ' ' ? '+' : *from;
	to[n] = '\0';
}

/* "[event cut]" begins a line, and each "key = value" below it is a word of that. */
static void
read_ini_line(struct script *s, const char *line)
{
	const char *end = line + strlen(line), *value = strchr(line, '=');
	char text[1024] = "";

	if (line[0] == '[') {
		add_word(text, sizeof(text), line + 1, line + strcspn(line, "]"));
		script_add(s, text);
		return;
	}
	snprintf(text, sizeof(text), "%s ", s->line[s->n - 1]);
	add_word(text, sizeof(text), line, value == NULL ? end : value);
	if (value != NULL) {
		strncat(text, "=", sizeof(text) - strlen(text) - 1);
		add_word(text, sizeof(text), value + 1, end);
	}
	free(s->line[s->n - 1]);
	s->line[s->n - 1] = strdup(text);
}

static struct script
script_read(FILE *in)
{
	struct script s = {0};
	bool is_ini = false;
	char line[1024];

	while (fgets(line, sizeof(line), in) != NULL) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[strspn(line, " \t")] == '\0' || line[0] == '#')
			continue;
		is_ini |= line[0] == '[';
		if (is_ini)
			read_ini_line(&s, line);
		else
			script_add(&s, line);
	}
	return s;
}

static struct script
script_of(const struct life_kind *kind, uint64_t seed)
{
	struct prng r;
	struct script s;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	prng_seed(&r, seed, 0);
	kind->make(&r, f);
	fclose(f);
	f = fmemopen(text, size, "r");
	s = script_read(f);
	fclose(f);
	free(text);
	return s;
}

static struct script
script_copy(const struct script *from)
{
	struct script s = {0};

	for (unsigned int i = 0; i < from->n; i++)
		script_add(&s, from->line[i]);
	return s;
}

static const struct life_kind *
kind_named(const char *name)
{
	for (unsigned int i = 0; i < N_KINDS; i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

static const struct life_kind *
kind_of(const struct script *s)
{
	struct words w;

	if (s->n == 0)
		return NULL;
	words_of(s->line[0], &w);
	return w.n > 0 ? kind_named(w.word[0]) : NULL;
}

/* ---- one life, in a process of its own ---- */

static int errors_fd; /* where the children of this process write why they fail */

static void
be_child(void)
{
	const struct itimerval most = {.it_value.tv_sec = MOST_SECONDS};
	const struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	setitimer(ITIMER_VIRTUAL, &most, NULL);
	dup2(errors_fd, STDERR_FILENO);
	if (test_eal_init(MEGABYTES) < 0)
		_exit(3);
}

/* Digits say which packet, not what is wrong. */
static void
strip_numbers(const char *from, char *to, size_t size)
{
	size_t n = 0;

	for (; *from != '\0' && *from != '\n' && n + 1 < size; from++)
		if (*from < '0' || *from > '9')
			to[n++] = *from;
	to[n] = '\0';
}

static void
read_failure(int fd, int status, struct failure *out)
{
	ssize_t n = pread(fd, out->text, sizeof(out->text) - 1, 0);
	const char *line = out->text, *said = NULL;

	out->text[n > 0 ? n : 0] = '\0';
	for (; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "broken: ", 8) == 0 || strstr(line, "Assertion") != NULL ||
		    strstr(line, "error: Failure") != NULL || strstr(line, "ERROR: ") != NULL ||
		    strstr(line, "runtime error") != NULL)
			said = line;
	}
	if (said != NULL && strncmp(said, "broken: ", 8) == 0)
		/* broken: CHECK: how it came out */
		snprintf(out->what, sizeof(out->what), "%.*s", (int)(8 + strcspn(said + 8, ":\n")),
			 said);
	else if (said != NULL)
		strip_numbers(said, out->what, sizeof(out->what));
	else if (WIFSIGNALED(status))
		snprintf(out->what, sizeof(out->what), "killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(out->what, sizeof(out->what), "exit %d", WEXITSTATUS(status));
}

/* @return true: it fails. */
static bool
script_fails(const struct script *s, struct failure *why)
{
	const struct life_kind *kind = kind_of(s);
	int status;
	pid_t child;

	if (kind == NULL)
		return false;
	fflush(NULL);
	if (ftruncate(errors_fd, 0) != 0 || lseek(errors_fd, 0, SEEK_SET) != 0)
		abort();
	child = fork();
	if (child == 0) {
		be_child();
		kind->live(s);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return false;
	read_failure(errors_fd, status, why);
	return true;
}

/* ---- the shortest life that fails in the same way ---- */

struct shrinker {
	struct script best;
	struct failure why;
	unsigned int attempts;
};

/* Is the candidate as bad? Then it is the best. Takes it. */
static bool
is_as_bad(struct shrinker *sh, struct script candidate)
{
	struct failure why;

	sh->attempts++;
	if (script_fails(&candidate, &why) && strcmp(why.what, sh->why.what) == 0) {
		script_free(&sh->best);
		sh->best = candidate;
		sh->why = why;
		return true;
	}
	script_free(&candidate);
	return false;
}

/* Leave out n lines from one on, but not the first: it says what kind of life it is. */
static bool
without_lines(struct shrinker *sh, unsigned int from, unsigned int n)
{
	struct script s = {0};

	for (unsigned int i = 0; i < sh->best.n; i++)
		if (i == 0 || i < from || i >= from + n)
			script_add(&s, sh->best.line[i]);
	return is_as_bad(sh, s);
}

static bool
delete_lines(struct shrinker *sh)
{
	bool any = false;

	for (unsigned int n = sh->best.n / 2; n > 0; n /= 2)
		for (unsigned int from = sh->best.n; from > 1 && sh->attempts < MOST_ATTEMPTS;) {
			from = from > n + 1 ? from - n : 1;
			if (without_lines(sh, from, n))
				any = true;
			if (from > sh->best.n)
				from = sh->best.n;
		}
	return any;
}

static bool
with_line(struct shrinker *sh, unsigned int i, const struct words *w)
{
	struct script s = script_copy(&sh->best);
	char line[1024] = "";

	for (unsigned int k = 0; k < w->n; k++)
		if (w->word[k] != NULL)
			snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s",
				 line[0] == '\0' ? "" : " ", w->word[k]);
	free(s.line[i]);
	s.line[i] = strdup(line);
	return is_as_bad(sh, s);
}

static bool
delete_words(struct shrinker *sh)
{
	bool any = false;

	for (unsigned int i = 0; i < sh->best.n; i++)
		for (unsigned int k = 1; sh->attempts < MOST_ATTEMPTS; k++) {
			struct words w;

			words_of(sh->best.line[i], &w);
			if (k >= w.n)
				break;
			if (strchr(w.word[k], '=') == NULL)
				continue;
			w.word[k] = NULL;
			if (with_line(sh, i, &w)) {
				any = true;
				k--;
			}
		}
	return any;
}

/* The number in a word, which may end in a unit: 1, a tenth, a half, a rounder one. */
static bool
smaller(const char *word, unsigned int how, char *out, size_t size)
{
	const char *digits = strchr(word, '=');
	char *unit;
	uint64_t n, less;

	digits = digits == NULL ? word : digits + 1;
	if (*digits < '0' || *digits > '9')
		return false;
	n = strtoull(digits, &unit, 10);
	if (n < 2 || strpbrk(unit, "0123456789:.x") != NULL)
		return false;
	switch (how) {
	case 0:
		less = 1;
		break;
	case 1:
		less = n / 10;
		break;
	case 2:
		less = n / 2;
		break;
	default:
		less = 1;
		while (less <= n / 10)
			less *= 10;
		less = less < 10 ? n : n / (less / 10) * (less / 10);
	}
	if (less == n || less == 0)
		return false;
	snprintf(out, size, "%.*s%" PRIu64 "%s", (int)(digits - word), word, less, unit);
	return true;
}

static bool
shrink_numbers(struct shrinker *sh)
{
	bool any = false;

	for (unsigned int i = 0; i < sh->best.n; i++)
		for (unsigned int k = 1; k < LIFE_MAX_WORDS; k++)
			for (unsigned int how = 0; how < 4 && sh->attempts < MOST_ATTEMPTS; how++) {
				char word[256];
				struct words w;

				words_of(sh->best.line[i], &w);
				if (k >= w.n || !smaller(w.word[k], how, word, sizeof(word)))
					continue;
				w.word[k] = word;
				if (with_line(sh, i, &w)) {
					any = true;
					how = how == 0 ? 3 : how - 1;
				}
			}
	return any;
}

/* sh->best fails, as sh->why says. */
static void
shrink(struct shrinker *sh)
{
	bool more = true;

	while (more && sh->attempts < MOST_ATTEMPTS) {
		more = delete_lines(sh);
		more |= delete_words(sh);
		more |= shrink_numbers(sh);
	}
}

/* ---- lives by seed, in several processes ---- */

struct job {
	pid_t pid;
	int from_child; /* a uint64_t before each life, and the digest after it */
	int errors_fd;
	uint64_t next; /* the seed after those begun */
	uint64_t seed;
	bool living;
};

struct known_failure {
	char what[256];
	uint64_t first_seed, seeds;
};

static struct {
	const struct life_kind *kind;
	uint64_t first, end, jobs;
	bool print_digests, shrink_all, no_shrink;
	struct known_failure known[MOST_KINDS_OF_FAILURE];
	unsigned int n_known;
	uint64_t lived, failed;
} all;

static void
write_u64(int fd, uint64_t n)
{
	if (write(fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
		_exit(4);
}

static void
live_seeds(int fd, uint64_t seed)
{
	const struct itimerval most = {.it_value.tv_sec = MOST_SECONDS};

	be_child();
	for (; seed < all.end; seed += all.jobs) {
		struct script s = script_of(all.kind, seed);

		write_u64(fd, seed);
		setitimer(ITIMER_VIRTUAL, &most, NULL);
		write_u64(fd, all.kind->live(&s));
		script_free(&s);
	}
	_exit(0);
}

static void
job_begin(struct job *job)
{
	int fds[2];

	if (pipe(fds) != 0)
		abort();
	fflush(NULL);
	if (ftruncate(job->errors_fd, 0) != 0 || lseek(job->errors_fd, 0, SEEK_SET) != 0)
		abort();
	job->living = false;
	job->pid = fork();
	if (job->pid == 0) {
		close(fds[0]);
		errors_fd = job->errors_fd;
		live_seeds(fds[1], job->next);
	}
	close(fds[1]);
	job->from_child = fds[0];
}

static bool
is_new(const struct failure *why, uint64_t seed)
{
	for (unsigned int i = 0; i < all.n_known; i++)
		if (strcmp(all.known[i].what, why->what) == 0) {
			all.known[i].seeds++;
			return false;
		}
	if (all.n_known < MOST_KINDS_OF_FAILURE) {
		struct known_failure *k = &all.known[all.n_known++];

		snprintf(k->what, sizeof(k->what), "%s", why->what);
		k->first_seed = seed;
		k->seeds = 1;
	}
	return true;
}

static void
show_script(const struct script *s)
{
	if (kind_of(s)->is_ini) {
		script_ini(s, stdout);
		fflush(stdout);
		return;
	}
	for (unsigned int i = 0; i < s->n; i++)
		printf("    %s\n", s->line[i]);
	fflush(stdout);
}

static void
show_shortest(struct shrinker *sh)
{
	unsigned int lines = sh->best.n;

	shrink(sh);
	printf("the shortest life that fails so has %u of %u steps (%u were tried); with these "
	       "lines "
	       "in a file: life --replay FILE\n",
	       sh->best.n, lines, sh->attempts);
	show_script(&sh->best);
	printf("  %s\n", sh->why.text);
	fflush(stdout);
}

static void
show_failure(uint64_t seed, const struct failure *why)
{
	struct shrinker sh = {0};
	bool new = is_new(why, seed);

	all.failed++;
	printf("%s seed %" PRIu64 ": %s\n%s", all.kind->name, seed, why->what, why->text);
	if (!new && !all.shrink_all)
		return;
	if (all.no_shrink)
		return;
	sh.best = script_of(all.kind, seed);
	if (!script_fails(&sh.best, &sh.why))
		printf("alone, this seed does not fail: it needs the lives before it\n");
	else
		show_shortest(&sh);
	script_free(&sh.best);
}

/* The child has ended. @return false: no seeds are left to it. */
static bool
job_ended(struct job *job)
{
	struct failure why;
	int status;

	close(job->from_child);
	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!job->living && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return false;
	read_failure(job->errors_fd, status, &why);
	show_failure(job->living ? job->seed : job->next, &why);
	if (!job->living)
		job->next += all.jobs; /* it did not even begin */
	return job->next < all.end;
}

/* @return false: the child has ended. */
static bool
job_heard(struct job *job)
{
	uint64_t n;

	if (read(job->from_child, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return false;
	if (!job->living) {
		job->seed = n;
		job->next = n + all.jobs;
	} else {
		all.lived++;
		if (all.print_digests)
			printf("%s seed %" PRIu64 " %016" PRIx64 "\n", all.kind->name, job->seed,
			       n);
	}
	job->living = !job->living;
	return true;
}

static int
live_all(void)
{
	struct job job[MOST_JOBS];
	struct pollfd fds[MOST_JOBS];
	unsigned int running = 0;

	for (uint64_t i = 0; i < all.jobs; i++) {
		job[i] =
			(struct job){.next = all.first + i, .errors_fd = memfd_create("errors", 0)};
		fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
		if (job[i].next >= all.end)
			continue;
		job_begin(&job[i]);
		fds[i].fd = job[i].from_child;
		running++;
	}
	while (running > 0) {
		if (poll(fds, all.jobs, -1) < 0)
			continue;
		for (uint64_t i = 0; i < all.jobs; i++) {
			if (fds[i].fd < 0 || fds[i].revents == 0 || job_heard(&job[i]))
				continue;
			fds[i].fd = -1;
			if (!job_ended(&job[i])) {
				running--;
				continue;
			}
			job_begin(&job[i]);
			fds[i].fd = job[i].from_child;
		}
	}
	return all.failed > 0;
}

/* ---- the command line ---- */

static int
usage(void)
{
	fprintf(stderr,
		"usage: life KIND [--seeds FIRST[-LAST]] [--jobs N] [--digests] [--shrink-all] "
		"[--no-shrink]\n"
		"       life KIND --print SEED      the script of a seed\n"
		"       life --replay FILE          live a script; -: standard input\n"
		"       life --shrink FILE          and find the shortest that fails as it does\n"
		"kinds:");
	for (unsigned int i = 0; i < N_KINDS; i++)
		fprintf(stderr, " %s (%s)", kinds[i]->name, kinds[i]->help);
	fputc('\n', stderr);
	return 2;
}

static int
replay(const char *path, bool shorten)
{
	FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	struct shrinker sh = {0};

	if (in == NULL) {
		fprintf(stderr, "life: %s: %s\n", path, strerror(errno));
		return 2;
	}
	sh.best = script_read(in);
	if (kind_of(&sh.best) == NULL) {
		fprintf(stderr, "life: %s: the first word must be the kind of life\n", path);
		return 2;
	}
	if (!script_fails(&sh.best, &sh.why)) {
		printf("nothing is wrong\n");
		return 0;
	}
	printf("%s\n%s", sh.why.what, sh.why.text);
	if (shorten)
		show_shortest(&sh);
	return 1;
}

static void
sum_up(void)
{
	printf("%s: %" PRIu64 " lives of seeds %" PRIu64 " to %" PRIu64 ", %" PRIu64 " failed\n",
	       all.kind->name, all.lived + all.failed, all.first, all.end - 1, all.failed);
	for (unsigned int i = 0; i < all.n_known; i++)
		printf("  %6" PRIu64 " x %s (first: seed %" PRIu64 ")\n", all.known[i].seeds,
		       all.known[i].what, all.known[i].first_seed);
}

int
main(int argc, char **argv)
{
	int rc;

	setvbuf(stdout, NULL, _IOLBF, 0);
	errors_fd = memfd_create("errors", 0);
	if (argc == 3 && strcmp(argv[1], "--replay") == 0)
		return replay(argv[2], false);
	if (argc == 3 && strcmp(argv[1], "--shrink") == 0)
		return replay(argv[2], true);
	if (argc < 2 || (all.kind = kind_named(argv[1])) == NULL)
		return usage();
	all.first = 1;
	all.end = 301;
	all.jobs = 1;
	for (int i = 2; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		char *dash;

		if (strcmp(argv[i], "--digests") == 0) {
			all.print_digests = true;
		} else if (strcmp(argv[i], "--shrink-all") == 0) {
			all.shrink_all = true;
		} else if (strcmp(argv[i], "--no-shrink") == 0) {
			all.no_shrink = true;
		} else if (strcmp(argv[i], "--seeds") == 0 && *value != '\0') {
			all.first = strtoull(value, &dash, 10);
			all.end = (*dash == '-' ? strtoull(dash + 1, NULL, 10) : all.first) + 1;
			i++;
		} else if (strcmp(argv[i], "--jobs") == 0 && *value != '\0') {
			all.jobs = strtoull(value, NULL, 10);
			if (all.jobs == 0 || all.jobs > MOST_JOBS)
				return usage();
			i++;
		} else if (strcmp(argv[i], "--print") == 0 && *value != '\0') {
			struct script s = script_of(all.kind, strtoull(value, NULL, 10));

			if (all.kind->is_ini)
				script_ini(&s, stdout);
			for (unsigned int k = 0; k < s.n && !all.kind->is_ini; k++)
				printf("%s\n", s.line[k]);
			script_free(&s);
			return 0;
		} else {
			return usage();
		}
	}
	rc = live_all();
	sum_up();
	return rc;
}
