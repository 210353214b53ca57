// The commit that is checked out, read from git's own files: no git has to be installed or run.
// Layout as in gitrepository-layout(5); work trees have a file for a folder.

/// What HEAD stands for.
public struct GitHead: Sendable, Equatable {
  /// 40 or 64 hexadecimal digits; nil before the first commit, and where it cannot be read.
  public var commit: String?
  /// nil when no branch is checked out.
  public var branch: String?

  /// Chosen: larger is no list of references.
  private static let largestList = 64 << 20

  /// HEAD of the repository that the working directory is in; nil outside of repositories.
  public static func ofWorkingFolder() -> GitHead? { WorkingFolder.repository.flatMap(read) }

  /// HEAD of a repository.
  ///
  /// - Parameter folder: the one with `.git` in it.
  /// - Returns: nil where git's files cannot be read.
  public static func read(_ folder: String) -> GitHead? {
    var git = folder + "/.git"
    // Work trees and submodules: `gitdir: PATH`.
    if let line = line(of: git) {
      guard line.hasPrefix("gitdir: ") else { return nil }
      git = path(String(line.dropFirst(8)), from: folder)
    }
    guard var value = line(of: git + "/HEAD") else { return nil }
    let common = line(of: git + "/commondir").map { path($0, from: git) } ?? git
    var head = GitHead()
    // A reference may name another; git follows five.
    for _ in 0..<5 {
      guard value.hasPrefix("ref: ") else { break }
      let name = String(value.dropFirst(5))
      guard isReference(name) else { return head }
      if head.branch == nil, name.hasPrefix("refs/heads/") {
        head.branch = String(name.dropFirst("refs/heads/".count))
      }
      guard
        let next = line(of: "\(git)/\(name)") ?? line(of: "\(common)/\(name)")
          ?? packed(name, in: common)
      else { return head }
      value = next
    }
    if isHash(value) { head.commit = value }
    return head
  }

  /// `HASH SP NAME` of packed-refs.
  private static func packed(_ name: String, in folder: String) -> String? {
    guard let bytes = try? InputFile.read(folder + "/packed-refs", limit: largestList) else {
      return nil
    }
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
      if parts.count == 2, parts[1].elementsEqual(name.utf8) {
        return String(decoding: parts[0], as: UTF8.self)
      }
    }
    return nil
  }

  /// The first line of a small file; nil where there is no such file.
  private static func line(of path: String) -> String? {
    // What is not there has no line; only the beginning counts.
    guard WorkingFolder.isFile(path), let bytes = try? InputFile.head(of: path, limit: 4096) else {
      return nil
    }
    let line = SafeText.decode(Array(bytes.prefix { $0 != UInt8(ascii: "\n") }))
    return line.last == "\r" ? String(line.dropLast()) : line
  }

  private static func path(_ path: String, from folder: String) -> String {
    path.hasPrefix("/") ? path : folder + "/" + path
  }

  /// No name that leads elsewhere. Repositories with reftables have `refs/heads/.invalid`.
  private static func isReference(_ name: String) -> Bool {
    name.hasPrefix("refs/") && !name.contains("/.") && !name.contains("..")
  }

  private static func isHash(_ text: String) -> Bool {
    (text.utf8.count == 40 || text.utf8.count == 64)
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }
}
