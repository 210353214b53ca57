#!/usr/bin/env python3
"""`unsafe`, `@unchecked Sendable` and `nonisolated(unsafe)` stand only in listed files.

The list is Scripts/unsafe-files.txt; it may name only files of Sources/ProbeCore/Linux/, each of
which says in a comment line `Safety:` who guarantees what. `--list` prints the files that use them.
"""

import re
import sys

from swiftsource import code_only, finish, lines_matching, read, self_test, swift_files

PATTERN = r'(?<![\w.`])unsafe\b(?!`)|@unchecked\b'
LIST = 'Scripts/unsafe-files.txt'


def uses(text):
    return [(number, match.group()) for number, match in lines_matching(code_only(text), PATTERN)]


def check(sources, allowed):
    problems = []
    for path, text in sources.items():
        found = uses(text)
        if found and path not in allowed:
            problems += [f'{path}:{number}: `{word}` in a file that {LIST} does not list' for number, word in found]
    for path in allowed:
        if not re.fullmatch(r'Sources/ProbeCore/Linux/[^/]+\.swift', path):
            problems.append(f'{LIST}: {path} is not in Sources/ProbeCore/Linux/')
        elif path not in sources:
            problems.append(f'{LIST}: {path} does not exist')
        elif not uses(sources[path]):
            problems.append(f'{LIST}: {path} has nothing unsafe any more')
        elif not re.search(r'^\s*//.*\bSafety: *\S', sources[path], re.M):
            problems.append(f'{path}: no comment line `Safety:` that says who guarantees what')
    return problems


def test():
    good = 'Sources/ProbeCore/Linux/Good.swift'
    other = 'Sources/ProbeCore/Model/Other.swift'
    text = '// Safety: the buffer outlives the call.\nlet a = unsafe f()\n'
    self_test('check-unsafe', [
        ('a listed file', check({good: text}, [good]), []),
        ('not listed', check({good: text}, []), ['Good.swift:2: `unsafe`']),
        ('words that only look alike', check({other: 'let unsafely = "unsafe" // unsafe\nx.unsafe(1)\nwithUnsafeBytes()'}, []), []),
        ('all three', check({other: 'final class A: @unchecked Sendable {}\nnonisolated(unsafe) var b = 1\nlet c = unsafe d'}, []), ['@unchecked', '`unsafe`', '`unsafe`']),
        ('outside the fence', check({other: text}, [other]), ['is not in']),
        ('no Safety line', check({good: 'let a = unsafe f()'}, [good]), ['no comment line']),
        ('stale entries', check({good: 'let a = 1'}, [good, 'Sources/ProbeCore/Linux/Gone.swift']), ['nothing unsafe', 'does not exist']),
    ])


if __name__ == '__main__':
    if '--self-test' in sys.argv:
        test()
    tree = {path: read(path) for path in swift_files('Sources')}
    if '--list' in sys.argv:
        print('\n'.join(path for path, text in tree.items() if uses(text)))
        sys.exit(0)
    listed = [line.split('#')[0].strip() for line in read(LIST).splitlines()]
    finish('check-unsafe', check(tree, [line for line in listed if line]))
