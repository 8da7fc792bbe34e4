"""Papers, from files to records and a citation graph: taken up, read, matched, corrected, and learned from."""
