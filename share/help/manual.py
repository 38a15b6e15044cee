# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages (groff's man macros) of programs, and of the INI files that they read."""
import re

INI_FORMAT = (
    "The file has sections, and keys with values:",
    ("[wred]", "min_threshold_bytes = 40KB", "ecn_enabled = on"),
    "A value may have a unit, such as 40G (bit/s), 55us, 12MB, 4KiB or 1%. A line that begins with # or ; is a comment. "
    "In titles, NAME is a name of your choice, and N and P are numbers: N of a port, class, group, queue or VLAN, P of a port.",
    "A key or a section that the program does not know, and a value out of its range, is refused with one line that names file, "
    "section, key and what was expected.",
)


def plain(text):
    """Text for groff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def words(text):
    """A synopsis, or an option with its argument: words to type are bold, placeholders are italic."""
    def font(match):
        word = match[0]
        return rf"\fI{plain(word)}\fR" if re.match(r"[A-Z]", word) else rf"\fB{plain(word)}\fR"
    return re.sub(r"--?[A-Za-z][\w-]*|[\w.:#/<>]+(?:[-+][\w.:]+)*|--", font, text)


class Page:
    def __init__(self, name, section, version, summary):
        self.lines = ['.\\" SPDX-License-Identifier: BSD-3-Clause', f'.TH "{plain(name.upper())}" {section} "" "quench {version}" "quench"']
        self.head("NAME")
        self.lines.append(rf"{plain(name)} \- {plain(summary)}")

    def head(self, title):
        self.lines.append(f'.SH "{plain(title)}"')

    def paragraphs(self, texts):
        for text in texts:
            if isinstance(text, tuple):
                self.lines += [".RS", ".nf", *map(plain, text), ".fi", ".RE"]
            else:
                self.lines += [".PP", plain(text)]

    def entries(self, title, entries):
        if entries:
            self.head(title)
        for entry in entries:
            self.lines += [".TP", words(entry.spec), plain(entry.text) or r"\&"]

    def text(self):
        return "\n".join(self.lines) + "\n"


def program_page(name, section, version, summary, help_, tail, see_also):
    """tail: roff of further sections; see_also: [(name, section)]"""
    page = Page(name, section, version, summary)
    page.head("SYNOPSIS")
    for usage in help_.usage:
        page.lines += [".TP 8", rf"\fB{plain(name)}\fR {words(usage)}"]
    page.head("DESCRIPTION")
    page.paragraphs(help_.purpose)
    page.entries("ARGUMENTS", help_.arguments)
    page.entries("OPTIONS", help_.options)
    page.entries("COMMANDS", help_.commands)
    if help_.notes:
        page.head("NOTES")
        page.paragraphs(help_.notes)
    if help_.exits:
        page.head("EXIT STATUS")
        page.paragraphs([help_.exits])
    if tail:
        page.lines.append(tail.strip())
    also(page, see_also)
    return page.text()


def also(page, see_also):
    page.head("SEE ALSO")
    page.lines += [f".BR {plain(other)} ({section})," for other, section in see_also]
    page.lines[-1] = page.lines[-1].rstrip(",")


def sections(reference):
    """Yield (title, rows) of --help-config; a row is {column: text}."""
    for part in ("\n" + reference).split("\n## ")[1:]:
        title, *lines = part.splitlines()
        cells = [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("|")]
        yield title.strip(), [dict(zip(cells[0], row)) for row in cells[2:]]


def ini_page(program, version, reference, see_also):
    """reference: what PROGRAM --help-config prints"""
    page = Page(f"{program}.ini", 5, version, f"configuration of {program}: sections, keys and their values")
    page.head("SYNOPSIS")
    page.lines.append(r"\fIFILE\fR.ini")
    page.head("DESCRIPTION")
    page.paragraphs(INI_FORMAT)
    for title, rows in sections(reference):
        page.head(title)
        for row in rows:
            facts = [f"Values: {row['values']}.", f"Default: {row['default']}." if row["default"] != "required" else "Required."]
            if row["also known as"]:
                facts.append(f"Also known as {row['also known as'].replace('`', '')}.")
            if row["live"]:
                facts.append("May change while the program runs.")
            page.lines += [".TP", rf"\fB{plain(row['key'].strip('`'))}\fR", plain(row["meaning"].replace("`", "")), ".br", plain(" ".join(facts))]
    also(page, see_also)
    return page.text()
