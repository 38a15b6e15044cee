# SPDX-License-Identifier: BSD-3-Clause
# Completion of quenchctl for bash. The commands are those of --help: there is no second list.

_quenchctl()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} given=() skip='' w
	case $previous in
	-f | --file-prefix)
		local dir=/var/run
		[ "$(id -u)" = 0 ] || dir=${XDG_RUNTIME_DIR:-/tmp}
		# Folders outlive their programs, sockets only those that were killed.
		mapfile -t COMPREPLY < <(compgen -W "$(printf '%s\n' {"$dir",/run/quench}/dpdk/*/dpdk_telemetry.v2 | awk -F/ '$(NF - 1) != "*" { print $(NF - 1) }' | sort -u)" -- "$word")
		return
		;;
	--listen | --qps | --flows)
		return
		;;
	-s | --socket | -o | --output)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "--file-prefix --socket --json --watch --output --since-start --listen --qps --flows --help --version" -- "$word")
		return
	fi
	for w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		if [ -n "$skip" ]; then
			skip=''
		elif [[ $w == -f || $w == -s || $w == --file-prefix || $w == --socket || $w == --listen || $w == --qps || $w == --flows || $w == -o || $w == --output ]]; then
			skip=1
		elif [[ $w != -* ]]; then
			given+=("$w")
		fi
	done
	if [[ ${given[*]} == reload || (${#given[@]} == 2 && (${given[0]} == import || ${given[0]} == export)) ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
	fi
	# The words of a command end at two blanks; those in capitals are the user's.
	mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null | awk -v given="${given[*]}" '
		BEGIN { n = split(given, g, " ") }
		/^Commands:/ { commands = 1; next }
		commands {
			sub(/^  /, ""); sub(/  .*/, "")
			m = split($0, c, " ")
			for (i = 1; i <= n && (c[i] == g[i] || c[i] ~ /^\[?[A-Z]/); i++)
				;
			if (i <= n || n == m)
				next
			if (c[n + 1] ~ /^\[?ON\|OFF\]?$/)
				print "on off"
			else if (c[n + 1] !~ /^\[?[A-Z]/)
				print c[n + 1]
		}')" -- "$word")
	# Commands of both programs may share words.
	[ ${#COMPREPLY[@]} = 0 ] || mapfile -t COMPREPLY < <(printf '%s\n' "${COMPREPLY[@]}" | sort -u)
}
complete -F _quenchctl quenchctl
