/* SPDX-License-Identifier: BSD-3-Clause */
/* quenchctl: shows and controls a running quench-nic or quench-switch. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers/decimal.h"
#include "runtime/notice/say.h"
#include "quenchctl/capture/capture_command.h"
#include "quenchctl/socket/client.h"
#include "quenchctl/metrics/metrics.h"
#include "quenchctl/show/show.h"
#include "quenchctl/web/web.h"
#include "quenchctl/commands.h"

struct options {
	struct ctl_options show;
	bool help, version;
};

static const char usage[] =
	"usage: quenchctl [options] COMMAND\n"
	"\n"
	"Show and control a running quench-nic or quench-switch.\n"
	"\n"
	"  -f, --file-prefix NAME   talk to the program started with --file-prefix NAME\n"
	"  -s, --socket PATH        talk to the program with this telemetry socket\n"
	"                           (without -f and -s: to the only running program)\n"
	"  -j, --json               print JSON instead of tables\n"
	"  -w, --watch[=SECONDS]    repeat every SECONDS (default 1)\n"
	"  -o, --output FILE        write the output of import or export to FILE\n"
	"  -p, --ports LIST         import these ports, such as Ethernet1/1,1/3 or Ethernet0-28,\n"
	"                           or the first N (default: the first 64)\n"
	"  -a, --all                show idle queues and priority groups too\n"
	"      --since-start        show counters since the start, not since the last clear\n"
	"      --count N            end a capture after N frames\n"
	"      --size BYTES         end a capture before its file is larger, such as 10MB\n"
	"      --duration TIME      end a capture after this time, such as 20s\n"
	"      --kind KINDS         capture only these frames: data, ack, nak, cnp, pause, arp or\n"
	"                           other, or some of them, as data,cnp\n"
	"      --qp QPN             capture only RoCEv2 frames for this destination QP\n"
	"      --match MATCHES      capture only frames with these bits, such as\n"
	"                           ipv4@96/32:0a000001,l4@16/16:12b7\n"
	"      --snaplen BYTES      capture at most these first bytes of each frame\n"
	"      --buffer BYTES       memory for frames of a capture on their way, for each polling\n"
	"                           lcore (default 8MiB)\n"
	"      --listen ADDRESS:PORT  listen there: serve-metrics (default 127.0.0.1:9880),\n"
	"                           web (default 127.0.0.1:9881)\n"
	"      --control[=FILE]     let the page of web set Kmin, Kmax, Pmax and rate caps, and start,\n"
	"                           stop and reset flows; FILE has the token (default: a random one)\n"
	"      --qps N, --flows N   metrics of the first N QPs (default 0), flows (default 256)\n"
	"      --help, --version    --help after words of a command: of this command\n"
	"\n"
	"Exit code 0: done; 1: the program is gone, or cannot be reached; 2: a wrong command or\n"
	"parameter, or a refused file: nothing was done; 3: import or export reported settings\n"
	"that they could not carry over.\n"
	"\n"
	"Commands:\n";

static int
read_watch(const char *text, double *seconds)
{
	char *end;

	*seconds = text != NULL ? strtod(text, &end) : 1;
	if (text == NULL || (end != text && *end == '\0' && *seconds >= 0.05 && *seconds <= 86400))
		return 0;
	say_error("--watch = %s: expected seconds from 0.05 to 86400", text);
	return APP_BAD_USAGE;
}

static int
read_bound(const char *option, const char *text, unsigned int most, unsigned int *value)
{
	uint64_t number;

	if (!decimal_parse(text, 0, most, &number)) {
		say_error("%s = %s: expected a number from 0 to %u", option, text, most);
		return APP_BAD_USAGE;
	}
	*value = (unsigned int)number;
	return 0;
}

/* The program checks the value. */
static int
add_capture_option(struct ctl_options *o, const char *name, const char *value)
{
	size_t used = strlen(o->capture), size = sizeof(o->capture);

	if (*value == '\0' || strchr(value, ' ') != NULL ||
	    used + strlen(name) + strlen(value) + 3 > size) {
		say_error("--%s = %.64s: expected a word", name, value);
		return APP_BAD_USAGE;
	}
	snprintf(o->capture + used, size - used, " %s=%s", name, value);
	return 0;
}

