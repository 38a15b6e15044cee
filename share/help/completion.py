# SPDX-License-Identifier: BSD-3-Clause
"""Completions for bash, zsh and fish, out of a program's Help.

Options, their files and folders, and of quenchctl the words of its commands and the names of running programs.
"""
import re

# Folders outlive their programs, sockets only those that were killed. -f of quenchctl.
NAMES = """sh -c 'd=/var/run s=/run/quench; [ "$(id -u)" = 0 ] || d=${XDG_RUNTIME_DIR:-/tmp}
		[ -z "$RUNTIME_DIRECTORY" ] || d=$RUNTIME_DIRECTORY s=$d
		for s in "$d"/dpdk/*/quench.sock "$s"/dpdk/*/quench.sock; do
			[ ! -e "$s" ] || { s=${s%/*}; echo "${s##*/}"; }
		done | sort -u'"""
HEAD = "# SPDX-License-Identifier: BSD-3-Clause\n# Made by share/help/completion.py from the --help of {}.\n"


def kind(flag, argument):
    """@return "file", "folder", "program" (a running one), "none" (no argument) or "value" (nothing to offer)."""
    if flag in ("-f", "--file-prefix"):
        return "program"
    if argument in ("DIR", "OUT"):
        return "folder"
    if argument in ("PATH", "LAB", "QUENCH_LAB") or argument.startswith("FILE"):
        return "file"
    return "value" if argument else "none"


def flags_of(help_, *kinds):
    """Those whose argument is the next word and of one of these kinds."""
    return [flag for flag, argument, may_lack, _ in help_.flags() if not may_lack and kind(flag, argument) in kinds]


def next_words(commands):
    """@return {(number of words before, pattern of them): words that may follow; "FILE": a file}"""
    found = {}
    for entry in commands:
        words = entry.spec.split()
        for n, word in enumerate(words):
            before = " ".join("*" if re.match(r"\[?[A-Z]", w) else w for w in words[:n])
            choices = {"ON|OFF": ["on", "off"], "FILE": ["FILE"]}.get(word.strip("[]"), [] if re.match(r"\[?[A-Z]", word) else [word])
            found.setdefault((n, before), [])
            found[n, before] += [choice for choice in choices if choice not in found[n, before]]
    return {at: words for at, words in found.items() if words}


def brief(text):
    """The first clause."""
    return re.split(r"[;:(]|\. ", text)[0].strip()


def bash(name, help_):
    function = "_" + name.replace("-", "_")
    lines = [HEAD.format(name),
             "# compopt fails where no completion is under way.",
             f"{function}_paths() {{ compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$2\"); }}", "",
             f"{function}()", "{",
             "\tlocal word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=''",
             "\t# --option=value are three words.",
             "\t[ \"$word\" != = ] || word=''",
             "\t[ \"$previous\" != = ] || previous=${COMP_WORDS[COMP_CWORD - 2]}",
             "\tcase $previous in"]
    for what, action in (("program", f'words=$({NAMES})'), ("folder", f'{function}_paths -d "$word"'),
                         ("file", f'{function}_paths -f "$word"'), ("value", "")):
        if flags := flags_of(help_, what):
            lines.append(f"\t{' | '.join(flags)}) {action} ;;")
    flags = " ".join(flag for flag, *_ in help_.flags() if flag.startswith("--"))
    lines += ["\t*)", "\t\tif [[ $word == -* ]]; then", f'\t\t\twords="{flags}"']
    if help_.commands:
        values = " | ".join(flags_of(help_, "program", "folder", "file", "value"))
        lines += ["\t\telse",
                  "\t\t\tlocal given=() skip='' w",
                  '\t\t\tfor w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
                  "\t\t\t\tcase $skip$w in",
                  f"\t\t\t\t{values}) skip=yes ;;",
                  "\t\t\t\tyes*) skip='' ;;",
                  "\t\t\t\t-*) ;;",
                  '\t\t\t\t*) given+=("$w") ;;',
                  "\t\t\t\tesac", "\t\t\tdone",
                  '\t\t\tcase "${#given[@]} ${given[*]}" in']
        for (n, before), words in next_words(help_.commands).items():
            action = f'{function}_paths -f "$word"' if words == ["FILE"] else f'words="{" ".join(words)}"'
            pattern = "*".join(f'"{part}"' if part else "" for part in f"{n} {before}".split("*"))
            lines.append(f"\t\t\t{pattern}) {action} ;;")
        lines.append("\t\t\tesac")
    else:
        lines += ["\t\telse", f'\t\t\t{function}_paths -f "$word"']
    lines += ["\t\tfi", "\t\t;;", "\tesac", '\t[ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")', "}",
              f"complete -F {function} {name}"]
    return "\n".join(lines) + "\n"


