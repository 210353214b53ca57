import Testing

@testable import ProbeCore

@Suite struct SuggestionTests {
  @Test(
    arguments: [
      ("durtion", "duration"), ("dur", "duration"), ("childern", "children"), ("COLOR", "color"),
      ("sumary", "summary"), ("x", nil), ("", nil), ("zzzzzzzz", nil), ("re", nil),
      (String(repeating: "a", count: 5000), nil),
    ] as [(String, String?)])
  func `the closest known word is suggested`(word: String, expected: String?) {
    let words = ["duration", "children", "color", "summary", "record", "rate"]
    #expect(Suggestion.nearest(to: word, in: words) == expected)
  }

  @Test func `distance counts edits and swaps`() {
    #expect(Suggestion.distance("", "abc") == 3)
    #expect(Suggestion.distance("abc", "abc") == 0)
    #expect(Suggestion.distance("abc", "acb") == 1)
    #expect(Suggestion.distance("kitten", "sitting") == 3)
  }
}

@Suite struct RedactionTests {
  @Test(
    arguments: [
      ("/usr/bin/mysql", "/usr/bin/mysql", 0), ("--password=hunter2", "--password=…", 1),
      ("--verbose", "--verbose", 1),
      ("-phunter2", "-p…", 1), ("-p", "-p", 1), ("hunter2", "…", 1), ("--", "--", 1), ("-", "-", 1),
      ("TOKEN=abc", "…", 1), ("--key:abc", "--key…", 1), ("-----BEGIN KEY-----", "-----BEGIN…", 1),
      ("", "…", 1),
      ("--pass\u{301}word", "--pas…", 1),
    ] as [(String, String, Int)])
  func `values go, names stay`(word: String, expected: String, position: Int) {
    let command = position == 0 ? [word] : ["prog", word]
    #expect(Redaction.redact(command)[position] == expected)
  }

  @Test func `an empty command line stays empty`() {
    #expect(Redaction.redact([]) == [])
  }
}

@Suite struct SafeTextTests {
  @Test(
    arguments: [
      ([0x61, 0xff, 0x62], "a\\xffb"), ([0xc3, 0xa9], "é"), ([0xc3], "\\xc3"),
      ([0xe2, 0x82], "\\xe2\\x82"),
      ([0xed, 0xa0, 0x80], "\\xed\\xa0\\x80"), ([], ""), ([0xf0, 0x9f, 0x9a, 0x80], "🚀"),
      ([0xc0, 0x80], "\\xc0\\x80"),
    ] as [([UInt8], String)])
  func `bytes become text and none is lost`(bytes: [UInt8], expected: String) {
    #expect(SafeText.decode(bytes) == expected)
  }

  @Test(
    arguments: [
      ("plain é 漢", "plain é 漢"), ("a\nb\tc", "a\\nb\\tc"), ("\u{1b}[31m", "\\x1b[31m"),
      ("\u{9b}31m", "\\x9b31m"),
      ("a\u{202e}b", "a\\u{202e}b"), ("\u{7f}", "\\x7f"), ("\r", "\\x0d"),
      ("\u{feff}", "\\u{feff}"),
      ("e\u{301}\u{1b}", "e\u{301}\\x1b"),
    ])
  func `what a terminal would act on is spelled out`(text: String, expected: String) {
    #expect(SafeText.terminal(text) == expected)
  }

  @Test(arguments: [
    ("a-b_c", "a-b_c"), ("", "''"), ("it's", "'it'\\''s'"), ("a b", "'a b'"), ("$x", "'$x'"),
  ])
  func `a word is quoted as a shell needs it`(word: String, expected: String) {
    #expect(SafeText.shellWord(word) == expected)
  }
}
