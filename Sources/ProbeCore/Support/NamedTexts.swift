// A handful of names with a text each: the environment's few variables, the observer's capabilities.
// Not a Dictionary, for the reason given in NumberIndex.swift.

/// Names and their texts, in the order they were set; each name once.
public struct NamedTexts: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  public struct Entry: Sendable, Equatable {
    public let name: String
    public var text: String
  }

  public private(set) var entries: [Entry] = []

  public init() {}

  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, text) in elements { self[name] = text }
  }

  public subscript(name: String) -> String? {
    get { entries.first { $0.name == name }?.text }
    set {
      let place = entries.firstIndex { $0.name == name }
      switch (place, newValue) {
      case (let place?, let text?): entries[place].text = text
      case (nil, let text?): entries.append(Entry(name: name, text: text))
      case (let place?, nil): entries.remove(at: place)
      case (nil, nil): break
      }
    }
  }

  /// By name, as files have them.
  var sorted: [Entry] { entries.sorted { $0.name < $1.name } }

  /// The same names with the same texts, in whatever order.
  public static func == (left: Self, right: Self) -> Bool { left.sorted == right.sorted }
}
