"""Documents: the bytes of PDF, PostScript and text files become pages of lines with positions.

Here: reading, page layout, resource limits for hostile files, running text. Not here: what the lines mean;
titles, references and the like are found in `papers`.
"""
