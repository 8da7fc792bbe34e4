"""Reading: what was fetched becomes pages, text and records."""
