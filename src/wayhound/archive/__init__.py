"""Web archives: WARC files written, read and repaired; recorded sites as folders; replay; conditional requests.

Not here: fetching (`net`), and which page was archived where (`store`).
"""
