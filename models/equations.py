"""Equations of a README that stand in a model's file: python3 models/equations.py [--check] NAME.toml README.md

A comment "# E7: the array" in [functions], [equations] or [for.LOOP] numbers the lines below it, up to the next such comment or
section. Behind a line it numbers that line alone. A metric has the first number that its `source` names. The README has, for each
number, a block between two markers:

    <!-- from NAME.toml: E7 -->
    <!-- end -->

The script writes the lines of the number between them: name = formula, with the doc of a line as a comment. So README.md says
what the file says. Every line of these sections has a number, and every number has a block. A metric without a number has none.
With --check nothing is written: a block that says something else is an error. The exit status is 1 where there is one.
"""

import itertools
import os
import re
import sys
import textwrap
import tomllib

WIDTH = 120  # of a line in a block
NAME_WIDTH = 32  # a longer name does not push the formulas of its neighbours to the right
NUMBERED = re.compile(r"# (E\d+)(?:: (\S.*))?$")
NEARLY = re.compile(r"#\s*E\d+\b")
SECTION = re.compile(r"\[+\s*([\w.\"-]+)\s*\]+\s*(#.*)?$")
BEGIN = re.compile(r"<!-- from (\S+): (E\d+) -->$")
END = "<!-- end -->"
ALMOST = re.compile(r"\s*<!--\s*(from\b|end\b(?! of))", re.I)
FENCE = "```equations"  # tests/cli/docs.sh leaves such blocks to tests/equations.py
LOOSEST_FIRST = ((",",), (":",), ("?",), ("||",), ("&&",), ("<=", ">=", "==", "!=", "<", ">"), ("+", "-"), ("*", "/"))
TOKEN = re.compile(r"'[^']*'|\[[^\]]*\]|\|\||&&|[<>=!]=|[\w.]+|\S")


class Wrong(Exception):
    """What is wrong, with the line it is about."""


# ---- the file ----------------------------------------------------------------------------------------------------------------


class Line:
    """An equation, a function or a metric; or a comment, which has no name."""

    def __init__(self, at, section, number, name=None, formula="", doc="", text=""):
        self.at, self.section, self.number = at, section, number
        self.name, self.formula, self.doc, self.text = name, formula, doc, text


def printed(section):
    """Whether equations stand there."""
    return section in ("functions", "equations", "metrics") or section.startswith("for.")


def behind(text):
    """The comment behind an entry, or nothing."""
    for place in re.finditer("#", text):
        try:
            tomllib.loads(text[:place.start()])
            return text[place.start():].strip()
        except tomllib.TOMLDecodeError:
            continue
    return ""


def entry(lines, at):
    """Name, value and comment of the entry that begins in a line, and the line after it: a text may have several lines."""
    text = ""
    for after in range(at, len(lines)):
        text += lines[after] + "\n"
        try:
            (name, value), = tomllib.loads(text).items()
            return name, value, behind(text), after + 1
        except (tomllib.TOMLDecodeError, ValueError):
            continue
    raise Wrong(f"{at + 1}: error: the value that begins here has no end")


def source_number(value):
    found = re.search(r"\bE\d+\b", value.get("source", "")) if isinstance(value, dict) else None
    return found.group(0) if found else None


def comment(line, at, section):
    """The number and the text of a comment; a number of None keeps the one before."""
    found = NUMBERED.match(line)
    if found:
        return found.group(1), found.group(2) or ""
    if NEARLY.match(line):
        raise Wrong(f'{at + 1}: error: this comment of [{section}] begins with the number of an equation, but is not "# E7: text" '
                    "with one number; give each group of lines a comment of its own")
    return None, line.lstrip("# ")


