"""Boot logs of both engines: what was launched, what was measured, and what stopped it."""
