"""From a model's own files to a `Model`. Nothing in those files is ever run."""
