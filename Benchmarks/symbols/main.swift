// Names addresses of one file, as a stack's would be: cold, in a process of its own. What the bench and
// the scripts compare with eu-addr2line; not installed.
//
// usage: symbols-probe FILE [--lines] [--repeat N] ADDRESS...   (hexadecimal, as in the symbol table)

internal import ProbeCore

let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first else { fatalError("usage: symbols-probe FILE ADDRESS...") }
let withLines = arguments.contains("--lines")
let addresses = arguments.dropFirst().compactMap {
  UInt64($0.hasPrefix("0x") ? String($0.dropFirst(2)) : $0, radix: 16)
}
let began = Clock.now()
let symbolizer = Symbolizer { module in try? SymbolFile.open(module.path) }
let module = SymbolModule(path: path)
let stack = addresses.map { address in
  PlacedFrame(
    RawFrame(programCounter: address, isExact: true, source: .cfi),
    .module(module, address: address))
}
let result = symbolizer.symbolize([stack], lines: withLines ? TimeBudget() : nil)
let took = Clock.now() - began
for frame in result.stacks.joined() {
  let place = frame.line.map { " \(frame.file ?? "?"):\($0)" } ?? ""
  print(
    (frame.inlined ? "  inlined " : "\(frame.offset ?? "") ") + (frame.function ?? "??") + place)
}
print(
  "took \(took.rawValue / 1000) us, helper CPU \(symbolizer.helperCPU.rawValue / 1000) us"
    + (result.linesOmitted[path].map { ", lines \($0.rawValue)" } ?? ""))
