"""Which citations are to the same paper, and how a paper is written down for others."""
