internal import Testing

@testable import ProbeCore

struct NumberIndexTests {
  @Test func `an index answers as a dictionary does, whatever is put in and taken out`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20 {
      var index = NumberIndex()
      var truth: [Int32: Int] = [:]
      for step in 0..<2000 {
        // Few keys, far apart and side by side, so that places collide and holes are filled.
        let key = Int32.random(in: 1...60, using: &random) * (step % 2 == 0 ? 1 : 65_536)
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
          index[key] = step
          truth[key] = step
        case 2: #expect(index.take(key) == truth.removeValue(forKey: key))
        default: #expect(index[key] == truth[key])
        }
        #expect(index.count == truth.count)
      }
      for (key, place) in truth { #expect(index[key] == place) }
    }
  }

  @Test func `zero and numbers below are no keys`() {
    var index = NumberIndex()
    index[0] = 1
    index[-5] = 2
    #expect(index.count == 0)
    #expect(index[0] == nil)
    #expect(index[-5] == nil)
  }

  @Test func `two with the same entries are equal however they came to be`() {
    var (left, right) = (NumberIndex(), NumberIndex())
    for key in Int32(1)...40 { left[key] = Int(key) }
    for key in (Int32(1)...80).reversed() { right[key] = Int(key) }
    #expect(left != right)
    for key in Int32(41)...80 { right[key] = nil }
    #expect(left == right)
    right.removeAll()
    #expect(right.count == 0)
    #expect(right[7] == nil)
  }
}
