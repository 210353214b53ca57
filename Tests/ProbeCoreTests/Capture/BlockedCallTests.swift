import Testing

@testable import ProbeCore

#if arch(x86_64)
  @Suite struct BlockedCallTests {
    /// A process with some memory at 0x1000 and two threads.
    private func wait(
      _ number: Int64, _ arguments: [UInt64], memory: [UInt8] = [], at start: UInt64 = 0x1000
    ) -> DumpedThread.Wait {
      let all = arguments + Array(repeating: 0, count: 6 - arguments.count)
      let call = SyscallLine.Call(
        number: number,
        arguments: .init(
          first: all[0], second: all[1], third: all[2], fourth: all[3], fifth: all[4],
          sixth: all[5]), stackPointer: 1, programCounter: 1)
      return BlockedCall.describe(
        call,
        ProcessQuestions(
          memory: { address, count in
            guard address >= start, address - start + UInt64(count) <= memory.count else {
              return nil
            }
            let at = Int(address - start)
            return Array(memory[at..<at + count])
          },
          link: { $0 == 3 ? "socket:[1]" : nil },
          isThread: { $0 == ThreadID(40) || $0 == ThreadID(41) },
          now: { $0 == 1 ? .seconds(100) : nil }))
    }

    private func bytes(_ values: (UInt64, Int)...) -> [UInt8] {
      values.flatMap { value, size in
        (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
      }
    }

    @Test func `a read names its descriptor, known or not`() {
      #expect(wait(0, [3]).descriptors == [.init(number: 3, object: "socket:[1]")])
      #expect(wait(0, [4]).descriptors == [.init(number: 4, object: nil)])
      #expect(wait(0, [0xffff_ffff]).descriptors == [])
      #expect(wait(0, [3]).call == "read")
    }

    @Test func `poll names what is polled, and its time-out`() {
      // pollfd is 8 bytes; -1 stands for none.
      let set = bytes((3, 4), (1, 4), (0xffff_ffff, 4), (1, 4), (9, 4), (1, 4))
      let known = wait(7, [0x1000, 3, 1500], memory: set)
      #expect(known.descriptors.map(\.number) == [3, 9])
      #expect(known.timeout == .milliseconds(1500))
      #expect(wait(7, [0x1000, 3, 0xffff_ffff], memory: set).timeout == nil)
      // Memory that cannot be had.
      let unknown = wait(7, [0x9000, 3, 0], memory: set)
      #expect(unknown.descriptors == [])
      #expect(unknown.moreDescriptors == 3)
      let many = wait(
        7, [0x1000, 20, 0], memory: Array(repeating: bytes((3, 8)), count: 20).flatMap { $0 })
      #expect(many.descriptors.count == 8)
      #expect(many.moreDescriptors == 12)
      // A count without end.
      #expect(wait(7, [0x1000, .max, 0], memory: set).moreDescriptors == .max)
    }

    @Test func `select names each descriptor of its sets once`() {
      let sets = bytes((0b1000, 8), (0b10_1000, 8), (2, 8), (500_000, 8))
      let result = wait(23, [6, 0x1000, 0x1008, 0, 0x1010], memory: sets)
      #expect(result.descriptors.map(\.number) == [3, 5])
      #expect(result.timeout == .milliseconds(2500))
    }

    @Test func `a sleep tells its length, one until a moment what is left`() {
      let time = bytes((101, 8), (500_000_000, 8))
      #expect(wait(35, [0x1000], memory: time).timeout == .milliseconds(101_500))
      // clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, ...), and the clock stands at 100 s.
      let rest = wait(230, [1, 1, 0x1000], memory: time)
      #expect(rest.timeout == .milliseconds(1500))
      #expect(rest.isRest)
      #expect(wait(230, [1, 0, 0x1000], memory: time).isRest == false)
      // Another clock, and a time that is none.
      #expect(wait(230, [7, 1, 0x1000], memory: time).timeout == nil)
      #expect(wait(35, [0x1000], memory: bytes((.max, 8), (0, 8))).timeout == nil)
    }

    @Test func `a lock tells its owner only where that is a thread of the process`() {
      // FUTEX_WAIT_PRIVATE for the value 2; glibc's mutex has the owner 8 bytes on.
      let mutex = bytes((2, 4), (0, 4), (40, 4))
      #expect(wait(202, [0x1000, 128, 2], memory: mutex).owner == 40)
      #expect(wait(202, [0x1000, 128, 2], memory: mutex).address == "0x1000")
      #expect(wait(202, [0x1000, 128, 2], memory: bytes((2, 4), (0, 4), (77, 4))).owner == nil)
      // A condition variable's value is not 2.
      #expect(wait(202, [0x1000, 128, 8], memory: bytes((8, 4), (0, 4), (40, 4))).owner == nil)
      // FUTEX_LOCK_PI_PRIVATE: the owner is in the word, below the bit for waiters.
      #expect(wait(202, [0x1000, 134], memory: bytes((0x8000_0029, 4), (0, 8))).owner == 41)
      #expect(wait(202, [0x1000, 128, 2]).owner == nil)
    }

    @Test func `a join tells whose end is waited for`() {
      let descriptor = bytes((41, 4), (0, 8))
      #expect(wait(202, [0x1000, 265, 41], memory: descriptor).joins == 41)
      #expect(wait(202, [0x1000, 265, 40], memory: descriptor).joins == nil)
    }

    @Test func `waiting for children tells for which`() {
      #expect(wait(61, [0xffff_ffff]).child == -1)
      #expect(wait(61, [77]).child == 77)
      #expect(wait(247, [1, 77]).child == 77)
      #expect(wait(247, [0, 0]).child == -1)
    }

    @Test func `calls have their names on both architectures`() {
      for (number, name) in [(0, "read"), (202, "futex"), (334, "rseq"), (441, "epoll_pwait2")] {
        #expect(SystemCalls.name(Int64(number), machine: .x86_64) == name)
      }
      for (number, name) in [(63, "read"), (98, "futex"), (22, "epoll_pwait"), (435, "clone3")] {
        #expect(SystemCalls.name(Int64(number), machine: .aarch64) == name)
      }
      for number in [-1, 400, 9999, Int64.max, .min] {
        #expect(SystemCalls.name(number, machine: .x86_64) == nil)
      }
      #expect(SystemCalls.name(9999) == "syscall 9999")
      // The other tables have the same numbers.
      let tables: [any NumberedCall] = InterruptedCalls.all + WaitCalls.all
      for call in tables {
        if let x86 = call.x86 {
          #expect(SystemCalls.name(Int64(x86), machine: .x86_64) == call.name)
        }
        if let arm = call.arm {
          #expect(SystemCalls.name(Int64(arm), machine: .aarch64) == call.name)
        }
      }
    }
  }
#endif