def read_lines(text):
    """The lines of the file that have a number, in its order."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Wrong(f" error: {error}")
    lines, at, section, number = text.split("\n"), 0, "", None
    while at < len(lines):
        line = lines[at]
        head = SECTION.match(line)
        if head:
            section, number = head.group(1), None
        if head or not printed(section) or not line.strip():
            at += 1
        elif line.startswith("#"):
            begun, said = comment(line, at, section)
            number = begun or number
            if said and number: yield Line(at + 1, section, number, text=said)
            at += 1
        else:
            name, value, remark, after = entry(lines, at)
            own, remark = comment(remark, at, section)
            one = own or (source_number(value) if section == "metrics" else number)
            if not one and section != "metrics":
                raise Wrong(f'{at + 1}: error: {name} has no number: a comment "# E7: text" must stand above it in [{section}]')
            formula, doc = (value.get("is", ""), value.get("doc", "")) if isinstance(value, dict) else (value, "")
            if one: yield Line(at + 1, section, one, name, " ".join(str(formula).split()), doc or remark)
            at = after


# ---- a formula in lines --------------------------------------------------------------------------------------------------------


def pieces(formula):
    """The formula cut at its loosest operators, and how many brackets they are in. An operator begins a piece, a comma ends one."""
    depth, places = 0, {}
    for token in TOKEN.finditer(formula):
        text, at = token.group(0), token.start()
        depth += (text == "(") - (text == ")")
        if text == ",": places.setdefault((depth, text), []).append(token.end())
        elif formula[at - 1:at] == " ": places.setdefault((depth, text), []).append(at)  # before the colon of a loop is none
    for level in sorted({depth for depth, _ in places}):
        for operators in LOOSEST_FIRST:
            cuts = sorted(p for op in operators for p in places.get((level, op), []) if 0 < p < len(formula))
            if cuts: return [formula[a:b].strip() for a, b in zip([0, *cuts], [*cuts, None])], level
    return [formula], 0


def wrapped(formula, room):
    """The formula in lines of `room` columns, as far as it has places to break."""
    if len(formula) <= room: return [formula]
    parts, level = pieces(formula)
    if len(parts) == 1: return parts
    lines, inside, entire = [], "    " if level else "", False
    for part in parts:
        if entire and len(f"{lines[-1]} {part}") <= room and not part.startswith(":"):
            lines[-1] += f" {part}"
            continue
        first, *rest = wrapped(part, room - len(inside) - 2 * bool(lines))
        indent = inside if lines else ""
        lines += [indent + first, *(f"{indent}  {line}" for line in rest)]
        entire = not rest
    return lines


# ---- a block -------------------------------------------------------------------------------------------------------------------


def comment_of(text, indent):
    return textwrap.wrap(text, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def right_of(line, left):
    """The formula of a line beside its name; below it where the name of a function leaves too little room."""
    beside = wrapped(line.formula, WIDTH - len(left))
    if len(beside) == 1 or not line.name.endswith(")"): return beside
    return ["", *wrapped(line.formula, WIDTH - 8)]


def run_of(lines, indent):
    """Lines one below the other, with their signs in one column."""
    wide = max((len(line.name) for line in lines if len(line.name) <= NAME_WIDTH), default=0)
    made = [(line, left, right_of(line, left)) for line, left in ((line, f"{indent}{line.name:{wide}} = ") for line in lines)]
    column = max((len(left + right[0]) for line, left, right in made if line.doc and len(right) == 1), default=0)
    for line, left, (first, *rest) in made:
        beside = line.doc and not rest and column + 4 + len(line.doc) <= WIDTH
        if line.doc and not beside: yield from comment_of(line.doc, indent)
        yield f"{left + first:{column}}  # {line.doc}" if beside else (left + first).rstrip()
        yield from (" " * (len(left) if first else 8) + more for more in rest)


def element(section):
    """What a loop calls its elements: op or group."""
    return "group" if section == "for.attention" else "op"


def heading(section):
    """What stands above the lines of a section, or nothing."""
    if section == "metrics": return "metrics:"
    return f"for {element(section)} in {section[4:]}:" if section.startswith("for.") else ""


def block(lines):
    """The lines of one number, as the page has them."""
    out, section = [], None
    for (at, is_comment), run in itertools.groupby(lines, lambda line: (line.section, not line.name)):
        head = heading(at)
        indent = "    " if head else ""
        if out and (is_comment or at != section): out.append("")
        if head and at != section: out.append(head)
        out += (text for line in run for text in comment_of(line.text, indent)) if is_comment else run_of(list(run), indent)
        section = at
    return [FENCE, *out, "```"]


def blocks_of(text):
    """number: the lines of its block, and where in the file they begin."""
    found = {}
    for line in read_lines(text):
        if line.name and line.section.startswith("for."): line.name = f"{element(line.section)}.{line.name}"
        found.setdefault(line.number, []).append(line)
    return {number: (block(lines), lines[0].at) for number, lines in found.items() if any(line.name for line in lines)}


# ---- the README ----------------------------------------------------------------------------------------------------------------


def marked(lines, file):
    """(line of its marker, number, line of its end) of each block, counted from 0."""
    begun = None
    for at, line in enumerate(lines):
        begin = BEGIN.match(line)
        if ALMOST.match(line) and not begin and line != END:
            raise Wrong(f'{at + 1}: error: a marker is "<!-- from {file}: E7 -->" or "{END}", alone on its line')
        if begin and begin.group(1) != file:
            raise Wrong(f"{at + 1}: error: the marker names {begin.group(1)}; it must name {file}, which lies beside this page")
        if begin and begun:
            raise Wrong(f'{begun[0] + 1}: error: the block of {begun[1]} has no "{END}" before the next block')
        if line == END:
            if not begun: raise Wrong(f'{at + 1}: error: "{END}" without a marker "<!-- from {file}: E7 -->" above it')
            yield *begun, at
        if begin or line == END: begun = (at, begin.group(2)) if begin else None
    if begun: raise Wrong(f'{begun[0] + 1}: error: the block of {begun[1]} has no "{END}"')


def first_difference(there, wanted):
    """The place of the first line that is another, and what is said of it."""
    at = next((i for i, pair in enumerate(zip(there, wanted)) if pair[0] != pair[1]), min(len(there), len(wanted)))
    return at, f'"{wanted[at].strip()}"' if at < len(wanted) else "the end of the block"


def renew(text, model, page, file):
    """The page with its blocks renewed, what is wrong with page or file, and which blocks said something else."""
    name, errors, stale, seen, out, after = os.path.basename(file), [], [], set(), [], 0
    try:
        blocks = blocks_of(model)
    except Wrong as wrong:
        return text, [f"{file}:{wrong}"], []
    lines = text.split("\n")
    try:
        places = list(marked(lines, name))
    except Wrong as wrong:
        return text, [f"{page}:{wrong}"], []
    for begin, number, end in places:
        if number in seen: errors.append(f"{page}:{begin + 1}: error: {number} has a second block; each number has one")
        seen.add(number)
        if number not in blocks:
            errors.append(f"{page}:{begin + 1}: error: no line of {name} has the number {number}; "
                          f'a comment "# {number}: text" gives it')
            continue
        there, wanted = lines[begin + 1:end], blocks[number][0]
        out += [*lines[after:begin + 1], *wanted]
        after = end
        if there != wanted:
            at, says = first_difference(there, wanted)
            stale.append(f"{page}:{begin + at + 2}: error: the block of {number} is not that of {name}, which has here: {says}")
    errors += [f'{file}:{at}: error: {number} has no block in {page}: "<!-- from {name}: {number} -->" and "{END}" make room for it'
               for number, (_, at) in blocks.items() if number not in seen]
    return "\n".join([*out, *lines[after:]]), errors, stale


def main(arguments):
    check = "--check" in arguments
    files = [a for a in arguments if a != "--check"]
    if len(files) != 2 or any(f.startswith("-") for f in files):
        sys.exit("equations.py: the arguments are [--check] NAME.toml README.md")
    try:
        model, text = (open(f, encoding="utf-8", newline="").read() for f in files)
    except OSError as error:
        sys.exit(f"equations.py: {error.filename} cannot be read: {error.strerror}")
    renewed, errors, stale = renew(text, model, files[1], files[0])
    if stale and check: stale.append(f"The blocks are written by: python3 models/equations.py {files[0]} {files[1]}")
    if not errors and not check and renewed != text:
        with open(files[1], "w", encoding="utf-8", newline="") as page: page.write(renewed)
    said = errors + stale if check else errors
    if said: print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
