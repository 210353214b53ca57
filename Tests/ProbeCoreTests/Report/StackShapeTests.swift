// How stacks are shortened for reading.

import Testing

@testable import ProbeCore

@Suite struct StackShapeTests {
  /// `+name` is the program's own, anything else the C library's.
  private func frames(_ names: String...) -> [Summary.Frame] {
    names.map { name in
      let isOwn = name.hasPrefix("+")
      return Summary.Frame(
        function: isOwn ? String(name.dropFirst()) : name,
        module: isOwn ? "/opt/app" : "/lib/libc.so.6", offset: "0x1", found: .cfi, inApp: isOwn)
    }
  }

  private func lines(_ frames: [Summary.Frame]) -> [String] {
    StackShape.lines(of: frames, isUnicode: true).map(\.text)
  }

  @Test func `system functions are folded, but for what the program called`() {
    #expect(
      lines(
        frames(
          "futex_wait", "lock_slow", "pthread_mutex_lock", "+take", "qsort_r", "qsort", "+sort",
          "+main", "start_call", "start")) == [
          "pthread_mutex_lock (libc.so.6), … 2 deeper", "take", "… 2 in libc.so.6", "sort", "main",
          "… 2 in libc.so.6",
        ])
  }

  @Test func `a single system function keeps its name, the start-up code does not count as own`() {
    #expect(
      lines(frames("read", "+work", "+main", "+__libc_start_main", "+_start"))
        == ["read (libc.so.6)", "work", "main", "… 2 in app"])
  }

  @Test func `recursion is counted`() {
    #expect(lines(frames("+walk", "+walk", "+walk", "+main")) == ["walk × 3", "main"])
    #expect(
      StackShape.lines(of: frames("+walk", "+walk"), isUnicode: false).map(\.text) == ["walk x 2"])
  }

  @Test func `without any own function the innermost ones are shown`() {
    let names = (0..<20).map { "f\($0)" }
    let all = names.map {
      Summary.Frame(function: $0, module: "/usr/bin/python3", offset: "0x1", found: .cfi)
    }
    #expect(lines(all).count == 9)
    #expect(lines(all).last == "… 12 more in python3")
  }

  @Test func `a frame without a name is its address`() {
    let frame = Summary.Frame(
      function: nil, module: "/opt/app", offset: "0x1f", found: .cfi, inApp: true)
    #expect(lines([frame]) == ["app+0x1f"])
    #expect(
      lines([Summary.Frame(function: nil, module: nil, offset: nil, found: .register)]) == ["?"])
    #expect(lines([]).isEmpty)
  }

  @Test func `code of a JIT without names is one line, whatever its addresses`() {
    func anonymous(_ offset: String) -> Summary.Frame {
      .init(function: nil, module: "[anon]", offset: offset, found: .framePointer, inApp: true)
    }
    let node = Summary.Frame(
      function: "Builtins_Entry", module: "/usr/bin/node", offset: "0x1", found: .cfi)
    #expect(
      lines([anonymous("0x10"), node, anonymous("0x20"), anonymous("0x30"), node, node])
        == [
          "code without a name", "Builtins_Entry (node)", "code without a name \u{d7} 2",
          "… 2 in node",
        ])
  }

  @Test func `the place in a function without a name does not tell stacks apart`() {
    func stack(_ offset: String, from caller: String) -> [ShownFrame] {
      let frames = [offset, caller].map {
        Summary.Frame(
          function: nil, module: "/opt/stripped", offset: $0, found: .cfi, inApp: true)
      }
      return StackShape.lines(of: frames, isUnicode: true)
    }
    let first = stack("0x10", from: "0x99")
    #expect(first.map(\.key) == stack("0x11", from: "0x99").map(\.key))
    #expect(first.map(\.key) != stack("0x10", from: "0x98").map(\.key))
    #expect(first.map(\.text) == ["stripped+0x10", "stripped+0x99"])
  }

  @Test func `stacks that show the same are one group, whatever their lines`() {
    var first = frames("+parse", "+main")
    first[0].line = 1
    first[0].file = "a.c"
    var second = first
    second[0].line = 2
    func stack(_ frames: [Summary.Frame], _ weight: Int64) -> Summary.Stack {
      .init(
        at: .zero, weight: .milliseconds(weight), stopTime: .zero, truncated: nil, frames: frames)
    }
    let groups = StackGroup.groups(
      of: [stack(first, 10), stack(frames("+other", "+main"), 25), stack(second, 20)],
      isUnicode: true)
    #expect(groups.map(\.count) == [2, 1])
    #expect(groups[0].weight == .milliseconds(30))
    #expect(groups[0].lines.map(\.text) == ["parse (a.c:2)", "main"])
    let tree = StackTree(groups)
    #expect(tree.children.map(\.line.text) == ["main"])
    #expect(tree.children[0].weight == .milliseconds(55) && tree.children[0].count == 3)
    #expect(tree.children[0].children.map(\.line.key) == ["parse", "other"])
  }
}
