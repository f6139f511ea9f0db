"""preflight: a static linter for the files that launch LLM servers."""
