// A dump as JSON, against Docs/dump.schema.json.

import Testing

@testable import ProbeCore

@Suite struct DumpSchemaTests {
  private static let schema = "dump.schema.json"

  private func encode(_ dump: ThreadDump) throws -> [UInt8] {
    try OrderedJSONEncoder(isIndented: false).encode(dump) + Array("\n".utf8)
  }

  @Test func `dumps as we write them are valid`() throws {
    let both = try encode(SampleDump.full) + encode(SampleDump.bare)
    #expect(try SummarySchemaTests.python("check", both, schema: Self.schema) == [])
  }

  @Test func `the schema notices every missing key and every value of another type`() throws {
    // The script tries each value by itself; a crowd adds nothing but time.
    var dump = SampleDump.full
    dump.threads.removeLast(dump.threads.count - 6)
    for index in dump.stacks.indices {
      dump.stacks[index].frames = Array(dump.stacks[index].frames.prefix(3))
      dump.stacks[index].threads = Array(dump.stacks[index].threads.prefix(2))
    }
    let passed = try SummarySchemaTests.python("strict", encode(dump), schema: Self.schema)
    #expect(passed == [])
  }

  @Test func `keys come in the order of the documentation`() throws {
    let lines = try SummarySchemaTests.python(
      "order", encode(SampleDump.full), schema: Self.schema)
    for expected in [
      ": schema perfwatch target takenAt monotonic threads stacks cost notes",
      "threads[]: tid name state wait stack missing stopTime",
      "threads[].wait: call descriptors moreDescriptors address owner lock joins path peer child timeout isRest "
        + "kernelFunction",
      "stacks[]: threads truncated frames",
      "stacks[].frames[]: function functionOffset module offset file line inlined found inApp",
    ] {
      #expect(lines.contains(expected), "\(lines)")
    }
  }
}
