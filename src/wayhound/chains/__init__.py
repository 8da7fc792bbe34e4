"""Link chains: relationship instances of a site, from rules learned from a few example chains (Naing et al. 2003).

Pure: pages in, rules and chains out, with a callback for fetching. Not here: fetching, saving, wording.
"""
