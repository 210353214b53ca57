// Where perfwatch was started, and what lies above: the repository, files that are searched upward.

internal import Glibc

/// Files found from the working directory.
public enum WorkingFolder {
  /// The working directory, absolute; nil when it is gone.
  public static var path: String? {
    guard let link = try? Syscalls.readLink("/proc/self/cwd") else { return nil }
    let path = String(decoding: link, as: UTF8.self)
    return path.hasPrefix("/") && !path.hasSuffix(" (deleted)") ? path : nil
  }

  /// The folder with `.git` in it, at the working directory or above; nil outside of repositories.
  public static var repository: String? {
    folders.first { exists($0 + "/.git") }
  }

  /// The first file of that name upward from the working directory, as far as the repository's folder;
  /// outside of a repository only in the working directory itself.
  public static func search(_ name: String) -> String? {
    let top = repository
    for folder in folders {
      let path = folder + "/" + name
      if isFile(path) { return path }
      if top == nil || folder == top { return nil }
    }
    return nil
  }

  /// Whether a regular file is there.
  public static func isFile(_ path: String) -> Bool {
    // What cannot be looked at is not there for us.
    (try? Syscalls.status(path))?.isRegular ?? false
  }

  private static func exists(_ path: String) -> Bool { (try? Syscalls.status(path)) != nil }

  /// The working directory and those above, without the root's slash at their ends.
  private static var folders: [String] {
    guard var path, path != "/" else { return [""] }
    var folders: [String] = []
    while !path.isEmpty, folders.count < 256 {
      folders.append(path)
      path = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }
    return folders + [""]
  }
}

/// Adds to a file that others write, too.
public enum SharedFile {
  /// Appends the bytes; the file is made if it is not there.
  ///
  /// - Throws: the system call that failed and why.
  public static func append(_ bytes: [UInt8], to path: String) throws(SystemError) {
    let file = try Syscalls.open(
      path, flags: O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK, mode: 0o666)
    try Syscalls.writeAll(file.raw, bytes)
  }
}
