import Glibc
import Testing

@testable import ProbeCore

@Suite struct AttachCheckTests {
  private func refusal(
    _ source: consuming ProcSource, own: Int32 = 1, session: Int32 = 1
  ) -> AttachRefusal? {
    var source = source
    do throws(AttachRefusal) {
      _ = try AttachCheck.inspect(
        &source, ownPID: ProcessID(own), ownSession: ProcessID(session))
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [Fixture.pythonIdle, .nodeServer, .redis, .threads50, .oddNames, .otherUser])
  func `ordinary processes may be watched`(_ fixture: Fixture) {
    #expect(refusal(fixture.source) == nil)
  }

  @Test func `a process whose leader has ended may be watched while others live`() {
    #expect(refusal(Fixture.leaderExit.source) == nil)
  }

  @Test func `a zombie, a kernel thread and nobody are refused, each in its words`() throws {
    guard case .zombie(ProcessID(7446), let parent)? = refusal(Fixture.zombie.source) else {
      Issue.record("zombie")
      return
    }
    #expect(parent.rawValue > 0)
    #expect(refusal(Fixture.kthreadd.source) == .kernelThread(ProcessID(2), name: "kthreadd"))
    let nobody = ProcSource(root: "/no/such/proc", pid: ProcessID(3))
    #expect(refusal(nobody) == .notFound(ProcessID(3)))
    for refused in [
      AttachRefusal.zombie(ProcessID(1), parent: ProcessID(2)), .notFound(ProcessID(3)),
      .kernelThread(ProcessID(2), name: "k\u{1b}"), .ourselves(ProcessID(4)),
      .ancestor(ProcessID(5), name: "sh\n"), .thread(ProcessID(6), of: ProcessID(7)),
      .unreadable(ProcessID(8), "no"),
    ] {
      #expect(refused.message.hasPrefix("cannot attach to "))
      #expect(!refused.message.contains("\u{1b}") && !refused.message.contains("\n"))
    }
  }

  @Test func `a thread is refused with the process to name instead`() {
    let tree = ScratchProc()
    tree.process(501, parent: 1)
    tree.write("501/status", ScratchProc.status(501, of: 500, "w"))
    let source = ProcSource(root: tree.root, pid: ProcessID(501))
    #expect(refusal(source) == .thread(ProcessID(501), of: ProcessID(500)))
  }

  @Test func `we ourselves and the shell that waits for us are refused`() {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    tree.process(501, parent: 500)
    tree.process(502, parent: 501)
    #expect(
      refusal(ProcSource(root: tree.root, pid: ProcessID(502)), own: 502)
        == .ourselves(ProcessID(502)))
    // 500 leads its session (its own number, as the tree has it) and is a parent's parent of ours.
    #expect(
      refusal(tree.source, own: 502, session: 500) == .ancestor(ProcessID(500), name: "p"))
    #expect(refusal(tree.source, own: 502, session: 9) == nil)
    #expect(refusal(ProcSource(root: tree.root, pid: ProcessID(502)), own: 501) == nil)
  }

  @Test(arguments: ["stat", "status"])
  func `a cut file is unreadable, not a crash`(name: String) throws {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    let whole = Array(Launching.contents("\(tree.root)/500/\(name)").utf8)
    for count in 0..<min(whole.count, 60) {
      tree.write("500/\(name)", Array(whole.prefix(count)))
      if name == "status" && (count == 0 || whole[count - 1] == 0x0a) { continue }  // whole lines
      guard case .unreadable? = refusal(tree.source) else {
        Issue.record("\(name) cut at \(count)")
        continue
      }
    }
  }

  @Test func `a circle of parents is walked only so far`() {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    tree.process(600, parent: 601)
    tree.process(601, parent: 600)
    #expect(refusal(tree.source, own: 600, session: 500) == nil)
  }

  @Test func `the list has programs by number and leaves out what has none`() {
    let tree = ScratchProc()
    tree.process(500, parent: 1, name: "b")
    tree.process(20, parent: 1, name: "a\u{1b}")
    tree.process(30, parent: 2, name: "kworker")
    tree.write("30/cmdline", "")
    let list = ProcessList.all(root: tree.root)
    #expect(list.map(\.pid.rawValue) == [20, 500])
    #expect(list.map(\.name) == ["a\u{1b}", "b"])
    #expect(list.first?.arguments == ["a\u{1b}"])
    #expect(ProcessList.find(ProcessID(30), root: tree.root) == nil)
    #expect(ProcessList.all(root: "/no/such/proc").isEmpty)
  }

  @Test func `the live list has ourselves`() {
    #expect(ProcessList.all().contains { $0.pid == OwnProcess.pid })
  }
}
