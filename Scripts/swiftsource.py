"""What the check scripts share: Swift source without comments and strings, and where things are.

A small lexer, not a parser: it keeps every newline (so that line numbers stay right), blanks
comments and the text of string literals, and keeps the code inside string interpolations.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def swift_files(*folders, root=ROOT):
    """Paths relative to the root of every Swift file below the folders, sorted."""
    found = []
    for folder in folders:
        for base, names, files in os.walk(os.path.join(root, folder)):
            names[:] = [n for n in names if not n.startswith('.') and n != 'bin']
            found += [os.path.relpath(os.path.join(base, f), root) for f in files if f.endswith('.swift')]
    return sorted(found)


def read(path, root=ROOT):
    with open(os.path.join(root, path), encoding='utf-8') as file:
        return file.read()


def code_only(text):
    """The text with comments and string contents replaced by blanks, line by line the same length."""
    out, index = [], 0

    def blank(piece):
        out.append(re.sub(r'[^\n]', ' ', piece))

    def string(start):
        """Consumes a literal that begins at `start`; returns where it ends."""
        hashes = re.match(r'#*', text[start:]).group()
        at = start + len(hashes)
        quote = '"""' if text.startswith('"""', at) else '"'
        blank(text[start:at + len(quote)])
        at += len(quote)
        while at < len(text):
            if text.startswith(quote + hashes, at):
                blank(quote + hashes)
                return at + len(quote) + len(hashes)
            if text.startswith('\\' + hashes + '(', at):
                blank('\\' + hashes + '(')
                at = code(at + 2 + len(hashes), nested=True)
            elif text.startswith('\\' + hashes, at) and not (hashes and quote == '"' and text[at + 1 + len(hashes)] == '\n'):
                blank(text[at:at + 2 + len(hashes)])
                at += 2 + len(hashes)
            elif text[at] == '\n' and quote == '"':
                return at  # not closed on its line: no literal after all
            else:
                blank(text[at])
                at += 1
        return at

    def code(at, nested=False):
        depth = 0
        while at < len(text):
            if text.startswith('//', at):
                end = text.find('\n', at)
                end = len(text) if end < 0 else end
                blank(text[at:end])
                at = end
            elif text.startswith('/*', at):
                level, end = 1, at + 2
                while end < len(text) and level:
                    step = 2
                    if text.startswith('/*', end):
                        level += 1
                    elif text.startswith('*/', end):
                        level -= 1
                    else:
                        step = 1
                    end += step
                blank(text[at:end])
                at = end
            elif text[at] == '"' or re.match(r'#+"', text[at:at + 8]):
                at = string(at)
            elif text[at] == '`':
                end = text.find('`', at + 1)
                end = at + 1 if end < 0 or '\n' in text[at:end] else end + 1
                name = text[at + 1:end - 1]
                out.append(text[at:end] if re.fullmatch(r'\w+', name) else re.sub(r'[^\n]', ' ', text[at:end]))
                at = end
            elif nested and text[at] == ')' and depth == 0:
                blank(')')
                return at + 1
            else:
                depth += {'(': 1, ')': -1}.get(text[at], 0)
                out.append(text[at])
                at += 1
        return at

    while index < len(text):
        index = code(index)
    return ''.join(out)


def lines_matching(code, pattern):
    """(line number, match) of every match, line by line."""
    for number, line in enumerate(code.split('\n'), 1):
        for match in re.finditer(pattern, line):
            yield number, match


def finish(name, problems):
    """Prints the problems and ends the script: 0 when there is none, else 1."""
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        print(f'{name}: {len(problems)} to fix', file=sys.stderr)
    sys.exit(1 if problems else 0)


def self_test(name, cases):
    """Ends the script after comparing what was found with what had to be: [(title, found, wanted)].

    `wanted` is a list of texts; each has to stand in the problem at its place.
    """
    bad = 0
    for title, found, wanted in cases:
        if len(found) != len(wanted) or any(w not in f for f, w in zip(found, wanted)):
            bad += 1
            print(f'{name} --self-test: {title}\n  found:  {found}\n  wanted: {wanted}', file=sys.stderr)
    sys.exit(1 if bad else 0)
