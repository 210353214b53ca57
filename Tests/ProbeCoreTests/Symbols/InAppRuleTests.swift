import Testing

@testable import ProbeCore

struct InAppRuleTests {
  @Test(arguments: [
    ("/home/me/app", true), ("/home/me/lib/libmine.so", true), ("/opt/app/lib/libx.so", true),
    ("/usr/local/lib/libmine.so", true), ("/srv/app", true), ("/tmp/build/a", true),
    ("/usr/lib/x86_64-linux-gnu/libc.so.6", false), ("/lib/ld-musl-x86_64.so.1", false),
    ("/lib64/ld-linux-x86-64.so.2", false), ("/usr/libexec/x", false),
    ("/nix/store/a/lib/x.so", false),
    ("/opt/toolchain/usr/lib/swift/linux/libswiftCore.so", false),
    ("/home/me/.rustup/toolchains/stable/lib/rustlib/x/lib/libstd.so", false),
    ("/usr/local/lib/gcc/x/libgcc_s.so", false), ("/usrx/lib/libmine.so", true),
    ("/libmine/a.so", true),
    ("[vdso]", false), ("[jit]", true), ("[anon]", true), ("[vsyscall]", false), ("", false),
  ])
  func `by path`(module: String, isInApp: Bool) {
    #expect(InAppRule(executable: "/home/me/app").isInApp(module) == isInApp)
  }

  @Test func `the executable is the program's own also in a folder of the system`() {
    #expect(InAppRule(executable: "/usr/bin/gedit").isInApp("/usr/bin/gedit"))
    #expect(!InAppRule(executable: "/usr/bin/gedit").isInApp("/usr/bin/other"))
  }

  @Test(arguments: ["/usr/bin/python3.11", "/usr/bin/node", "/bin/bash", "/usr/bin/perl"])
  func `an interpreter of the system is not the user's program`(path: String) {
    #expect(!InAppRule(executable: path).isInApp(path))
    #expect(InAppRule(executable: "/home/me/node").isInApp("/home/me/node"))
  }

  @Test func `the user's patterns come first`() {
    let rule = InAppRule(executable: "/a", patterns: ["libgtk*", "/usr/lib/mine/*", "[vdso]"])
    #expect(rule.isInApp("/usr/lib/libgtk-4.so.1"))
    #expect(rule.isInApp("/usr/lib/mine/x.so"))
    #expect(!rule.isInApp("/usr/lib/libglib-2.0.so"))
    #expect(rule.isInApp("[vdso]"))
    #expect(!rule.isInApp(nil))
  }
}
