// The parsers once more, for arrays: a span can neither pass through #expect nor be taken of an
// expression's value (Swift 6.3.1 crashes on `try F(array().span)`).

@testable import ProbeCore

extension SchedStat { init(of bytes: [UInt8]) throws { try self.init(bytes.span) } }
extension TaskStat { init(of bytes: [UInt8]) throws { try self.init(bytes.span) } }
extension TaskStatus { init(of bytes: [UInt8]) throws { try self.init(bytes.span) } }
extension StatM { init(of bytes: [UInt8]) throws { try self.init(bytes.span) } }
extension SyscallLine { init(of bytes: [UInt8]) throws { try self.init(bytes.span) } }
extension SmapsRollup { init(of bytes: [UInt8]) throws { try self.init(bytes.span) } }
extension SystemStat { init(of bytes: [UInt8]) throws { try self.init(bytes.span) } }
extension Pressure { init(of bytes: [UInt8]) throws { try self.init(bytes.span) } }
extension CPUStat { init(of bytes: [UInt8]) throws { try self.init(bytes.span) } }
extension Cmdline { init(of bytes: [UInt8]) { self.init(bytes.span) } }

extension TaskStat {
  func comm(of bytes: [UInt8]) -> [UInt8] { comm(in: bytes.span) }
}

extension TaskStatus {
  static func namespaceIDs(of bytes: [UInt8]) throws -> [Int32] { try namespaceIDs(bytes.span) }
}

extension Comm {
  static func name(of bytes: [UInt8]) -> [UInt8] { name(bytes.span) }
  static func isSame(of bytes: [UInt8], as name: [UInt8]) -> Bool {
    isSame(bytes.span, as: name)
  }
}

extension TaskChildren {
  static func parse(of bytes: [UInt8]) throws -> [ProcessID] { try parse(bytes.span) }
}

extension CGroupPath {
  static func parse(of bytes: [UInt8]) throws -> [CGroupPath] { try parse(bytes.span) }
}

extension MapsLine {
  static func next(of bytes: [UInt8], at position: inout Int) throws -> MapsLine? {
    try next(bytes.span, at: &position)
  }
}
