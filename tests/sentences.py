#!/usr/bin/env python3
"""Pages that can be read: 95 of 100 sentences of a page have at most 30 words, and a page outside reference/ and appendix/ at most 250 lines.

    sentences.py SOURCE [PAGE...]        the pages that fail, with their longest sentences; --all: every page's percentile

Counted is running text: paragraphs, items of lists and captions. Blocks of code, tables, headings and comments are left out, `code` is one word, and a link its text.
"""
import math
import pathlib
import re
import sys

LIMIT_WORDS = 30
PERCENTILE = 0.95
LIMIT_LINES = {"README.md": 150, "CHANGELOG.md": 150, "docs": 250}
LONG = re.compile(r"docs/(reference|appendix)/|docs/(accuracy|speed)\.md")
NOT_AN_END = re.compile(r"\b(e\.g|i\.e|cf|vs|Eq|Eqs|Fig|Figs|Tab|Sec|No|et al|arXiv|approx|resp)\.$")


def blocks(text):
    """Paragraphs and items of lists, each with the line that it begins in."""
    block, begin, fenced, comment, indented = [], 0, False, False, False
    previous_blank = True
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*```", line):
            fenced = not fenced
            end = True
        elif fenced or comment:
            end = True
            comment = comment and "-->" not in line
        elif line.lstrip().startswith("<!--"):
            comment = "-->" not in line
            end = True
        else:
            indented = line.startswith("    ") and (indented or previous_blank and not block and not re.match(r"\s*([-*]|\d+\.) ", line))
            item = re.match(r"\s*([-*+]|\d+\.)\s+", line)
            end = not line.strip() or indented or re.match(r"\s*([#|]|!\[|---)", line) is not None
            if end or item:
                if block:
                    yield begin, " ".join(block)
                block = []
            if not end:
                begin = begin if block else number
                block.append(line[item.end():] if item else line.strip(" >"))
            previous_blank = not line.strip()
            continue
        if block:
            yield begin, " ".join(block)
            block = []
        previous_blank = False
    if block:
        yield begin, " ".join(block)


def sentences(text):
    """(line of its block, words, sentence) of each."""
    for line, block in blocks(text):
        block = re.sub(r"``.+?``|`[^`]*`", "code", block)
        block = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", block)
        block = re.sub(r"https?://\S+", "link", block)
        one = []
        for word in block.split():
            one.append(word)
            bare = word.rstrip("*_)\"'")
            if bare.endswith((".", "!", "?")) and not NOT_AN_END.search(bare):
                yield line, len([w for w in one if re.search(r"\w", w)]), " ".join(one)
                one = []
        if one:
            yield line, len([w for w in one if re.search(r"\w", w)]), " ".join(one)


def too_many_lines(name, page):
    limit = LIMIT_LINES.get("docs" if name.startswith("docs/") else name)
    n = page.read_text(encoding="utf-8").count("\n")
    if limit is None or LONG.match(name) or n <= limit:
        return 0
    print(f"{name}: error: {n} lines; at most {limit}")
    return 1


def pages(source):
    return [source / "README.md", source / "CONTRIBUTING.md", source / "CHANGELOG.md", *sorted(source.glob("docs/**/*.md")), *sorted(source.glob("models/*/README.md")), *sorted(source.glob("examples/*/README.md"))]


def main():
    everything = "--all" in sys.argv
    arguments = [a for a in sys.argv[1:] if a != "--all"]
    source = pathlib.Path(arguments[0])
    failed = 0
    for page in [source / p for p in arguments[1:]] or pages(source):
        failed += too_many_lines(str(page.relative_to(source)), page)
        counted = sorted(sentences(page.read_text(encoding="utf-8")), key=lambda s: s[1])
        if not counted:
            continue
        percentile = counted[math.ceil(PERCENTILE * len(counted)) - 1][1]
        too_long = percentile > LIMIT_WORDS
        failed += too_long
        if everything:
            print(f"{percentile:4d} {len(counted):5d} sentences  {page.relative_to(source)}")
        elif too_long:
            print(f"{page.relative_to(source)}: error: 1 in 20 sentences has {percentile} words or more; at most {LIMIT_WORDS}. The longest:")
            for line, words, sentence in counted[: -1 - len(counted) // 20: -1]:
                print(f"{page.relative_to(source)}:{line}: {words} words: {sentence[:160]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
