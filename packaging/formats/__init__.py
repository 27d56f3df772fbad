"""One module for each format of a package. `FORMATS` is the order in which they are made."""
from . import debian, homebrew, npm, rpm, source, tarball, wheel

FORMATS = {
    "tarball": tarball,
    "debian": debian,
    "rpm": rpm,
    "npm": npm,
    "wheel": wheel,
    "source": source,
    "homebrew": homebrew,
}
