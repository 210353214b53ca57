// Real tables with wrong bytes in them: whatever they say, a walk ends, within its limits.

internal import Testing

@testable internal import ProbeCore

#if arch(x86_64)
  @Suite struct HostileTablesTests {
    /// More by PERFWATCH_FUZZ_SEEDS; 10 000 take some minutes in a debug build.
    static let seeds = Environment.value("PERFWATCH_FUZZ_SEEDS").flatMap { Int($0) } ?? 400

    /// A small generator of our own, so that a seed gives the same bytes everywhere (xorshift64).
    private struct Numbers {
      var state: UInt64

      mutating func next(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(max(1, limit)))
      }
    }

    /// Flips bits where they hurt most: headers, the search table, the records; sometimes cuts.
    private func spoil(_ bytes: [UInt8], _ layout: ELFLayout, seed: Int) -> [UInt8] {
      var numbers = Numbers(state: UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 | 1)
      for _ in 0..<8 { _ = numbers.next(below: 2) }
      var result = bytes
      let header = layout.frameHeader ?? .init(offset: 0, address: 0, size: 64)
      let frames = layout.frames ?? layout.debugFrames ?? header
      let places = [
        0..<64, 64..<64 + 56 * 13, Int(header.offset)..<Int(header.offset + header.size),
        Int(frames.offset)..<Int(frames.offset + frames.size),
        Int(frames.offset)..<Int(frames.offset + frames.size),
      ]
      for _ in 0...numbers.next(below: 24) {
        let place = places[numbers.next(below: places.count)]
        let index = place.lowerBound + numbers.next(below: place.count)
        if result.indices.contains(index) { result[index] ^= 1 << UInt8(numbers.next(below: 8)) }
      }
      if numbers.next(below: 16) == 0 {
        result.removeLast(numbers.next(below: result.count))
      }
      return result
    }

    @Test(arguments: ["", "debug_frame", "no_header"])
    func `no flipped bit and no cut can do more than end a stack`(way: String) async throws {
      let target = try await SelfSnapshot(way, mode: "plain", depth: 2)
      let program = try await Perfwatch.target("self_snapshot" + (way.isEmpty ? "" : "_" + way))
      let bytes = Scratch.bytes(program)
      let layout = try #require(ELFLayout(ModuleFile(memory: bytes, number: 0)))
      let maps = Scratch.bytes("/proc/\(target.pid)/maps")
      let right = Unwinder(target.pid, cache: ModuleCache()).unwind(target.snapshot)
      // The C library's own file stays as it is, and open.
      let others = AddressSpace(target.pid, cache: ModuleCache())
      _ = try others.refresh()
      var rightOnes = 0
      for seed in 0..<Self.seeds {
        let spoilt = ModuleFile(memory: spoil(bytes, layout, seed: seed), number: UInt64(seed + 1))
        let space = AddressSpace(
          cache: ModuleCache(), pageSize: 4096, readMap: { () throws(SystemError) in maps },
          opener: { module, mapping in
            module.path.starts(with: program.utf8) ? spoilt : others.place(of: mapping.start)?.file
          })
        let result = Unwinder(space, frameLimit: 100).unwind(target.snapshot)
        #expect(1...100 ~= result.stack.frames.count)
        #expect(result.stack.frames[0] == right.stack.frames[0])
        if result == right { rightOnes += 1 }
      }
      // Neither all nor none, or the flips do not reach what is read.
      #expect(1..<Self.seeds ~= rightOnes)
      try await target.end()
    }
  }
#endif
