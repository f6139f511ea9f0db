"""The JSON Schemas in schemas/: made by `python -m preflight.schema`, never on the lint path."""
