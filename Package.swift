// swift-tools-version: 6.2
import PackageDescription

// `make check` and `make test` set this so that a warning fails the build; users' builds only warn.
let isStrict = Context.environment["PERFWATCH_STRICT"] == "1"

let settings: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

let cSettings: [CSetting] = [
  .define("_GNU_SOURCE"),
  .unsafeFlags(["-std=gnu11", "-Wall", "-Wextra"] + (isStrict ? ["-Werror"] : [])),
]

// The commit goes into a C file of its own, so that a new commit does not rebuild everything.
let commit: [CSetting] =
  Context.gitInformation.map {
    let mark = $0.hasUncommittedChanges ? "+" : ""
    return [.define("PERFWATCH_COMMIT", to: "\"\($0.currentCommit)\(mark)\"")]
  } ?? []

let package = Package(
  name: "perfwatch",
  products: [.executable(name: "perfwatch", targets: ["perfwatch"])],
  targets: [
    .target(
      name: "CProbe", cSettings: cSettings,
      // libdw and what its archive needs, in the order of a static link; demanglers of C++ and Rust.
      linkerSettings: ["dw", "elf", "lzma", "bz2", "z", "iberty"].map { .linkedLibrary($0) }),
    .target(name: "CBuildInfo", cSettings: commit),
    // Its archive needs the mathematics of the C library.
    .systemLibrary(name: "CSQLite"),
    .target(
      name: "ProbeCore", dependencies: ["CProbe", "CSQLite"], swiftSettings: settings,
      linkerSettings: [.linkedLibrary("m")]),
    .executableTarget(
      name: "perfwatch", dependencies: ["ProbeCore", "CBuildInfo"], swiftSettings: settings),
    // For Benchmarks/symbols.py: names of one file's addresses; it is no product and not installed.
    .executableTarget(
      name: "symbols-probe", dependencies: ["ProbeCore"], path: "Benchmarks/symbols",
      swiftSettings: settings),
    // Not part of the product: what `make bench` and the tests drive captures with.
    .executableTarget(
      name: "CaptureBench", dependencies: ["ProbeCore"], path: "Benchmarks/CaptureBench",
      swiftSettings: settings),
    .testTarget(
      name: "ProbeCoreTests", dependencies: ["ProbeCore", "perfwatch"],
      exclude: ["Fixtures", "Goldens"], swiftSettings: settings),
    .testTarget(
      name: "IntegrationTests", dependencies: ["ProbeCore", "CaptureBench"], swiftSettings: settings
    ),
  ]
)
