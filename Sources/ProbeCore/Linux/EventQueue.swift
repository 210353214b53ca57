// The way of every fact from the threads that see it to the one that folds it: a bounded byte queue.
// Safety: the two C objects live at fixed addresses from init to deinit; `bytes` and the flags are read
// and written only while the mutex is held.

internal import CProbe
internal import Glibc

/// A bounded queue of encoded event frames; several writers, one reader.
///
/// Writers copy whole frames in and never wait; what does not fit is dropped and counted. The reader
/// takes all there is at once. Ordinary frames do not wake it (a wake-up costs more than the frame):
/// it looks by itself at its own pace, or when a frame is urgent.
@safe public final class EventQueue: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let limit: Int
  private var bytes: [UInt8] = []
  private var isUrgent = false
  private var isClosed = false
  private var dropped = 0

  /// - Parameter limit: how many bytes may wait at the most.
  public init(limit: Int = 4 << 20) {
    self.limit = limit
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
    bytes.reserveCapacity(64 << 10)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Adds the frames in `writer`, which is emptied.
  ///
  /// - Parameters:
  ///   - frames: how many events they are, for the count of what is dropped.
  ///   - isUrgent: wakes the reader at once.
  public func append(_ writer: inout ByteWriter, frames: Int = 1, isUrgent: Bool = false) {
    locked {
      if bytes.count + writer.count > limit {
        dropped += frames
      } else {
        bytes.append(contentsOf: writer.bytes)
      }
      if isUrgent || bytes.count > limit / 8 {
        self.isUrgent = true
        unsafe pthread_cond_signal(condition)
      }
    }
    writer.removeAll()
  }

  /// Adds one event and wakes the reader.
  public func append(_ event: ProbeEvent) {
    var writer = ByteWriter()
    EventCodec.encode(event, into: &writer)
    append(&writer, isUrgent: true)
  }

  /// No more events will come; the reader gets what is left and then the end.
  public func close() {
    locked {
      isClosed = true
      unsafe pthread_cond_signal(condition)
    }
  }

  /// Wakes the reader without an event, e.g. because the terminal changed its size.
  public func wake() {
    locked {
      isUrgent = true
      unsafe pthread_cond_signal(condition)
    }
  }

  /// Waits until something is urgent, the queue is closed, or `limit` has passed; then swaps what is
  /// there into `buffer`, whose old content is forgotten.
  ///
  /// - Returns: false when the queue is closed and empty.
  public func take(into buffer: inout [UInt8], waitingAtMost limit: Nanoseconds) -> Bool {
    buffer.removeAll(keepingCapacity: true)
    let deadline = (Clock.now() + limit).nanoseconds
    return locked {
      while !isUrgent && !isClosed {
        if unsafe cprobe_cond_wait(condition, mutex, deadline) != 0 { break }
      }
      isUrgent = false
      swap(&bytes, &buffer)
      return !(isClosed && buffer.isEmpty)
    }
  }

  /// Events dropped so far because the reader was too slow.
  public var droppedCount: Int { locked { dropped } }

  private func locked<T>(_ body: () -> T) -> T {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body()
  }
}
