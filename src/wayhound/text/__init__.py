"""Small text operations shared by several capabilities: accent folding, person names, years, plurals."""
