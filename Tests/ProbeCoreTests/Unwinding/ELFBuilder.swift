// A small ELF file with call frame information, written byte by byte: so that each can be wrong.

@testable import ProbeCore

struct Bytes {
  var bytes: [UInt8] = []

  mutating func add(_ value: UInt64, _ size: Int) {
    for index in 0..<size { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
  }

  mutating func pad(to size: Int) {
    while bytes.count < size { bytes.append(0) }
  }
}

/// One file, one segment at `address`, code from 0x1000 to 0x1040 in it described by one record.
///
///     0x000 header    0x040 two program headers    0x100 .eh_frame_hdr    0x120 .eh_frame
struct ELFBuilder {
  var address: UInt64 = 0x40_0000
  /// Of the record: the usual prologue with a frame pointer.
  ///
  ///     advance 1; CFA = rsp + 16; rbp at -16; advance 3; CFA = rbp + 16
  var instructions: [UInt8] = [0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6]
  var headerVersion: UInt8 = 1
  var encodings: [UInt8] = [0x1b, 0x03, 0x3b]
  var count: UInt64 = 1
  var augmentation = "zR"

  var bytes: [UInt8] {
    var file = Bytes()
    file.bytes = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]
    file.pad(to: 16)
    file.add(3, 2)
    file.add(62, 2)
    file.add(1, 4)
    file.add(address + 0x1000, 8)  // entry
    file.add(64, 8)
    file.add(0, 8)
    file.add(0, 4)
    file.add(64, 2)
    file.add(56, 2)
    file.add(2, 2)
    file.pad(to: 64)
    segment(&file, type: 1, offset: 0, size: 0x2000)
    segment(&file, type: 0x6474_e550, offset: 0x100, size: 20)
    file.pad(to: 0x100)
    file.bytes += [headerVersion] + encodings
    file.add(0x120 - 0x104, 4)
    file.add(count, 4)
    file.add(0x1000 - 0x100, 4)
    file.add(0x120 + 24 - 0x100, 4)
    file.pad(to: 0x120)
    file.bytes += records
    file.pad(to: 0x2000)
    return file.bytes
  }

  var file: ModuleFile { ModuleFile(memory: bytes, number: 1) }

  private func segment(_ file: inout Bytes, type: UInt64, offset: UInt64, size: UInt64) {
    file.add(type, 4)
    file.add(5, 4)  // readable, executable
    file.add(offset, 8)
    file.add(address + offset, 8)
    file.add(address + offset, 8)
    file.add(size, 8)
    file.add(size, 8)
    file.add(0x1000, 8)
  }

  /// 24 bytes in common, then the function's: it starts at 0x1000 and is 0x40 long.
  private var records: [UInt8] {
    var table = Bytes()
    table.add(20, 4)
    table.add(0, 4)
    table.bytes += [1] + Array(augmentation.utf8) + [0]
    // Code by 1, data by -8, return address 16, pointers as pcrel|sdata4; CFA = rsp + 8, ra at -8.
    table.bytes += [1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1]
    table.pad(to: 24)
    let length = (4 + 4 + 4 + 1 + instructions.count + 3) / 4 * 4
    table.add(UInt64(length), 4)
    table.add(28, 4)
    table.add(UInt64(bitPattern: Int64(0x1000 - (0x120 + 32))), 4)
    table.add(0x40, 4)
    table.add(0, 1)
    table.bytes += instructions
    table.pad(to: 24 + 4 + length)
    table.add(0, 4)
    return table.bytes
  }
}
