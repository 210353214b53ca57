import Testing

@testable import ProbeCore

struct DemanglerTests {
  private func demangled(_ name: String) -> String? {
    Demangler().demangle([Array(name.utf8)])[Array(name.utf8)]
  }

  @Test(arguments: [
    ("main", "main"),
    ("_ZN3app4Loop4stepEi", "app::Loop::step(int)"),
    // Without the return type that templates have in their names.
    ("_Z4workIiET_RSt6vectorIS0_SaIS0_EE", "work<int>(std::vector<int, std::allocator<int> >&)"),
    ("_ZN9rust_loop12busy_closure17h0123456789abcdefE", "rust_loop::busy_closure"),
    ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
    ("$s4main5sleepyyF", "main.sleep() -> ()"),
    ("$s4main3add1aS2i_tF", "main.add(a: Int) -> Int"),
    ("_D3std5stdio7writelnFZv", "_D3std5stdio7writelnFZv"),
    ("main.(*server).run", "main.(*server).run"),
    ("_Zgarbage", "_Zgarbage"),
    ("$sgarbage", "$sgarbage"),
    ("", ""),
  ])
  func `names of each language`(mangled: String, shown: String) {
    #expect(demangled(mangled) == shown)
  }

  @Test(arguments: [
    ("work.constprop.0", "work"), ("work.isra.0.cold", "work"), ("work.part.12", "work"),
    ("work.llvm.9876543210", "work"), ("_Z4workv.cold", "work()"), ("work.lto_priv.0", "work"),
    ("runtime.mcall", "runtime.mcall"), ("a.b.c", "a.b.c"), (".cold", ".cold"),
    ("main.func1", "main.func1"),
    ("x.0", "x.0"),
  ])
  func `copies that the compiler made have the function's name`(name: String, shown: String) {
    #expect(demangled(name) == shown)
  }

  @Test(arguments: [
    ("(1) await resume partial function for main.f() async -> ()", "main.f() async -> ()"),
    (
      "main.(helper in _0123456789ABCDEF0123456789ABCDEF)(Swift.Int) -> ()",
      "main.helper(Int) -> ()"
    ),
    (
      "closure #1 (Swift.Int) -> Swift.String in main.f()", "closure #1 (Int) -> String in main.f()"
    ),
    ("generic specialization <Swift.Int> of main.f<A>(A) -> ()", "main.f<A>(A) -> ()"),
    (
      "function signature specialization <Arg[0] = Exploded> of main.f(() -> ()) -> ()",
      "main.f(() -> ()) -> ()"
    ),
    (
      "merged generic specialization <Swift.Int> of function signature specialization "
        + "<Arg[0] = Dead, Arg[1] = [Closure Propagated : static Swift.Int.> infix(Swift.Int, "
        + "Swift.Int) -> Swift.Bool]> of main.sorted<A where A: Swift.Comparable>([A]) -> [A]",
      "main.sorted<A where A: Comparable>([A]) -> [A]"
    ),
    (
      "partial apply forwarder for generic partial specialization <Swift.Int> of "
        + "closure #1 (Swift.Int) -> () in main.f() -> ()",
      "partial apply forwarder for closure #1 (Int) -> () in main.f() -> ()"
    ),
    (
      "function signature specialization <Arg[2] = Dead> of static Swift.String.f(_: Swift.Int) -> ()",
      "static String.f(_: Int) -> ()"
    ),
    ("main.f(merged : Swift.Int) -> ()", "main.f(merged : Int) -> ()"),
    (
      "function signature specialization <Arg[0] = Dead of main.f()",
      "function signature specialization <Arg[0] = Dead of main.f()"
    ),
    ("main.x.modify : Swift.Int with unmangled suffix \".resume.0\"", "main.x.modify : Int"),
    ("MySwift.Thing.f()", "MySwift.Thing.f()"), ("main.(x in y)", "main.(x in y)"), ("(", "("),
    ("", ""),
    ("generic specialization <", "generic specialization <"),
  ])
  func `Swift names without noise`(full: String, short: String) {
    #expect(SwiftNames.simplified(full) == short)
  }

  @Test func `long template arguments give way to the function's name`() throws {
    // Each pair of arguments doubles the length: 2^14 times `std::pair<int, int>`, and then a member.
    var name = "St4pairIiiE"
    for index in 0..<14 {
      let back = index == 0 ? "S_" : "S\(String(index - 1, radix: 36).uppercased())_"
      name = "St4pairI\(name)\(back)E"
    }
    let shown = try #require(demangled("_ZN6WidgetI\(name)E5paintEv"))
    #expect(shown.utf8.count <= Demangler.limit + Demangler.cutMark.utf8.count)
    #expect(shown.hasPrefix("Widget<"), "\(shown.prefix(80))")
    #expect(shown.hasSuffix("::paint()"), "\(shown.suffix(80))")
  }

  @Test func `a name that never ends is cut, and the others of its batch are shown`() {
    // A Swift tuple of two tuples of two tuples..., each told by a back reference: 2^40 words.
    var bomb = "$s4main1fyySi_Sit"
    for _ in 0..<40 { bomb += "_A" + "Bt" }
    let names = [bomb + "F", "_Z4workv", "$s4main5sleepyyF", String(repeating: "x", count: 9000)]
    let shown = Demangler().demangle(Set(names.map { Array($0.utf8) }))
    #expect(shown[Array("_Z4workv".utf8)] == "work()")
    #expect(shown[Array("$s4main5sleepyyF".utf8)] == "main.sleep() -> ()")
    for text in shown.values {
      #expect(text.utf8.count <= Demangler.limit + Demangler.cutMark.utf8.count)
    }
    #expect(shown[Array(names[3].utf8)]?.hasSuffix(Demangler.cutMark) == true)
  }

  @Test func `comparison and shift operators are not taken for brackets`() {
    #expect(demangled("_ZlsRSoRK1A") == "operator<<(std::ostream&, A const&)")
    #expect(demangled("_ZltRK1AS1_") == "operator<(A const&, A const&)")
  }

  @Test func `answers of the helper that are cut or false are left out`() {
    #expect(SymbolHelper.parse([]).isEmpty)
    #expect(SymbolHelper.parse([UInt8](repeating: 0xff, count: 64)).isEmpty)
    var answer: [UInt8] = [7, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]
    answer += Array("abc".utf8)
    let whole = SymbolHelper.parse(answer)
    #expect(whole.count == 1)
    #expect(whole.first?.name == Array("ab".utf8))
    #expect(whole.first?.file == Array("c".utf8))
    #expect(whole.first?.line == 5)
    for length in 0..<answer.count {
      #expect(SymbolHelper.parse(Array(answer.prefix(length))).isEmpty)
    }
  }
}
