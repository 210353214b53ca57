// Small programs, compiled and changed with the system's tools when a test needs them.

@unsafe @preconcurrency import Glibc

@testable import ProbeCore

/// A folder with programs made from one source, removed in the end.
final class Compiled {
  let folder = Launching.temporaryDirectory()

  deinit { Launching.removeDirectory(folder) }

  static let source = """
    #include <stdio.h>
    static inline __attribute__((always_inline)) int twice(int x) {
      volatile int y = x;
      return 2 * y;
    }
    __attribute__((noinline)) static int hidden(int x) {
      return twice(x) + 1;
    }
    __attribute__((noinline)) int __visible(int x) { return hidden(x) * 3; }
    int visible(int) __attribute__((alias("__visible")));
    __asm__(".text\\n.globl bare\\nbare:\\n nop\\n nop\\n nop\\n ret\\n");
    int main(int argc, char **argv) {
      (void)argv;
      puts("hello");
      return visible(argc);
    }

    """

  init() { write("a.c", Self.source) }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  func write(_ name: String, _ text: String) {
    write(name, Array(text.utf8))
  }

  func write(_ name: String, _ bytes: [UInt8]) {
    do {
      let file = try Syscalls.open(path(name), flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o755)
      try Syscalls.writeAll(file.raw, bytes)
    } catch {
      preconditionFailure("cannot write \(name): \(error.reason)")
    }
  }

  /// Runs a shell script in the folder; its output, with the lines of `2>&1` only where it asks.
  @discardableResult
  func shell(_ script: String) -> String {
    let status = unsafe system("cd '\(folder)' && (\(script)) > .out 2> .err")
    precondition(status == 0, "\(script): \(Launching.contents(path(".err")))")
    return Launching.contents(path(".out"))
  }

  /// The program `a`, not stripped, with debug information.
  func compile(_ flags: String = "", source: String = "a.c", into name: String = "a") {
    shell(
      "gcc -O1 -g -fno-optimize-sibling-calls -Wl,--build-id=sha1 \(flags) -o \(name) \(source)")
  }

  /// Addresses by name, as nm prints them.
  func addresses(_ name: String = "a") -> [String: UInt64] {
    var result: [String: UInt64] = [:]
    for line in shell("nm --defined-only \(name)").split(separator: "\n") {
      let fields = line.split(separator: " ")
      if fields.count == 3 { result[String(fields[2])] = UInt64(fields[0], radix: 16) }
    }
    return result
  }

  func module(_ name: String = "a", root: String = "/") -> ModuleSymbols {
    ModuleSymbols(try? SymbolFile.open(path(name)), path: path(name), root: root)
  }

  /// The name of the symbol at an address of a program.
  func name(_ address: UInt64, in name: String = "a") -> String? {
    module(name).resolve([address])[address]?.symbol.map { SafeText.decode($0.name) }
  }
}
