@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

struct SymbolTableTests {
  @Test func `first and last byte of a function are its own, the next is not`() throws {
    let built = Compiled()
    built.compile()
    let main = try #require(built.addresses()["main"])
    let symbol = try #require(built.module().resolve([main])[main]?.symbol)
    #expect(symbol.start == main)
    #expect(symbol.size > 0)
    #expect(built.name(main + symbol.size - 1) == "main")
    #expect(built.name(main + symbol.size) != "main")
    #expect(built.name(main - 1) != "main")
  }

  @Test func `of two names for one code the one without underscores is chosen, in any order`()
    throws
  {
    let built = Compiled()
    built.compile()
    let address = try #require(built.addresses()["__visible"])
    #expect(built.addresses()["visible"] == address)
    #expect(built.name(address) == "visible")
  }

  @Test func `assembly without a size reaches to the next symbol`() throws {
    let built = Compiled()
    built.compile()
    let bare = try #require(built.addresses()["bare"])
    #expect(built.name(bare) == "bare")
    #expect(built.name(bare + 3) == "bare")
    let next = try #require(built.addresses().values.filter { $0 > bare }.min())
    #expect(built.name(next) != "bare")
  }

  @Test func `an address below all code or far above it has no name`() {
    let built = Compiled()
    built.compile()
    #expect(built.name(0) == nil)
    #expect(built.name(.max) == nil)
    #expect(built.name(1 << 40) == nil)
  }

  @Test func `a call through the PLT is named after the function it calls`() throws {
    let built = Compiled()
    built.compile("-fcf-protection=full -Wl,-z,lazy")
    let line = try #require(
      built.shell("objdump -d a | grep '<puts@plt>:'").split(separator: " ").first)
    let address = try #require(UInt64(line, radix: 16))
    #expect(built.name(address) == "puts@plt")
    #expect(built.name(address + 15) == "puts@plt")
  }

  @Test func `rules of rank: nearer, then larger, then a function, then global`() {
    func entry(_ start: UInt64, _ size: UInt64, _ rank: UInt8) -> SymbolEntry {
      SymbolEntry(name: 1, start: start, size: size, rank: rank, section: 1)
    }
    #expect(entry(8, 0, 0).isBetter(than: entry(4, 100, 6)))
    #expect(entry(4, 8, 0).isBetter(than: entry(4, 0, 6)))
    #expect(entry(4, 8, 6).isBetter(than: entry(4, 8, 4)))
    #expect(!entry(4, 8, 4).isBetter(than: entry(4, 8, 4)))
    #expect(entry(4, 8, 4).ties(with: entry(4, 8, 4)))
  }

  @Test func `names are those of nm for every function of libraries and of this program`() throws {
    let built = Compiled()
    #if arch(arm64)
      let folder = "/usr/lib/aarch64-linux-gnu"
    #else
      let folder = "/usr/lib/x86_64-linux-gnu"
    #endif
    // What a machine has not got is left out; our own program it has.
    for path in ["\(folder)/libc.so.6", "\(folder)/libstdc++.so.6", "/usr/bin/python3"] {
      guard let file = try? SymbolFile.open(path) else { continue }
      compare(built, file, path, dynamic: true)
    }
    compare(built, try SymbolFile.open(OwnProgram.path), OwnProgram.path, dynamic: false)
  }

  /// Each sampled function's first byte and one in the middle must have one of the names that nm has.
  private func compare(_ built: Compiled, _ file: SymbolFile, _ path: String, dynamic: Bool) {
    let text = built.shell(
      "nm \(dynamic ? "-D " : "")-S --defined-only '\(path)' | grep -i ' [twi] '")
    var names: [UInt64: Set<String>] = [:]
    var sizes: [UInt64: UInt64] = [:]
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count == 4, let start = UInt64(fields[0], radix: 16),
        let size = UInt64(fields[1], radix: 16)
      else { continue }
      let name = fields[3].prefix { dynamic ? $0 != "@" : true }
      names[start, default: []].insert(String(name))
      sizes[start] = max(sizes[start] ?? 0, size)
    }
    let sample = names.keys.sorted().enumerated().filter { $0.offset % 40 == 0 }.map(\.element)
    #expect(sample.count > 20, "\(path)")
    let module = ModuleSymbols(file, path: path)
    let found = module.resolve(Set(sample))
    for start in sample {
      let name = found[start]?.symbol.map { SafeText.decode($0.name) } ?? "none"
      #expect(
        names[start]?.contains(name) == true, "\(path) at \(String(start, radix: 16)): \(name)")
    }
  }

  @Test func `of a global and a weak name the one without underscores is shown`() throws {
    let built = Compiled()
    built.write(
      "weak.c",
      """
      int __libc_thing(int x) { return x + 1; }
      int thing(int) __attribute__((weak, alias("__libc_thing")));
      int main(int argc, char **argv) { (void)argv; return thing(argc); }

      """)
    built.compile("-O0", source: "weak.c", into: "weak")
    let address = try #require(built.addresses("weak")["thing"])
    #expect(built.addresses("weak")["__libc_thing"] == address)
    #expect(built.name(address + 1, in: "weak") == "thing")
  }
}

/// The test program itself: Swift, large, not stripped.
enum OwnProgram {
  static var path: String {
    (try? Syscalls.readLink("/proc/self/exe")).map { SafeText.decode($0) } ?? ""
  }
}
