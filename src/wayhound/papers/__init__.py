"""Research papers: their parts, headers, references and citations."""
