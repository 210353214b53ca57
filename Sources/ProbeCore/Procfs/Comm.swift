// A thread's name: whatever bytes the target chose, so there is nothing that could fail to parse.

/// /proc/<pid>/task/<tid>/comm: up to 15 bytes of any kind, then one newline.
public enum Comm {
  /// How many of the bytes are the name: all but one newline at the end. For comparing without a
  /// copy.
  public static func length(_ bytes: Span<UInt8>) -> Int {
    guard bytes.count > 0, bytes[bytes.count - 1] == .newline else { return bytes.count }
    return bytes.count - 1
  }

  /// The raw name; a name that itself ends in a newline keeps that one.
  public static func name(_ bytes: Span<UInt8>) -> [UInt8] { bytes.copy(0..<length(bytes)) }

  /// Whether the bytes are the same name; does not allocate.
  public static func isSame(_ bytes: Span<UInt8>, as name: [UInt8]) -> Bool {
    guard length(bytes) == name.count else { return false }
    for index in 0..<name.count where bytes[index] != name[index] { return false }
    return true
  }
}
