import os

CASES = int(os.environ.get("PREFLIGHT_CASES", "200"))
"""Examples of each property test; PREFLIGHT_CASES=5000 for the long run."""
