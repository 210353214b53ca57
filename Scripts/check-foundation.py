#!/usr/bin/env python3
"""Nothing imports Foundation: its data tables add some 40 MB to a static binary.

FoundationEssentials (JSON) is fine; every other module of that family brings Foundation along.
"""

import sys

from swiftsource import code_only, finish, lines_matching, read, self_test, swift_files

IMPORT = r'\bimport\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(Foundation\w*)'


def check(sources):
    return [
        f'{path}:{number}: imports {match.group(1)}; use FoundationEssentials for JSON, else nothing'
        for path, text in sources.items()
        for number, match in lines_matching(code_only(text), IMPORT)
        if match.group(1) != 'FoundationEssentials'
    ]


def test():
    self_test('check-foundation', [
        ('allowed', check({'a': 'internal import FoundationEssentials\n// import Foundation\nlet a = "import Foundation"'}), []),
        ('plain', check({'a': 'import Glibc\npublic import Foundation'}), ['a:2: imports Foundation;']),
        ('one symbol', check({'a': 'import struct Foundation.Date'}), ['imports Foundation;']),
        ('a sibling', check({'a': '@preconcurrency import FoundationNetworking'}), ['imports FoundationNetworking']),
    ])


if __name__ == '__main__':
    if '--self-test' in sys.argv:
        test()
    finish('check-foundation', check({path: read(path) for path in swift_files('Sources', 'Tests')}))
