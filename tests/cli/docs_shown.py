"""docs_shown.py SHOWN PRINTED: whether what a page shows is what came out, where a line "..." of the page stands for any number of lines. Prints the first lines that are not there."""
import sys


def lines(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return [line.rstrip() for line in file.read().rstrip("\n").split("\n")]


def parts(shown):
    """The runs of shown lines between those that were left out."""
    part = [[]]
    for line in shown:
        if line == "...":
            part.append([])
        else:
            part[-1].append(line)
    return part


def find(part, printed, begin, last):
    """Where PART begins in what was printed from BEGIN on; the last part ends with it. -1 where it is not there."""
    places = [len(printed) - len(part)] if last else range(begin, len(printed) - len(part) + 1)
    return next((at for at in places if at >= begin and printed[at:at + len(part)] == part), -1)


def main():
    shown, printed = lines(sys.argv[1]), lines(sys.argv[2])
    whole = parts(shown)
    at = 0
    for i, part in enumerate(whole):
        last = i == len(whole) - 1
        if i == 0:
            found = 0 if printed[:len(part)] == part and (not last or len(printed) == len(part)) else -1
        else:
            found = find(part, printed, at, last)
        if found < 0:
            print("\n".join(f"< {line}" for line in part if line not in printed) or "< these lines, in this order: " + " / ".join(part[:3]))
            print("\n".join(f"> {line}" for line in printed[at:at + 4]))
            return 1
        at = found + len(part)
    return 0


if __name__ == "__main__":
    sys.exit(main())
