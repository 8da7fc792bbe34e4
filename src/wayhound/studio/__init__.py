"""The studio: an operator's pages to teach, train, forage, review, read papers and sort topics in a browser.

It serves one workspace on this machine to whoever has the token. Pages only lay out: use cases are in `app`,
sentences in `wording`, servers and guards in `web`.
"""
