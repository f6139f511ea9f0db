"""The version, as a constant: reading installed metadata costs more than a lint of a small file."""

VERSION = "0.1.0"
