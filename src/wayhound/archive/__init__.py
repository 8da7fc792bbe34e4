"""Web archives: WARC files written, read and repaired; site folders; replay."""