def zsh_quoted(text):
    return text.replace("'", "'\\''")


def zsh(name, help_):
    function = "_" + name.replace("-", "_")
    actions = {"file": "_files", "folder": "_files -/", "value": " ", "program": f"{function}_programs"}
    lines = [f"#compdef {name}", HEAD.format(name)]
    specs = []
    for flag, argument, may_lack, text in help_.flags():
        explained = re.sub(r"([][\\])", r"\\\1", brief(text))
        spec = f"*{flag}{'=-' if may_lack and flag.startswith('--') else '-' if may_lack else ''}[{explained}]"
        if argument:
            spec += f"{'::' if may_lack else ':'}{argument.replace(':', chr(92) + ':')}:{actions[kind(flag, argument)]}"
        specs.append(f"'{zsh_quoted(spec)}'")
    if help_.commands:
        lines += [f"{function}_programs()", "{", "\tlocal -a names", f"\tnames=(${{(f)\"$({NAMES})\"}})", "\tcompadd -a names", "}", "",
                  f"{function}_words()", "{", "\t# Words before this one; _arguments has taken the options away.",
                  '\tcase "$((CURRENT - 1)) ${(j: :)words[1,CURRENT-1]}" in']
        for (n, before), words in next_words(help_.commands).items():
            action = "_files" if words == ["FILE"] else "compadd " + " ".join(words)
            pattern = "*".join(f'"{part}"' if part else "" for part in f"{n} {before}".split("*"))
            lines.append(f"\t{pattern}) {action} ;;")
        lines += ["\tesac", "}", ""]
        specs.append(f"'*::command:{function}_words'")
    else:
        specs.append("'*:file:_files'")
    lines += ["_arguments " + " \\\n\t".join(specs)]
    return "\n".join(lines) + "\n"


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(name, help_):
    function = "__" + name.replace("-", "_")
    lines = [HEAD.format(name)]
    if help_.commands:
        values = " ".join(flags_of(help_, "program", "folder", "file", "value"))
        lines += [f"function {function}_programs", f"\t{NAMES}", "end", "",
                  f"# {function}_after N PATTERN: are N words given, like these? Options and their values are none.",
                  f"function {function}_after", "\tset -l given", "\tset -l skip 0",
                  "\tfor word in (commandline -opc)[2..-1]",
                  "\t\tif test $skip = 1", "\t\t\tset skip 0",
                  f"\t\telse if contains -- $word {values}", "\t\t\tset skip 1",
                  "\t\telse if not string match -q -- '-*' $word", "\t\t\tset -a given $word", "\t\tend", "\tend",
                  '\ttest (count $given) = $argv[1]; and string match -q -- $argv[2] "$given"', "end", "",
                  f"complete -c {name} -f"]
        for (n, before), words in next_words(help_.commands).items():
            action = "-F" if words == ["FILE"] else f"-a {fish_quoted(' '.join(words))}"
            lines.append(f"complete -c {name} -n {fish_quoted(f'{function}_after {n} {fish_quoted(before)}')} {action}")
    takes = {"file": "-r -F", "folder": "-x -a '(__fish_complete_directories)'", "value": "-x", "none": "",
             "program": f"-x -a '({function}_programs)'"}
    for flag, argument, may_lack, text in help_.flags():
        option = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
        lines.append(f"complete -c {name} {option} -d {fish_quoted(brief(text))} {'' if may_lack else takes[kind(flag, argument)]}".rstrip())
    return "\n".join(lines) + "\n"
