// A folder of a test's own that goes away with it.

import FoundationEssentials

@testable import ProbeCore

final class ScratchFolder {
  let path: String

  init() throws { path = Launching.temporaryDirectory() }

  deinit { Launching.removeDirectory(path) }

  subscript(name: String) -> String { path + "/" + name }

  /// Writes a file; the folders that it is in are made.
  func write(_ name: String, _ bytes: [UInt8]) throws {
    let file = URL(filePath: self[name])
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }

  func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

  /// Everything directly in it.
  var names: [String] {
    // What cannot be listed is empty, and the test fails by that.
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }
}
