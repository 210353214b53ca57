// Which frames are the program's own, and which the system's: the own ones name a stall.

/// Tells by a module's path whether its code is the program's own.
///
/// In this order:
/// 1. A pattern of the user's that matches the path, or its last part where the pattern has no slash.
/// 2. No file at all: a JIT's code (`[jit]`, `[anon]`) is the program's own, the kernel's (`[vdso]`) not.
/// 3. The executable is the program's own, unless it is a language's interpreter of the system
///    (`/usr/bin/python3.11`): the user's code is what it runs.
/// 4. `/usr/local` is the user's. `/usr`, `/lib*`, `/bin`, `/sbin`, `/nix/store`, `/gnu/store`, `/snap`, and
///    libraries of a toolchain wherever it is unpacked, are the system's.
/// 5. Everything else (home, `/opt`, `/srv`, build folders) is the program's own.
public struct InAppRule: Sendable {
  private let executable: String
  private let patterns: [Glob]
  private let namePatterns: [Glob]

  private static let interpreters = [
    "python*", "pypy*", "perl*", "ruby*", "node", "nodejs", "php*", "lua*", "java", "dotnet",
    "mono*",
    "bash", "dash", "sh", "zsh", "guile*", "tclsh*", "Rscript", "R", "erl*", "beam*", "ocamlrun",
    "deno",
    "bun", "gjs*", "qemu-*",
  ].map { Glob($0) }

  private static let systemFolders = [
    "/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/", "/nix/store/",
    "/gnu/store/",
    "/snap/", "/run/host/", "/app/lib/",
  ]

  private static let toolchainFolders = [
    "/usr/lib/swift/", "/lib/swift/linux/", "/lib/rustlib/", "/lib/gcc/", "/lib/clang/",
    "/jre/lib/", "/lib/jvm/",
  ]

  /// - Parameters:
  ///   - executable: the path of the target's program.
  ///   - patterns: of `--in-app`.
  public init(executable: String, patterns: [String] = []) {
    self.executable = executable
    self.patterns = patterns.filter { $0.contains("/") }.map { Glob($0) }
    namePatterns = patterns.filter { !$0.contains("/") }.map { Glob($0) }
  }

  /// Whether a frame in this module (a path, `[vdso]`, `[jit]`, `[anon]`; nil is unknown) is the program's.
  public func isInApp(_ module: String?) -> Bool {
    guard let module, !module.isEmpty else { return false }
    let name = String(
      module[(module.lastIndex(of: "/").map { module.index(after: $0) } ?? module.startIndex)...])
    if patterns.contains(where: { $0.matches(module) }) { return true }
    if namePatterns.contains(where: { $0.matches(name) }) { return true }
    if module.hasPrefix("[") { return module == "[jit]" || module == "[anon]" }
    let isSystem = Self.isSystemPath(module)
    if module == executable {
      return !(isSystem && Self.interpreters.contains { $0.matches(name) })
    }
    return !isSystem
  }

  private static func isSystemPath(_ path: String) -> Bool {
    if path.hasPrefix("/usr/local/") { return toolchainFolders.contains { path.contains($0) } }
    return systemFolders.contains { path.hasPrefix($0) }
      || toolchainFolders.contains { path.contains($0) }
  }
}
