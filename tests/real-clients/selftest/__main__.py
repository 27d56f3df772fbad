"""Tests of the rig itself: `python3 tests/real-clients/selftest`.  No client is needed."""
import os, sys, unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "lib")]

if __name__ == "__main__":
    found = unittest.defaultTestLoader.discover(HERE, pattern="*_test.py")
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(found).wasSuccessful())
