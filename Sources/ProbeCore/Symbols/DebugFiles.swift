// Where the symbols of a stripped file may be: in a packed table of its own, or in another file. That
// file must prove that it belongs to it, as a wrong one gives believable wrong names.

/// Finds separate debug information.
struct DebugFiles {
  /// Taken as / for all paths; `/proc/<pid>/root` of a process in another mount namespace.
  let root: String

  /// Files larger than this are not summed up to check a .gnu_debuglink; 0.3 s (chosen).
  private static let checksumLimit = 512 << 20
  /// Of .gnu_debugdata, packed and unpacked; Fedora's largest are some 5 MB unpacked (chosen).
  private static let packedLimit = 16 << 20
  private static let unpackedLimit = 64 << 20

  /// The symbol table in .gnu_debugdata.
  static func packed(in image: ELFImage) -> ELFImage? {
    guard let section = image.section(".gnu_debugdata"),
      let packed = image.bytes(of: section, limit: packedLimit),
      let bytes = SymbolFile.unpack(packed, limit: unpackedLimit)
    else { return nil }
    return ELFImage(SymbolFile(memory: bytes))
  }

  /// The separate debug file: by build-id, then by .gnu_debuglink beside the file, in `.debug` there and
  /// below /usr/lib/debug. By link, the build-id must be the file's; where one of the two has none, the
  /// checksum must fit.
  ///
  /// - Parameter path: the module's, as its process sees it.
  func find(for image: ELFImage, path: String) -> ELFImage? {
    let buildID = image.buildID
    if let buildID, buildID.count > 1 {
      let hex = buildID.map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      let name = "/usr/lib/debug/.build-id/\(hex[0])/\(hex.dropFirst().joined()).debug"
      if let found = open(name), found.buildID == buildID { return found }
    }
    guard let (name, checksum) = Self.link(in: image) else { return nil }
    let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    for place in [
      "\(folder)/\(name)", "\(folder)/.debug/\(name)", "/usr/lib/debug\(folder)/\(name)",
    ] {
      guard let found = open(place) else { continue }
      if let buildID, let other = found.buildID {
        if buildID == other { return found }
      } else if found.file.size <= Self.checksumLimit, found.file.checksum() == checksum {
        return found
      }
    }
    return nil
  }

  // Not there, not ours to read, or no regular file: then there are no names from it.
  private func open(_ path: String) -> ELFImage? {
    (try? SymbolFile.open(path, root: root)).flatMap { ELFImage($0) }
  }

  /// The name and checksum in .gnu_debuglink; nil for a name that would lead elsewhere.
  static func link(in image: ELFImage) -> (name: String, checksum: UInt32)? {
    guard let section = image.section(".gnu_debuglink"),
      let bytes = image.bytes(of: section, limit: 4096)
    else { return nil }
    let name = bytes.prefix { $0 != 0 }
    let at = (name.count + 4) & ~3
    guard !name.isEmpty, at + 4 <= bytes.count, !name.contains(UInt8(ascii: "/")),
      let text = String(validating: name, as: UTF8.self), text != "..", text != "."
    else { return nil }
    return (text, UInt32(ELFImage.number(bytes, at, 4)))
  }
}
