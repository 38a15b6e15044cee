# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts beside it: where the project is, one line for each step with its time.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# Debian's tools first: a python3 from elsewhere lacks Debian's modules, and a plain user's PATH lacks sbin.
export PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH"

# Ctrl-C ends the script whatever the command that met it makes of it: ninja and our programs exit as if they had failed.
step_log=''
exec {terminal}>&2 # in a step 2 is its log
interrupted() {
	rm -f "$step_log"
	printf '\n%s: interrupted\n' "${0##*/}" >&"$terminal"
	exit 130
}
trap interrupted INT

say() {
	printf '%s\n' "$*"
}

# Without a usage() of its own, the comment at a script's beginning is its help.
if [[ ${1:-} =~ ^(-h|--help)$ ]] && ! declare -F usage >/dev/null; then
	sed -n '3,/^[^#]/{ /^[^#]/d; s/^# \?//p; }' "${BASH_SOURCE[-1]}"
	exit 0
fi

# die "what is wrong" [exit code]
die() {
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	exit "${2:-1}"
}

# step "what it does" command...: one line with the time; the command's output only when it fails
step() {
	local what=$1 code=0 start=$SECONDS
	shift
	step_log=$(mktemp)
	printf '%-56s ' "$what"
	"$@" >"$step_log" 2>&1 || code=$?
	if [ "$code" = 0 ]; then
		printf 'ok      %4d s\n' $((SECONDS - start))
	else
		printf 'FAILED  %4d s\n' $((SECONDS - start))
		tail -n 200 "$step_log"
		# A command that says nothing, or whose last words are of something else.
		printf '%s: exit code %d\n' "$*" "$code"
	fi
	rm -f "$step_log"
	[ "$code" = 0 ]
}

# configure FOLDER meson-option...: set up a build folder once, and again when our options change.
# A folder that somebody set up by hand is theirs and stays as it is.
configure() {
	local folder=$1 wanted
	shift
	# A test links over a hundred libraries of DPDK: lld takes a fifth of the time that ld takes.
	[ -n "${CC_LD:-}" ] || ! command -v ld.lld >/dev/null || local -x CC_LD=lld
	wanted="CC=${CC:-} $*"
	if [ -f "$folder/build.ninja" ]; then
		[ -f "$folder/options.txt" ] && [ "$(cat "$folder/options.txt")" != "$wanted" ] || return 0
	fi
	rm -rf "$folder"
	mkdir -p "$folder" || return # one line, where meson prints its stack
	meson setup "$folder" "$@" && printf '%s' "$wanted" >"$folder/options.txt"
}

# build_targets FOLDER TARGET...
build_targets() {
	local folder=$1
	shift
	configure "$folder" && ninja -C "$folder" "$@"
}

# build FOLDER meson-option...: all of it
build() {
	configure "$@" && ninja -C "$1" -k 0
}
