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

let package = Package(
  name: "perfwatch",
  products: [.executable(name: "perfwatch", targets: ["perfwatch"])],
  targets: [
    .target(name: "CProbe", cSettings: cSettings),
    .target(name: "ProbeCore", dependencies: ["CProbe"], swiftSettings: settings),
    .executableTarget(name: "perfwatch", dependencies: ["ProbeCore"], swiftSettings: settings),
    .testTarget(
      name: "ProbeCoreTests", dependencies: ["ProbeCore", "perfwatch"],
      exclude: ["Fixtures"], swiftSettings: settings),
    .testTarget(
      name: "IntegrationTests", dependencies: ["ProbeCore"], swiftSettings: settings),
  ]
)
