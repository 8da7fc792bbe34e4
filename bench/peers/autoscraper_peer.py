"""autoscraper on example links: JSON of examples and pages on stdin, JSON of extracted addresses on stdout."""

import json
import sys

from autoscraper import AutoScraper


def main() -> None:
    request = json.load(sys.stdin)
    scraper = AutoScraper()
    failed = 0
    for example in request["examples"]:
        try:
            scraper.build(html=example["html"], wanted_list=example["wanted"], update=True)
        except ValueError:  # its parser stumbles over some attributes; the other examples still count
            failed += 1
    similar = {}
    for url, html in request["pages"]:
        try:
            # of an empty page, it would fetch the address
            similar[url] = (
                scraper.get_result_similar(html=html, contain_sibling_leaves=request["siblings"])
                if html.strip()
                else []
            )
        except ValueError:
            failed += 1
            similar[url] = []
    if failed:
        print(f"autoscraper could not parse {failed} pages, which count as empty", file=sys.stderr)
    json.dump(similar, sys.stdout)


main()
