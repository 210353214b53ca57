// The same function has the same key in every build, and different functions have different ones.

import Testing

@testable import ProbeCore

@Suite struct FunctionKeyTests {
  @Test(arguments: [
    ("parse", "parse"),
    ("parse.isra.0", "parse"),
    ("parse.constprop.3.cold", "parse"),
    ("parse.part.1", "parse"),
    ("app::Parser::parse(char const*, int) const", "app::Parser::parse"),
    ("void app::sort<std::vector<int> >(std::vector<int>&)", "app::sort"),
    ("std::vector<int> app::make<int>(int)", "app::make"),
    ("app::run(int)::{lambda(int)#2}::operator()(int) const", "app::run"),
    ("app::run(int)::$_0::operator()(int) const", "app::run"),
    ("app::Item::operator()(int)", "app::Item::operator()"),
    ("app::operator<(app::A const&, app::A const&)", "app::operator<"),
    ("app::operator<<(app::A const&, int)", "app::operator<<"),
    ("(anonymous namespace)::work(int)", "(anonymous namespace)::work"),
    ("app::text[abi:cxx11](int)", "app::text"),
    ("app::parse::h0123456789abcdef", "app::parse"),
    ("app::parse::{{closure}}", "app::parse"),
    ("app::parse::{{closure}}::h0123456789abcdef", "app::parse"),
    ("app::parse::{closure#1}::{closure#0}", "app::parse"),
    ("app::load::<alloc::string::String>", "app::load"),
    ("app::load<alloc::string::String>", "app::load"),
    ("<app::Shape<f64> as app::Draw>::draw", "<app::Shape as app::Draw>::draw"),
    ("app[1f2e3d4c]::parse", "app::parse"),
    ("<app::Cache<u8>>::update", "app::Cache::update"),
    ("<app[1f2e3d4c]::Cache>::update::<u8>", "app::Cache::update"),
    ("closure #1 in closure #2 in Parser.parse(_:)", "Parser.parse"),
    ("closure #1 (Swift.Int) -> () in app.work(count: Swift.Int) -> ()", "app.work"),
    ("specialized Parser.parse(_:)", "Parser.parse"),
    ("generic specialization <Swift.Int> of app.sum<A>(A) -> A", "app.sum"),
    ("partial apply forwarder for closure #3 in app.work() -> ()", "app.work"),
    ("(2) await resume partial function for app.load() async -> ()", "app.load"),
    ("app.(work in _6F3A1B2C3D4E5F60)() -> ()", "app.work"),
    ("main.work.func1", "main.work"),
    ("main.work.func2.1", "main.work"),
    ("main.(*Server).serve", "main.(*Server).serve"),
    ("-[Store saveAll:]", "-[Store saveAll:]"),
    ("operator new(unsigned long)", "operator new"),
  ])
  func `what differs between builds is left out`(function: String, key: String) {
    #expect(FunctionKey.of(function) == key)
  }

  @Test func `any text has a key, and none is longer than the name`() {
    let pieces = [
      "<", ">", "(", ")", "{", "}", "[", "::", ".", "operator", " ", "a", "-", "é", "#1",
    ]
    var state: UInt64 = 7
    for _ in 0..<2000 {
      var text = ""
      for _ in 0..<12 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        text += pieces[Int(state >> 33) % pieces.count]
      }
      let key = FunctionKey.of(text)
      // A closure that is the whole name stays as its brackets.
      #expect(!key.isEmpty && key.utf8.count <= text.utf8.count + 2, "\(text): \(key)")
    }
    #expect(FunctionKey.of("") == "")
  }

  @Test func `library code between the program's functions is glue, the program's is not`() {
    for name in ["std::function::operator()", "core::ops::function::FnOnce::call_once", "_start"] {
      #expect(FunctionKey.isGlue(name))
    }
    for name in ["main", "app::std::work", "start", "corework"] {
      #expect(!FunctionKey.isGlue(name))
    }
  }
}
