# Ten Python functions deep, then src/spin.c through ctypes. usage: pyspin.py LIBRARY FILE DEPTH THREADS
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
words = [b'spin', *(word.encode() for word in sys.argv[2:])]


def deeper(left):
    if left == 0:
        return library.main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))
    return deeper(left - 1) + 1


deeper(10)
