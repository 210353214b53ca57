import Testing

@testable import ProbeCore

@Suite struct GitHeadTests {
  static let one = String(repeating: "1", count: 40)
  static let two = String(repeating: "2", count: 40)

  @Test func `a branch is followed to its own file`() throws {
    let folder = try ScratchFolder()
    try folder.write(".git/HEAD", "ref: refs/heads/fix/it\n")
    try folder.write(".git/refs/heads/fix/it", Self.one + "\n")
    // A packed one is older.
    try folder.write(".git/packed-refs", "\(Self.two) refs/heads/fix/it\n")
    #expect(GitHead.read(folder.path) == head(Self.one, "fix/it"))
  }

  @Test func `a packed branch is found by its whole name`() throws {
    let folder = try ScratchFolder()
    try folder.write(".git/HEAD", "ref: refs/heads/main\n")
    try folder.write(
      ".git/packed-refs",
      "# pack-refs with: peeled fully-peeled sorted \n\(Self.two) refs/heads/main2\n"
        + "^\(Self.two)\n\(Self.one) refs/heads/main\n")
    #expect(GitHead.read(folder.path) == head(Self.one, "main"))
  }

  @Test func `a detached head has a commit and no branch, a new branch no commit`() throws {
    let folder = try ScratchFolder()
    try folder.write(".git/HEAD", Self.one + "\n")
    #expect(GitHead.read(folder.path) == head(Self.one, nil))
    try folder.write(".git/HEAD", "ref: refs/heads/new\n")
    #expect(GitHead.read(folder.path) == head(nil, "new"))
  }

  @Test func `a work tree has its own head and the branches of the repository`() throws {
    let folder = try ScratchFolder()
    try folder.write("main/.git/HEAD", "ref: refs/heads/main\n")
    try folder.write("main/.git/refs/heads/side", Self.one)
    try folder.write("main/.git/worktrees/wt/HEAD", "ref: refs/heads/side\n")
    try folder.write("main/.git/worktrees/wt/commondir", "../..\n")
    try folder.write("wt/.git", "gitdir: ../main/.git/worktrees/wt\n")
    #expect(GitHead.read(folder["wt"]) == head(Self.one, "side"))
    try folder.write("wt/.git", "gitdir: \(folder["main/.git/worktrees/wt"])\n")
    #expect(GitHead.read(folder["wt"]) == head(Self.one, "side"))
  }

  @Test func `files that make no sense give nothing`() throws {
    let folder = try ScratchFolder()
    #expect(GitHead.read(folder.path) == nil)
    for (text, expected) in [
      ("", head(nil, nil)), ("1234\n", head(nil, nil)),
      ("ref: refs/heads/.invalid\n", head(nil, nil)),
      ("ref: ../../etc/passwd\n", head(nil, nil)),
      ("ref: refs/heads/loop\n", head(nil, "loop")),
    ] {
      try folder.write(".git/HEAD", text)
      try folder.write(".git/refs/heads/loop", "ref: refs/heads/loop\n")
      #expect(GitHead.read(folder.path) == expected, "\(text)")
    }
  }

  private func head(_ commit: String?, _ branch: String?) -> GitHead {
    var head = GitHead()
    head.commit = commit
    head.branch = branch
    return head
  }
}
