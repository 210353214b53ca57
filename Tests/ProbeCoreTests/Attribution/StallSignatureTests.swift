// Equal stalls get one signature, whatever their length, addresses, depth of recursion and build.

import Testing

@testable import ProbeCore

@Suite struct StallSignatureTests {
  private func frame(
    _ name: String?, offset: Int = 1, inApp: Bool = true, inlined: Bool = false
  ) -> Summary.Frame {
    Summary.Frame(
      function: name, module: inApp ? "/build/\(offset)/app" : "/lib/libc.so.6",
      offset: "0x\(offset)", file: "f.c", line: offset, inlined: inlined, found: .cfi, inApp: inApp)
  }

  private func stack(
    _ names: [String], weight: Int64 = 100, offset: Int = 1
  ) -> Summary.Stack {
    Summary.Stack(
      at: .zero, weight: .milliseconds(weight), stopTime: .zero, truncated: nil,
      frames: names.map { frame($0, offset: offset) } + [frame("__libc_start_main", inApp: false)])
  }

  private func text(_ stacks: [Summary.Stack]) -> String {
    StallSignature(stacks, parts: Summary.CauseParts()).text
  }

  private func text(_ names: String...) -> String { text([stack(names)]) }

  @Test func `addresses, lines and the folder of the build do not count`() {
    let names = ["update_cache", "on_tick", "main"]
    #expect(text([stack(names, offset: 1)]) == text([stack(names, offset: 77)]))
  }

  @Test func `it begins with the innermost function of the program's own`() {
    let read = Summary.Stack(
      at: .zero, weight: .milliseconds(1), stopTime: .zero, truncated: nil,
      frames: [frame("read", inApp: false), frame("load"), frame("main")])
    #expect(text([read]).hasPrefix("load-"))
    #expect(text("app::load(int)", "main").hasPrefix("app::load-"))
    #expect(text("<app::A as app::B>::go", "main").hasPrefix("_app::A_as_app::B_::go-"))
  }

  @Test func `another function or another caller makes another signature`() {
    let all = [
      text("load", "on_tick", "main"), text("save", "on_tick", "main"),
      text("load", "on_click", "main"),
    ]
    #expect(Set(all).count == 3)
  }

  @Test func `callers far out do not count`() {
    #expect(text("load", "tick", "loop", "main") == text("load", "tick", "loop", "run", "main"))
  }

  @Test func `the depth of a recursion does not count, direct or over others`() {
    let once = text("walk", "start", "main")
    #expect(text("walk", "walk", "walk", "start", "main") == once)
    // Entered by `value`, whichever of the two is the innermost.
    let entered = text("value", "start", "main")
    #expect(text("value", "array", "value", "array", "value", "start", "main") == entered)
    #expect(text("array", "value", "array", "value", "start", "main") != once)
    #expect(
      text("leaf", "array", "value", "array", "value", "start", "main")
        == text("leaf", "value", "array", "value", "start", "main"))
  }

  @Test func `closures, template arguments and what the compiler made of a function do not count`()
  {
    let plain = text("app::run", "main")
    #expect(
      text("app::run(int)::{lambda()#2}::operator()() const", "app::run(int)", "main") == plain)
    #expect(text("void app::run<int>(int)", "main") == plain)
    #expect(text("app::run", "std::function<void ()>::operator()() const", "main") == plain)
    #expect(text("app::run.cold", "main") == plain)
  }

  @Test func `inlined functions do not count, as they are not always known`() {
    var stack = stack(["work", "main"])
    stack.frames.insert(frame("step", inlined: true), at: 0)
    #expect(text([stack]) == text("work", "main"))
  }

  @Test func `where stacks differ, what most of the time has in common decides`() {
    let one = text([
      stack(["a", "work", "tick", "main"], weight: 40),
      stack(["b", "work", "tick", "main"], weight: 35),
      stack(["c", "work", "tick", "main"], weight: 25),
    ])
    let other = text([
      stack(["a", "work", "tick", "main"], weight: 20),
      stack(["c", "work", "tick", "main"], weight: 45),
      stack(["b", "work", "tick", "main"], weight: 35),
    ])
    #expect(one == other && one == text("work", "tick", "main"))
    // Nothing but `main` in common would make all stalls equal.
    let apart = [stack(["a", "main"], weight: 40), stack(["b", "main"], weight: 35)]
    #expect(text(apart + [stack(["c", "main"], weight: 25)]) == text("a", "main"))
  }

  @Test func `without names of the program's own the system's tell, and without any the wait`() {
    let system = Summary.Stack(
      at: .zero, weight: .milliseconds(1), stopTime: .zero, truncated: nil,
      frames: [frame("fsync", inApp: false), frame("_start", inApp: false)])
    #expect(text([system]).hasPrefix("fsync-"))
    var parts = Summary.CauseParts()
    parts.lock = .milliseconds(200)
    parts.cpuUser = .milliseconds(100)
    #expect(StallSignature([], parts: parts).text == "no-stack-lock")
    #expect(StallSignature([], parts: Summary.CauseParts()).text == "no-stack-unknown")
  }

  @Test func `stripped code is known by its file, code of a JIT by nothing`() {
    let stripped = Summary.Stack(
      at: .zero, weight: .milliseconds(1), stopTime: .zero, truncated: nil,
      frames: [frame(nil, offset: 5), frame("main")])
    var moved = stripped
    moved.frames[0].offset = "0x999"
    #expect(text([stripped]) == text([moved]))
    #expect(text([stripped]).hasPrefix("main-"))
  }

  /// As in Node.js, where all of the program's own code is made while it runs.
  @Test
  func `where all of the program is nameless, what it called of the system makes the difference`() {
    func calling(_ function: String) -> Summary.Stack {
      var own = frame(nil, offset: 5)
      own.module = "[anon]"
      return Summary.Stack(
        at: .zero, weight: .milliseconds(1), stopTime: .zero, truncated: nil,
        frames: [frame(function, inApp: false), own])
    }
    #expect(text([calling("fsync")]).hasPrefix("fsync-"))
    #expect(text([calling("fsync")]) != text([calling("epoll_wait")]))
    var bare = calling("fsync")
    bare.frames.removeFirst()
    #expect(text([bare]).hasPrefix("code_without_a_name-"))
  }

  @Test func `a signature never holds what a shell or a pattern would take for something else`() {
    let signature = text("a*b?c[d] 'e'\u{1b}[31m#", "main")
    #expect(signature.allSatisfy { $0.isASCII && !" *?[]'\"#\u{1b}\\".contains($0) })
  }

  @Test func `an allow-list has a signature a line, and comments`() {
    let lines = IgnoredStalls.lines(of: "# known\nload-1234abcd  # slow disk\n\n  save-*\r\n#x")
    #expect(lines == ["load-1234abcd", "save-*"])
    let ignored = IgnoredStalls(lines)
    #expect(ignored.contains("load-1234abcd") && ignored.contains("save-00000000"))
    #expect(!ignored.contains("load-1234abce") && !IgnoredStalls().contains("x"))
  }
}
