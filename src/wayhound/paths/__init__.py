"""What a person showed: trail files, labels, what to ask next."""
