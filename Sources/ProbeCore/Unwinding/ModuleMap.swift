// A process's address space as a sorted list: which address belongs to which module. A value, made
// once from /proc/<pid>/maps and searched by halving.

/// What is mapped where.
public struct ModuleMap: Sendable, Equatable {
  /// What the pages of a mapping come from.
  public enum Kind: Sendable, Equatable, Hashable {
    /// A file of a file system.
    case file
    /// The kernel's own code page.
    case vdso
    /// Memory without a file, or with one that has no name in a file system (memfd, /dev/zero,
    /// SysV): where a JIT puts its code.
    case anonymous
    /// [stack], [vvar], [vsyscall]: nothing to unwind by.
    case special
  }

  /// A file, however often it is mapped.
  public struct Module: Sendable, Equatable, Hashable {
    public var kind: Kind
    public var deviceMajor: UInt64
    public var deviceMinor: UInt64
    public var inode: UInt64
    /// Raw, without ` (deleted)`.
    public var path: [UInt8]

    /// Without the path: a device and an inode nearly always have one.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(inode)
      hasher.combine(deviceMinor)
      hasher.combine(path.count)
    }

    /// Whether a line surely is of this module; quicker than to make a module of it.
    fileprivate func isOf(_ line: MapsLine) -> Bool {
      inode == line.inode && deviceMinor == line.deviceMinor && deviceMajor == line.deviceMajor
        && path == line.path
    }
  }

  public struct Mapping: Sendable, Equatable {
    /// Addresses in the process: from `start` up to but without `end`.
    public var start: UInt64
    public var end: UInt64
    /// Offset in the file, in bytes.
    public var offset: UInt64
    /// Index into `modules`.
    public var module: Int32
    public var isExecutable: Bool
    public var isWritable: Bool
  }

  /// Sorted by address, not overlapping.
  public private(set) var mappings: [Mapping] = []
  public private(set) var modules: [Module] = []

  public init() {}

  /// Reads the bytes of /proc/<pid>/maps. Measured: see Docs/unwinding.md.
  ///
  /// - Throws: at the first line that is not valid. A line that starts before the end of the one
  ///   before it (the map changed while it was read) is left out.
  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    var indices: [Module: Int32] = [:]
    var position = 0
    mappings.reserveCapacity(bytes.count / 100)
    while let line = try MapsLine.next(bytes, at: &position) {
      guard line.start < line.end, line.start >= mappings.last?.end ?? 0 else { continue }
      let index: Int32
      if let last = mappings.last?.module, modules[Int(last)].isOf(line) {
        index = last
      } else {
        let module = Module(line)
        if let known = indices[module] {
          index = known
        } else {
          index = Int32(modules.count)
          modules.append(module)
          indices[module] = index
        }
      }
      mappings.append(
        Mapping(
          start: line.start, end: line.end, offset: line.offset, module: index,
          isExecutable: line.isExecutable, isWritable: line.isWritable))
    }
  }

  /// The index of the mapping that holds the address; nil where nothing is mapped.
  public func index(of address: UInt64) -> Int? {
    var low = 0
    var high = mappings.count
    while low < high {
      let middle = (low + high) / 2
      if mappings[middle].end <= address { low = middle + 1 } else { high = middle }
    }
    return low < mappings.count && mappings[low].start <= address ? low : nil
  }

  /// Whether code in both is the same at the same addresses: then what was learnt of code stays true.
  func hasSameCode(as other: ModuleMap) -> Bool {
    var mine = mappings.lazy.filter(\.isExecutable).makeIterator()
    var theirs = other.mappings.lazy.filter(\.isExecutable).makeIterator()
    while true {
      switch (mine.next(), theirs.next()) {
      case (nil, nil): return true
      case (let left?, let right?):
        guard left.start == right.start, left.end == right.end, left.offset == right.offset,
          modules[Int(left.module)] == other.modules[Int(right.module)]
        else { return false }
      case (nil, _?), (_?, nil): return false
      }
    }
  }
}

extension ModuleMap.Module {
  fileprivate init(_ line: MapsLine) {
    deviceMajor = line.deviceMajor
    deviceMinor = line.deviceMinor
    inode = line.inode
    if line.path.isEmpty {
      path = []
      kind = .anonymous
      return
    }
    path = line.pathWithoutMark
    kind = Self.kind(line, path)
  }

  private static func kind(_ line: MapsLine, _ path: [UInt8]) -> ModuleMap.Kind {
    if line.inode == 0 {
      if path.elementsEqual("[vdso]".utf8) { return .vdso }
      // "[anon:name]" is anonymous memory that its owner named (PR_SET_VMA), "//anon" an old form.
      let isNamed = path.starts(with: "[anon".utf8) || path.elementsEqual("[heap]".utf8)
      return path.first == UInt8(ascii: "[") && !isNamed ? .special : .anonymous
    }
    // Shared memory without a name anywhere; the kernel marks all of these deleted.
    let isUnnamed =
      line.isMarkedDeleted
      && ["/memfd:", "/dev/zero", "/SYSV"].contains { path.starts(with: $0.utf8) }
    return isUnnamed ? .anonymous : .file
  }
}
