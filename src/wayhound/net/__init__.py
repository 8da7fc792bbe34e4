"""The only code that opens outgoing connections: HTTP with robots.txt and an address guard, and the browser.

Not here: what to fetch next (`forage`), and keeping what was fetched (`archive`).
"""
