// The smallest Swift program: what any program of ours costs at least, in start-up and in memory.
// With an argument it waits for the end of its input, so that its memory can be read.

print("hello")
if CommandLine.arguments.count > 1 {
  while readLine() != nil {}
}
