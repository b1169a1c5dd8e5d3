#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the manual pages against the program.

usage: man.py PROGRAM SOURCES

Every verb has a page, with the synopsis and the options that `tkbundle help`
prints, no others, and with what its JSON can hold; the overview has all verbs,
reasons and variables that there are. What the examples show is what comes out.
Where mandoc is installed, it has nothing to say. Prints TAP.
"""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import examples  # noqa: E402  (from this folder)

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OUTPUT", "JSON", "REASONS",
            "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO",
            "SECURITY CONSIDERATIONS"]


class Tree:
    """What is held against what."""

    def __init__(self, program, sources):
        self.program = os.path.realpath(program)
        self.sources = sources
        self.man = os.path.join(sources, "man")
        self.pages = sorted(name for name in os.listdir(self.man)
                            if re.search(r"\.\d$", name))

    def text(self, *parts):
        with open(os.path.join(self.sources, *parts), encoding="utf-8") as file:
            return file.read()

    def page(self, name):
        return Page(self.text("man", name))

    def help(self, *verb):
        return subprocess.run([self.program, "help", *verb], text=True,
                              check=True, stdout=subprocess.PIPE).stdout

    def verbs(self):
        """Each verb with its summary."""
        return dict(re.findall(r"^  (\S+) +(.*)$", self.help(), re.M))

    def verbs_with_pages(self):
        return [verb for verb in self.verbs()
                if verb not in ("help", "--version")]

    def tool(self, name):
        return self.text(self.tools()[name])

    def tools(self):
        """The program's sources: a file's name without ".c", and its path."""
        return {os.path.basename(path)[:-2]: path
                for path in self.files("tools/tkbundle")}

    def files(self, folder):
        """The C sources in and below a folder."""
        for place, _, names in os.walk(os.path.join(self.sources, folder)):
            for name in names:
                if name.endswith(".c"):
                    yield os.path.join(place, name)

    def sources_of(self, verb):
        """Which files of the program a verb is made of."""
        tools = self.tools()
        found = set()
        wanted = {f"cmd_{verb}"}
        while wanted:
            found |= wanted
            headers = {name for source in wanted for name in
                       re.findall(r'^#include "(?:\w+/)*(\w+)\.h"',
                                  self.tool(source), re.M)}
            wanted = {name for name in headers - found if name in tools}
        return found

    def counts(self, source, column):
        """A column of a source's tables of counts: name, word or metric."""
        text = r'(?:"([^"]+)"|NULL)'
        rows = re.findall(rf'\bCOUNT(?:_AND_METRIC)?\(\s*\w+,\s*\w+,\s*{text},'
                          rf'\s*{text}(?:,\s*{text})?', self.tool(source))
        index = ["name", "word", "metric"].index(column)
        return {row[index] for row in rows if row[index]}

    def code(self, pattern, folders=("src/base", "src/text", "src/cache",
                                     "src/format", "src/collect", "src/emit",
                                     "tools/tkbundle")):
        """What `pattern` finds in the sources of library and program."""
        return {item for folder in folders for path in self.files(folder)
                for item in re.findall(pattern, self.text(path))}


class Page:
    """A page in mdoc(7), as far as it need be understood."""

    def __init__(self, text):
        self.text = text
        parts = re.split(r'^\.Sh (.*)\n', text, flags=re.M)
        self.names = parts[1::2]
        self.sections = dict(zip(self.names, parts[2::2]))

    def items(self, section, macro):
        """The arguments of `macro` in the items of a section's lists."""
        found = set()
        lines = self.sections.get(section, "").splitlines()
        for line in lines:
            if line.startswith(f".It {macro} "):
                found.update(word for word in line.split()[2:] if word != ",")
        return found

    def members(self):
        """The JSON members that are explained, in lists and sentences."""
        named = re.findall(r"^\.(?:It )?Va (.*)$", self.text, re.M)
        return {word for line in named for word in line.split()
                if re.fullmatch(r"\w+", word)}

    def shown_members(self):
        """The JSON members that the examples show."""
        return set(re.findall(r'"(\w+)": ?["\[{\w]',
                              self.sections.get("EXAMPLES", "")))


def plain(mdoc):
    """What stands there when it is formatted, less spaces and case."""
    out = ""
    for line in mdoc.splitlines():
        is_flag = False
        end = ""
        for word in line.removeprefix(".").split():
            # Fl writes a hyphen, and then its argument, if it has one.
            out += "-" if is_flag else ""
            is_flag = word == "Fl"
            if word == "Op":
                out += "["
                end = "]"
            elif word in ("Oo", "Oc"):
                out += "[" if word == "Oo" else "]"
            elif re.fullmatch(r"[A-Z][a-z]", word) is None:
                out += word
        out += ("-" if is_flag else "") + end
    return out.lower()


def squeeze(text):
    return re.sub(r"\s", "", text).lower()


