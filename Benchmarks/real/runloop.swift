// A Foundation program on its main run loop: a timer of 50 ms, and some work in it.
import Foundation

let timer = Timer(timeInterval: 0.05, repeats: true) { _ in
  var sum = 0
  for i in 0..<50_000 { sum &+= i }
  if sum == 1 { print(sum) }
}
RunLoop.main.add(timer, forMode: .default)
RunLoop.main.run()
