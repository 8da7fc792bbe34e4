"""Documents: PDF, PostScript and plain text become pages of lines, with where they stand."""
