// All names and lines of one module: its own tables, its PLT, and separate debug information, which is
// opened when an address is not covered without it.

/// What is known about an address of a module.
struct ResolvedAddress: Sendable {
  var symbol: Symbol?
  /// Inlined functions, innermost first, then the function itself; empty where there are no lines.
  var lines: [HelperAnswer] = []
  /// nil when lines were looked up.
  var omission: LinesOmission? = .notAsked
}

/// Symbols of one file.
public final class ModuleSymbols {
  private let image: ELFImage?
  private let path: String
  private let debugFiles: DebugFiles
  private var known: BoundedCache<UInt64, ResolvedAddress>
  private lazy var ownTables = tables(of: image)
  private lazy var plt = image.flatMap { image in
    SymbolTable(image, type: 11).flatMap { PLTNames(image, symbols: $0) }
  }
  private lazy var packedTables = tables(of: image.flatMap { DebugFiles.packed(in: $0) })
  private lazy var debugImage = image.flatMap { debugFiles.find(for: $0, path: path) }
  private lazy var debugTables = tables(of: debugImage)

  /// Addresses kept for each module (chosen: some hundred stacks).
  private static let addressLimit = 4096
  /// Addresses in one search or one run of the helper (chosen).
  private static let batch = 256

  /// - Parameters:
  ///   - file: the module, or nil if it could not be opened: then nothing has a name.
  ///   - path: as its process sees it.
  ///   - root: taken as / in the search for debug files.
  public init(_ file: SymbolFile?, path: String, root: String = "/") {
    image = file.flatMap { ELFImage($0) }
    self.path = path
    debugFiles = DebugFiles(root: root)
    known = BoundedCache(limit: Self.addressLimit)
  }

  // .symtab has all that .dynsym has, except where somebody made it so that it has not.
  private func tables(of image: ELFImage?) -> [SymbolTable] {
    guard let image else { return [] }
    return [2, 11].compactMap { SymbolTable(image, type: $0) }
  }

  /// Looks up what is not known yet of these addresses (as the symbol table has them).
  func resolve(_ addresses: Set<UInt64>) -> [UInt64: ResolvedAddress] {
    var result: [UInt64: ResolvedAddress] = [:]
    var missing: [UInt64] = []
    for address in addresses {
      if let found = known[address] { result[address] = found } else { missing.append(address) }
    }
    missing.sort()
    for start in stride(from: 0, to: missing.count, by: Self.batch) {
      let part = Array(missing[start..<min(start + Self.batch, missing.count)])
      for (address, symbol) in zip(part, search(part)) {
        let found = ResolvedAddress(symbol: symbol)
        known[address] = found
        result[address] = found
      }
    }
    return result
  }

  // A symbol with a size is an answer; one without is a guess that a better table may replace.
  private func search(_ addresses: [UInt64]) -> [Symbol?] {
    var found = [Symbol?](repeating: nil, count: addresses.count)
    func isOpen(_ index: Int) -> Bool { found[index].map { $0.size == 0 } ?? true }
    func look(_ tables: [SymbolTable]) {
      for table in tables {
        let open = addresses.indices.filter(isOpen)
        if open.isEmpty { return }
        for (index, symbol) in zip(open, table.find(open.map { addresses[$0] })) {
          guard let symbol else { continue }
          if symbol.size > 0 || found[index].map({ $0.start < symbol.start }) ?? true {
            found[index] = symbol
          }
        }
      }
    }
    look(ownTables)
    for index in addresses.indices where isOpen(index) {
      found[index] = plt?.find(addresses[index]) ?? found[index]
    }
    if addresses.indices.contains(where: isOpen) { look(packedTables) }
    if addresses.indices.contains(where: isOpen) { look(debugTables) }
    return found
  }

  /// Looks up the lines of addresses that were resolved before, as far as the budget allows; those in
  /// front first.
  ///
  /// - Returns: the addresses, with lines or with the reason why not; and the helper's CPU time.
  func addLines(
    _ addresses: [UInt64], budget: TimeBudget
  ) -> (found: [UInt64: ResolvedAddress], cpu: Nanoseconds) {
    var result: [UInt64: ResolvedAddress] = [:]
    var open: [UInt64] = []
    for address in addresses where result[address] == nil {
      let found = known[address] ?? ResolvedAddress()
      result[address] = found
      if found.omission != nil, found.omission != .noDebugInformation { open.append(address) }
    }
    var cpu = Nanoseconds.zero
    let began = Clock.now()
    let deadline = budget.deadline(from: began)
    for start in stride(from: 0, to: open.count, by: Self.batch) {
      let part = Array(open[start..<min(start + Self.batch, open.count)])
      let (answers, used) = lines(part, until: deadline, budget)
      cpu += used
      for (address, answer) in zip(part, answers) {
        result[address]?.lines = answer.lines
        result[address]?.omission = answer.omission
        // What there was no time for may be asked again.
        if answer.omission != .outOfTime, answer.omission != .cancelled {
          known[address] = result[address]
        }
      }
    }
    if !open.isEmpty { budget.spend(Clock.now() - began) }
    return (result, cpu)
  }

  private typealias Lines = (lines: [HelperAnswer], omission: LinesOmission?)

  private func lines(
    _ addresses: [UInt64], until deadline: Instant, _ budget: TimeBudget
  ) -> (answers: [Lines], cpu: Nanoseconds) {
    func all(_ reason: LinesOmission) -> [Lines] { addresses.map { _ in ([], reason) } }
    guard let raw = fileWithLines?.rawDescriptor else { return (all(.noDebugInformation), .zero) }
    if budget.isCancelled { return (all(.cancelled), .zero) }
    guard Clock.now() < deadline else { return (all(.outOfTime), .zero) }
    let outcome: SymbolHelper.Outcome
    do {
      outcome = try SymbolHelper.lines(
        raw, addresses, limit: Demangler.limit, until: deadline, isCancelled: { budget.isCancelled }
      )
    } catch {
      return (all(.unreadable), .zero)
    }
    let reason: LinesOmission =
      budget.isCancelled ? .cancelled : outcome.isStopped ? .outOfTime : .unreadable
    var answers = all(reason)
    var pending: [Int: [HelperAnswer]] = [:]
    for answer in outcome.answers {
      if answer.kind == .noDebug { return (all(.noDebugInformation), outcome.cpu) }
      guard answers.indices.contains(answer.index) else { continue }
      if answer.kind == .done {
        answers[answer.index] = (pending[answer.index] ?? [], nil)
      } else {
        pending[answer.index, default: []].append(answer)
      }
    }
    return (answers, outcome.cpu)
  }

  private var fileWithLines: SymbolFile? {
    if let image, image.hasLines { return image.file }
    if let debugImage, debugImage.hasLines { return debugImage.file }
    return nil
  }
}
