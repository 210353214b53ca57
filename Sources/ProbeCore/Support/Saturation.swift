// Sums and products that stop at the largest value instead of trapping.
// A damaged recording may hold any numbers; it must give odd figures, never a crash.

extension FixedWidthInteger {
  /// The sum, or the nearest value that the type has.
  func saturatedAdding(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The product, or the nearest value that the type has.
  func saturatedMultiplying(by other: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) != (other < 0) ? .min : .max) : product
  }
}
