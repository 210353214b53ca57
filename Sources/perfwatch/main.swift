// The entry: capture what a target must inherit, parse, hand over to a command, exit.

internal import ProbeCore

endProcess(Program.run(Array(CommandLine.arguments.dropFirst())))
