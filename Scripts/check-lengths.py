#!/usr/bin/env python3
"""No source or test file is longer than 400 lines, unless Scripts/long-files.txt says why.

A line of that list: PATH: REASON. An entry that is not needed any more is a problem as well.
"""

import os
import sys

from swiftsource import ROOT, finish, read, self_test

LIMIT = 400
LIST = 'Scripts/long-files.txt'
SUFFIXES = ('.swift', '.c', '.h', '.cpp', '.py', '.sh')


def check(lengths, exceptions):
    problems = []
    for path, length in lengths.items():
        if length > LIMIT and path not in exceptions:
            problems.append(f'{path}: {length} lines, more than {LIMIT}: look for the second idea in it')
    for path, reason in exceptions.items():
        if lengths.get(path, 0) <= LIMIT:
            problems.append(f'{LIST}: {path} is not too long any more')
        elif not reason:
            problems.append(f'{LIST}: {path} has no reason')
    return problems


def tree():
    for folder in ('Sources', 'Tests'):
        for base, names, files in os.walk(os.path.join(ROOT, folder)):
            names[:] = [n for n in names if n not in ('bin', 'Fixtures') and not n.startswith('.')]
            for name in sorted(files):
                if name.endswith(SUFFIXES):
                    path = os.path.relpath(os.path.join(base, name), ROOT)
                    yield path, read(path).count('\n')


def test():
    self_test('check-lengths', [
        ('at the limit', check({'a': 400}, {}), []),
        ('too long', check({'a': 401}, {}), ['a: 401 lines']),
        ('excused', check({'a': 900}, {'a': 'a table'}), []),
        ('no reason, no need', check({'a': 900, 'b': 10}, {'a': '', 'b': 'x'}), ['no reason', 'not too long']),
    ])


if __name__ == '__main__':
    if '--self-test' in sys.argv:
        test()
    listed = {}
    for line in read(LIST).splitlines():
        if line.strip() and not line.startswith('#'):
            file, _, why = line.partition(':')
            listed[file.strip()] = why.strip()
    finish('check-lengths', check(dict(tree()), listed))
