"""The search index: what is asked, how it is answered, and how it is kept."""
