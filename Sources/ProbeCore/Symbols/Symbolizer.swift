// Addresses to frames with names: the front of this layer. It keeps what it has opened and found, in
// bounded caches, and is used by one thread.

/// A file that is mapped in a process, as far as names are concerned.
public struct SymbolModule: Sendable, Hashable {
  /// As the process sees it; shown, and the place where debug files are looked for.
  public var path: String
  /// Tell files of the same path apart (one that was replaced).
  public var device: UInt64
  public var inode: UInt64
  /// Tell versions of the same file apart (one that was written into): bytes, and nanoseconds since 1970.
  public var size: Int
  public var modified: Int64

  public init(
    path: String, device: UInt64 = 0, inode: UInt64 = 0, size: Int = 0, modified: Int64 = 0
  ) {
    self.path = path
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
  }
}

/// A frame with the place of its code.
public struct PlacedFrame: Sendable {
  public enum Place: Sendable, Hashable {
    /// In a file: the address of the program counter as the file's symbol table has it.
    case module(SymbolModule, address: UInt64)
    /// In memory without a file, shown as this unless a perf map names it.
    case memory(String)
  }

  public var frame: RawFrame
  public var place: Place

  public init(_ frame: RawFrame, _ place: Place) {
    self.frame = frame
    self.place = place
  }

  /// What is looked up: the call, of which a return address is the end.
  static func lookup(_ address: UInt64, _ frame: RawFrame) -> UInt64 {
    frame.isExact || address == 0 ? address : address - 1
  }
}

/// Frames with names, and what is missing in them.
public struct Symbolized: Sendable {
  /// One for each stack that was asked for, innermost frame first, inlined ones before the one they are in.
  public var stacks: [[Summary.Frame]] = []
  /// By module path, why it has frames without file and line; none where all were looked up.
  public var linesOmitted: [String: LinesOmission] = [:]
  /// The perf map was longer than what is read of one.
  public var isPerfMapCut = false
}

/// Names stacks.
public final class Symbolizer {
  /// Files that are open at a time (chosen; those of a large desktop program's stacks).
  public static let moduleLimit = 64

  private let root: String
  private let open: (SymbolModule) -> SymbolFile?
  private var modules = BoundedCache<SymbolModule, ModuleSymbols>(limit: Symbolizer.moduleLimit)
  private let demangler = Demangler()
  private var lineCPU = Nanoseconds.zero
  /// Names for memory without a file; whoever watches the target opens it anew when it has grown.
  public var perfMap: PerfMap?

  /// CPU of the helpers, which our own clock does not count.
  public var helperCPU: Nanoseconds { lineCPU + demangler.helperCPU }

  /// - Parameters:
  ///   - root: taken as / where separate debug files are looked for.
  ///   - open: opens a module; nil where that is not possible, and then it has no names.
  public init(root: String = "/", open: @escaping (SymbolModule) -> SymbolFile?) {
    self.root = root
    self.open = open
  }

  /// Names the frames of all stacks together, so that each file is searched once.
  ///
  /// Names take milliseconds. Lines and inlined functions are looked up only if a budget is given, within
  /// it, in modules in the order in which the stacks name them; the call takes no longer than that.
  ///
  /// - Parameter wantsLines: which modules' lines are worth the time; asked only with a budget.
  public func symbolize(
    _ stacks: [[PlacedFrame]], lines budget: TimeBudget? = nil,
    of wantsLines: (SymbolModule) -> Bool = { _ in true }
  ) -> Symbolized {
    var wanted: [SymbolModule: [UInt64]] = [:]
    var order: [SymbolModule] = []
    var inMemory: Set<UInt64> = []
    for frame in stacks.joined() {
      switch frame.place {
      case .module(let module, let address):
        if wanted[module] == nil { order.append(module) }
        wanted[module, default: []].append(PlacedFrame.lookup(address, frame.frame))
      case .memory:
        inMemory.insert(PlacedFrame.lookup(frame.frame.programCounter, frame.frame))
      }
    }
    var result = Symbolized()
    var found: [SymbolModule: [UInt64: ResolvedAddress]] = [:]
    for module in order {
      let symbols = symbols(of: module)
      let addresses = wanted[module] ?? []
      found[module] = symbols.resolve(Set(addresses))
      guard let budget, wantsLines(module) else { continue }
      let (lines, cpu) = symbols.addLines(addresses, budget: budget)
      lineCPU += cpu
      found[module]?.merge(lines) { old, new in
        var both = new
        both.symbol = old.symbol
        return both
      }
      if let reason = lines.values.lazy.compactMap(\.omission).min(by: { $0.rawValue < $1.rawValue }
      ) {
        result.linesOmitted[module.path] = reason
      }
    }
    var mangled: Set<[UInt8]> = []
    for addresses in found.values {
      for address in addresses.values {
        if let symbol = address.symbol { mangled.insert(symbol.name) }
      }
    }
    let names = demangler.demangle(mangled)
    let mapped = inMemory.isEmpty ? [:] : perfMap?.find(inMemory) ?? [:]
    result.isPerfMapCut = perfMap?.isCut ?? false
    result.stacks = stacks.map { stack in
      stack.flatMap { frame in
        switch frame.place {
        case .module(let module, let address):
          let lookup = PlacedFrame.lookup(address, frame.frame)
          return Self.frames(
            frame.frame, module.path, address, found[module]?[lookup] ?? ResolvedAddress(), names)
        case .memory(let label):
          let name = mapped[PlacedFrame.lookup(frame.frame.programCounter, frame.frame)]
          return [
            Summary.Frame(
              function: name.map { SafeText.decode($0) }, module: name == nil ? label : "[jit]",
              offset: Self.hex(frame.frame.programCounter), found: frame.frame.source)
          ]
        }
      }
    }
    return result
  }

  private func symbols(of module: SymbolModule) -> ModuleSymbols {
    if let known = modules[module] { return known }
    let symbols = ModuleSymbols(open(module), path: module.path, root: root)
    modules[module] = symbols
    return symbols
  }

  /// One frame, and those inlined into it before it.
  private static func frames(
    _ raw: RawFrame, _ module: String, _ address: UInt64, _ resolved: ResolvedAddress,
    _ names: [[UInt8]: String]
  ) -> [Summary.Frame] {
    var frames: [Summary.Frame] = []
    var own = Summary.Frame(
      function: resolved.symbol.flatMap { names[$0.name] },
      functionOffset: resolved.symbol.flatMap { address < $0.start ? nil : address - $0.start },
      module: module, offset: hex(address), found: raw.source)
    for line in resolved.lines {
      // The helper demangled it already. Of a C name it is as it was.
      let name = line.name.isEmpty ? nil : Demangler.text(line, isSwift: true)
      let file = line.file.isEmpty ? nil : SafeText.decode(line.file)
      if line.kind == .inlined {
        frames.append(
          Summary.Frame(
            function: name, module: module, offset: hex(address), file: file, line: line.line,
            inlined: true, found: .inline))
      } else {
        // The symbol table's name is the same in files with and without debug information.
        own.function = own.function ?? name
        own.file = file
        own.line = line.line
      }
    }
    return frames + [own]
  }

  private static func hex(_ address: UInt64) -> String { "0x" + String(address, radix: 16) }
}
