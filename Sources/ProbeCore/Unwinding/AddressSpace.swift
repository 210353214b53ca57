// What is known of one process's address space while its stacks are unwound: the map, and the files
// behind it, opened when a frame first falls into them.

/// Code at an address of a process, for whoever names it.
public struct CodePlace {
  public var module: ModuleMap.Module
  /// nil for memory without a file, and where the file could not be opened.
  public var file: ModuleFile?
  /// What to take off an address in the process to get one that the file speaks of; nil where the
  /// file is no ELF file, or none of its segments is mapped here.
  public var bias: UInt64?
  /// Where the address is in the file, for one without a bias; in memory it means nothing.
  public var fileOffset: UInt64
}

/// One process's map and modules. For one thread.
public final class AddressSpace {
  /// A mapping's file and how far it was moved.
  struct Loaded {
    var file: ModuleFile?
    var tables: UnwindTables?
    var bias: UInt64?
  }

  /// Opens the file of a mapping; nil if it has none or cannot be had.
  typealias Opener = (ModuleMap.Module, ModuleMap.Mapping) -> ModuleFile?

  private(set) var map = ModuleMap()
  private let readMap: () throws(SystemError) -> [UInt8]
  private let opener: Opener
  private let cache: ModuleCache
  private var loaded: [Int: Loaded] = [:]
  private var files: [ModuleMap.Module: ModuleFile?] = [:]
  private let pageSize: UInt64

  /// - Parameters:
  ///   - cache: shared with the other processes that are watched.
  ///   - procRoot: where procfs is.
  public convenience init(_ pid: ProcessID, cache: ModuleCache, procRoot: String = "/proc") {
    self.init(
      cache: cache, pageSize: UInt64(HostInfo.pageSize),
      readMap: { () throws(SystemError) in
        // 65 530 mappings, the default limit of a process, are 8 MB.
        try InputFile.read("\(procRoot)/\(pid)/maps", limit: 64 << 20)
      },
      opener: { Self.open(pid, $0, $1, procRoot) })
  }

  init(
    cache: ModuleCache, pageSize: UInt64,
    readMap: @escaping () throws(SystemError) -> [UInt8], opener: @escaping Opener
  ) {
    self.cache = cache
    self.pageSize = pageSize
    self.readMap = readMap
    self.opener = opener
  }

  private static func open(
    _ pid: ProcessID, _ module: ModuleMap.Module, _ mapping: ModuleMap.Mapping, _ procRoot: String
  ) -> ModuleFile? {
    switch module.kind {
    case .vdso:
      // Two pages; a mapping with that name that is larger is not the kernel's.
      guard mapping.end - mapping.start <= 1 << 16 else { return nil }
      return ProcessMemory.copy(
        pid, at: mapping.start, count: Int(mapping.end - mapping.start)
      ).map { ModuleFile(memory: $0, number: mapping.start) }
    case .file:
      // Not to be had (gone, not permitted, no regular file): its frames then have no tables.
      return try? ModuleFile.open(
        pid,
        ModuleLocation(
          start: mapping.start, end: mapping.end, deviceMajor: module.deviceMajor,
          deviceMinor: module.deviceMinor, inode: module.inode, path: module.path),
        procRoot: procRoot)
    case .anonymous, .special: return nil
    }
  }

  /// Reads the map anew: after exec or dlopen, or where an address is outside of it.
  ///
  /// - Returns: whether code has changed: other code at a place, or a file that was written into.
  ///   Then nothing learnt by address is true any more.
  /// - Throws: what reading gave, EINVAL for a map that cannot be understood, ESRCH for that of a
  ///   process at its end, which is empty; the old one then stays.
  func refresh() throws(SystemError) -> Bool {
    let bytes = try readMap()
    let new: ModuleMap
    do {
      new = try ModuleMap(bytes.span)
    } catch {
      throw SystemError(call: "read", object: "maps", code: 22)
    }
    guard !new.mappings.isEmpty || map.mappings.isEmpty else {
      throw SystemError(call: "read", object: "maps", code: 3)
    }
    var isSame = map.hasSameCode(as: new)
    map = new
    loaded.removeAll(keepingCapacity: true)
    let present = Set(new.modules)
    files = files.filter { module, file in
      guard present.contains(module) else { return false }
      guard file?.hasChanged == true else { return true }
      isSame = false
      return false
    }
    return !isSame
  }

  /// What is at the address; nil where nothing is mapped.
  public func place(of address: UInt64) -> CodePlace? {
    guard let index = map.index(of: address) else { return nil }
    let loaded = loaded(index)
    let mapping = map.mappings[index]
    return CodePlace(
      module: map.modules[Int(mapping.module)], file: loaded.file, bias: loaded.bias,
      fileOffset: mapping.offset &+ (address - mapping.start))
  }

  /// The file behind a mapping, opened now if it was not yet.
  func loaded(_ index: Int) -> Loaded {
    if let known = loaded[index] { return known }
    let mapping = map.mappings[index]
    let module = map.modules[Int(mapping.module)]
    var file: ModuleFile?
    if module.kind == .file || module.kind == .vdso {
      if let known = files[module] {
        file = known
      } else {
        file = opener(module, mapping)
        files[module] = .some(file)
      }
    }
    let tables = file.flatMap { cache.tables(for: $0) }
    let bias = tables?.layout.bias(
      start: mapping.start, offset: mapping.offset, isExecutable: mapping.isExecutable,
      pageSize: pageSize)
    let result = Loaded(file: file, tables: tables, bias: bias)
    loaded[index] = result
    return result
  }

  /// Bytes of mapped code as the file has them, from the address on.
  func code(at address: UInt64, count: Int) -> [UInt8]? {
    guard let index = map.index(of: address) else { return nil }
    let mapping = map.mappings[index]
    guard !mapping.isWritable, let file = loaded(index).file else { return nil }
    let (offset, overflow) = mapping.offset.addingReportingOverflow(address - mapping.start)
    return overflow ? nil : file.read(at: offset, count: count)
  }
}
