// The last call of the program.

internal import Glibc

/// exit(3): ends perfwatch with a code.
public func endProcess(_ code: Int32) -> Never { exit(code) }
