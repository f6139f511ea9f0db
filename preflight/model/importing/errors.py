"""The one way in which reading a model's files fails."""


class BadModel(ValueError):
    """Why a model's files cannot be read: one sentence of fact and one of remedy."""