static int
read_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{"file-prefix", required_argument, NULL, 'f'},
		{"socket", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"watch", optional_argument, NULL, 'w'},
		{"output", required_argument, NULL, 'o'},
		{"ports", required_argument, NULL, 'p'},
		{"all", no_argument, NULL, 'a'},
		{"since-start", no_argument, NULL, 'S'},
		{"count", required_argument, NULL, 'C'},
		{"size", required_argument, NULL, 'C'},
		{"duration", required_argument, NULL, 'C'},
		{"kind", required_argument, NULL, 'C'},
		{"qp", required_argument, NULL, 'C'},
		{"match", required_argument, NULL, 'C'},
		{"snaplen", required_argument, NULL, 'C'},
		{"buffer", required_argument, NULL, 'C'},
		{"listen", required_argument, NULL, 'L'},
		{"control", optional_argument, NULL, 'W'},
		{"qps", required_argument, NULL, 'Q'},
		{"flows", required_argument, NULL, 'F'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	int option, index = 0, rc = 0;

	opterr = 0;
	while (rc == 0 &&
	       (option = getopt_long(argc, argv, "f:s:jw::o:p:ah", options, &index)) != -1) {
		switch (option) {
		case 'f':
			o->show.prefix = optarg;
			break;
		case 's':
			o->show.path = optarg;
			break;
		case 'j':
			o->show.json = true;
			break;
		case 'w':
			rc = read_watch(optarg, &o->show.watch_s);
			break;
		case 'o':
			o->show.output = optarg;
			break;
		case 'p':
			o->show.ports = optarg;
			break;
		case 'a':
			o->show.all = true;
			break;
		case 'S':
			o->show.since_start = true;
			break;
		case 'C':
			rc = add_capture_option(&o->show, options[index].name, optarg);
			break;
		case 'L':
			o->show.listen = optarg;
			break;
		case 'W':
			o->show.control = true;
			o->show.control_file = optarg;
			break;
		case 'Q':
			rc = read_bound("--qps", optarg, METRICS_MOST_QPS, &o->show.bounds.qps);
			break;
		case 'F':
			rc = read_bound("--flows", optarg, METRICS_MOST_FLOWS,
					&o->show.bounds.flows);
			break;
		case 'h':
			o->help = true;
			break;
		case 'V':
			o->version = true;
			break;
		default:
			say_error("%s: expected an option of --help, with its value",
				  argv[optind - 1]);
			rc = APP_BAD_USAGE;
		}
	}
	if (rc == 0 && o->show.path != NULL && o->show.prefix != NULL) {
		say_error("--socket and --file-prefix: expected one of them");
		rc = APP_BAD_USAGE;
	}
	return rc;
}

/* Clear the screen, if there is one. */
static void
wipe(void)
{
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
}

static void
rest(double seconds)
{
	struct timespec t = {.tv_sec = (time_t)seconds};

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

static bool
may_watch(const struct command *command)
{
	return command->run == command_show || command->watchable || command->goes_on;
}

static int
run(const struct options *o, int argc, char **argv)
{
	const char *params[COMMAND_PARAMS];
	const struct command *command = command_find(argc, argv, NULL, params);
	struct client c = {0};
	int rc;

	/* Refuse words that no program knows before connecting to one. */
	if (command == NULL)
		return APP_BAD_USAGE;
	if (o->show.output != NULL && command->run_files == NULL) {
		say_error("--output: expected an import or export command");
		return APP_BAD_USAGE;
	}
	if (o->show.ports != NULL && command->run_files == NULL) {
		say_error("--ports: expected import nxos or import sonic");
		return APP_BAD_USAGE;
	}
	if (o->show.control && command->run_files != command_web) {
		say_error("--control: expected web");
		return APP_BAD_USAGE;
	}
	if (*o->show.capture != '\0' && command->run != command_capture) {
		say_error("--%.*s: expected capture PORT FILE",
			  (int)strcspn(o->show.capture + 1, "="), o->show.capture + 1);
		return APP_BAD_USAGE;
	}
	if (command->run_files != NULL && o->show.watch_s > 0) {
		say_error("--watch: expected a show of one program");
		return APP_BAD_USAGE;
	}
	if (command->run_files != NULL)
		return command->run_files(&o->show, params);
	rc = client_open(&c, o->show.path, o->show.prefix);
	if (rc == 0) {
		command = command_find(argc, argv, c.program, params);
		rc = command == NULL ? APP_BAD_USAGE : 0;
	}
	if (rc == 0 && o->show.watch_s > 0 && !may_watch(command)) {
		say_error("--watch: expected a show command, explain, trace or top");
		rc = APP_BAD_USAGE;
	}
	while (rc == 0) {
		if (o->show.watch_s > 0 && !o->show.json && !command->goes_on)
			wipe();
		rc = command->run(command, &c, &o->show, params);
		if (rc != 0 || o->show.watch_s <= 0 || command->goes_on)
			break;
		if (fflush(stdout) != 0)
			break;
		rest(o->show.watch_s);
	}
	client_close(&c);
	return rc;
}

int
main(int argc, char **argv)
{
	struct options o = {.show = {.bounds = {.flows = 256}}};
	int rc;

	say_as("quenchctl");
	rc = read_options(argc, argv, &o);
	if (rc == 0 && o.help && optind < argc) {
		rc = commands_help(stdout, argc - optind, argv + optind);
	} else if (rc == 0 && o.help) {
		fputs(usage, stdout);
		commands_print(stdout);
	} else if (rc == 0 && o.version) {
		puts("quenchctl " QUENCH_VERSION);
	} else if (rc == 0) {
		rc = run(&o, argc - optind, argv + optind);
	}
	return say_end(rc);
}