def only(what, left, right):
    """Complaints about what is in one set alone."""
    return ([f"{what} '{name}' is not in the page" for name in
             sorted(left - right)] +
            [f"there is no {what} '{name}'" for name in sorted(right - left)])


def check_shape(tree, name):
    """It is complete, in order, and installed, and explains what it shows."""
    page = tree.page(name)
    wanted = [title for title in SECTIONS if title in page.names]
    faults = []
    if name.endswith(".1") and page.names != wanted:
        faults.append(f"sections are {', '.join(page.names)}")
    for title in ("NAME", "DESCRIPTION", "EXAMPLES", "SEE ALSO"):
        if title not in page.names:
            faults.append(f"there is no section {title}")
    for target in re.findall(r"^\.Xr (tkbundle\S* \d)", page.text, re.M):
        if target.replace(" ", ".") not in tree.pages:
            faults.append(f"there is no page {target}")
    if not re.search(rf"\b{re.escape(name)}\b",
                     tree.text("man", "CMakeLists.txt")):
        faults.append("it is not in man/CMakeLists.txt")
    return faults + [f"member '{member}' is not explained" for member in
                     sorted(page.shown_members() - page.members())]


def check_lint(tree, name):
    ended = subprocess.run(
        ["mandoc", "-Tlint", "-Wwarning", os.path.join(tree.man, name)],
        text=True, check=False, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    # Quotes take all of their line, and so do those in them.
    nested = re.findall(r"^\.(?:Pq )?Qq .* Qq .*$", tree.page(name).text, re.M)
    return ended.stdout.splitlines() + nested


def check_usage(tree, verb):
    """Name, summary, synopsis and options are those of the help."""
    page = tree.page(f"tkbundle-{verb}.1")
    usage, _, rest = tree.help(verb).partition("\n\n")
    wanted = squeeze(usage.removeprefix("usage: "))
    got = plain(page.sections["SYNOPSIS"])
    faults = [] if got == wanted else [f"synopsis: {got}", f"help: {wanted}"]

    summary = page.sections["NAME"].splitlines()[1].removeprefix(".Nd ")
    if summary != tree.verbs()[verb]:
        faults.append(f"summary: {summary}")

    options = {squeeze(option) for option in
               re.findall(r"^ +(-.*?)(?:  .*)?$", rest.partition("options:")[2],
                          re.M)}
    listed = {plain(line[4:]) for line in
              page.sections["DESCRIPTION"].splitlines()
              if line.startswith(".It Fl")}
    return faults + only("option", options, listed)


def check_members(tree, verb):
    """Each member of the document is explained, and can be there."""
    explained = tree.page(f"tkbundle-{verb}.1").members()
    own = tree.sources_of(verb)
    for other in tree.verbs_with_pages():
        own = own - tree.sources_of(other) if other != verb else own
    must = set()
    can = set()
    if "ARGS_JSON" in tree.tool(f"cmd_{verb}"):
        must.add("error")  # cli.c writes it
        can.add("error")
        for name in own:
            must.update(re.findall(r'json_out_\w+\([^()"]*"(\w+)"',
                                   tree.tool(name)))
            must.update(tree.counts(name, "name"))
        for name in tree.sources_of(verb):
            can.update(re.findall(r'"(\w+)"', tree.tool(name)))
        # Words that the library has may be members, too.
        can |= tree.code(r'\] = "(\w+)"')
    return ([f"member '{name}' is not explained"
             for name in sorted(must - explained)] +
            [f"there is no member '{name}'"
             for name in sorted(explained - can)])


def check_counts(tree, verb):
    """Each count that the summary may have is explained."""
    page = tree.page(f"tkbundle-{verb}.1")
    items = re.findall(r"^\.It (.*)$", page.sections.get("OUTPUT", ""), re.M)
    explained = {word for item in items for word in item.split(" , ")}
    counts = {word for source in (f"cmd_{verb}", f"remote_{verb}")
              if source in tree.tools()
              for word in tree.counts(source, "word")}
    counts |= set(re.findall(r'\{ "([A-Za-z ]+)", \w',
                             tree.tool(f"cmd_{verb}")))
    return [f"count '{name}' is not explained"
            for name in sorted(set(counts) - explained)]


def check_overview(tree):
    """The overview has every verb, reason and variable."""
    page = tree.page("tkbundle.1")
    verbs = {verb.removeprefix("--") for verb in tree.verbs()}
    listed = {word.lstrip("-") for word in
              page.items("DESCRIPTION", "Cm") | page.items("DESCRIPTION", "Fl")}
    reasons = tree.code(r'\[TKB_REASON_\w+\] = "(\w+)"')
    variables = (tree.code(r'(?:getenv|variable|is_set)\("(\w+)"\)') |
                 tree.code(r'(?<!\{ )"(TRITON_\w+_PATH|CUDA_PATH|VIRTUAL_ENV)"',
                           ("src/compile", "tools/tkbundle-compile")) |
                 tree.code(r'"(TKBUNDLE_[A-Z_]+)"') | {"PATH"})
    return (only("verb", verbs, listed) +
            only("reason", reasons, page.items("REASONS", "Cm")) +
            only("variable", variables, page.items("ENVIRONMENT", "Ev")))


def check_format(tree):
    """The page of the format has the members and limits of the document."""
    document = tree.text("docs", "format.md")
    page = tree.page("tkbundle-format.5")
    members = set(re.findall(r"^\|.*", document, re.M))
    members = {name for row in members for name in
               re.findall(r"`(\w+)`", row.split("|")[1])}
    return (only("member", members, page.items("DESCRIPTION", "Va")) +
            only("limit", set(re.findall(r"\d+\s+MiB", document)),
                 set(re.findall(r"\d+\s+MiB", page.text))))


def check_remote(tree):
    """The page of remotes has every scheme, parameter and word in a ref."""
    page = tree.page("tkbundle-remote.7")
    folders = ["src/remote", "src/fleet"]

    def listed(member):
        lists = tree.code(rf'\.{member} =\s*\(const char \*const\[\]\)'
                          r'\{([^}]*)', folders)
        return {name for names in lists for name in
                re.findall(r'"([^"]+)"', names)}

    params = listed("params") | set(re.findall(
        r'strcmp\(name, "([\w-]+)"\)', tree.text("src", "remote", "tier.c")))
    schemes = listed("schemes")
    words = {"{" + word + "}" for word in
             re.findall(r'\{ "(\w+)", ask_\w+, fill_', tree.text("src", "fleet",
                                                        "expand.c"))}
    variables = tree.code(r'"(AWS_[A-Z0-9_]+)"', folders)
    explained = {word for section in ("URLS", "PARAMETERS") for line in
                 page.sections[section].splitlines()
                 if line.startswith(".It Cm ") for word in
                 re.findall(r"Cm (\S+)", line)}
    shown = set(re.findall(r"^\.It Li (\{\w+\})", page.text, re.M))
    return (only("scheme or parameter", params | schemes, explained) +
            only("word", words, shown) +
            only("variable", variables, page.items("ENVIRONMENT", "Ev")))


def check_figures(tree, verb):
    """Each figure of --metrics is in the page."""
    written = {name for source in tree.sources_of(verb)
               if f'.verb = "{verb}"' in tree.tool(source)
               for name in re.findall(
                   r'metrics_add(?:_labelled)?\(\s*&?metrics, "(\w+)"',
                   tree.tool(source))}
    written |= {name for source in tree.sources_of(verb)
                if f'.verb = "{verb}"' in tree.tool(source)
                for name in tree.counts(source, "metric")}
    if written:
        written |= set(re.findall(r'metrics_add\(metrics, "(\w+)"',
                                  tree.tool("metrics")))
    page = tree.page(f"tkbundle-{verb}.1")
    shown = set(re.findall(rf"^tkbundle_{verb}_(\w+)$", page.text, re.M))
    return only("figure", written, shown)


def checks(tree):
    """Each check: a sentence that must hold, and what is wrong with it."""
    for name in tree.pages:
        yield f"{name} is complete", check_shape(tree, name)
        if shutil.which("mandoc") is None:
            yield f"mandoc accepts {name} # SKIP there is no mandoc", []
        else:
            yield f"mandoc accepts {name}", check_lint(tree, name)
    yield "tkbundle.1 tells all", check_overview(tree)
    yield "tkbundle-format.5 is docs/format.md", check_format(tree)
    yield "tkbundle-remote.7 tells all", check_remote(tree)
    for verb in tree.verbs_with_pages():
        if f"tkbundle-{verb}.1" not in tree.pages:
            yield f"{verb} has a page", ["it has none"]
            continue
        yield f"{verb} has the options of its help", check_usage(tree, verb)
        yield f"{verb} explains its counts", check_counts(tree, verb)
        yield f"{verb} explains its document", check_members(tree, verb)
        yield f"{verb} explains its figures", check_figures(tree, verb)
    for name in tree.pages:
        path = os.path.join(tree.man, name)
        for command, fault, skip in examples.judge(tree.program, path):
            sentence = f"{name}: {examples.in_one_line(command)}"
            yield (sentence + (" # SKIP " + skip if skip else ""),
                   [] if fault is None else ["it printed:",
                                             *fault.splitlines()])


def main():
    tree = Tree(sys.argv[1], sys.argv[2])
    number = failed = 0
    for sentence, faults in checks(tree):
        number += 1
        failed += 1 if faults else 0
        print(f"{'not ok' if faults else 'ok'} {number} - {sentence}")
        for fault in faults:
            print(f"# {fault}")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
