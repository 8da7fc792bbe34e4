"""autoscraper on example links: JSON of examples and pages on stdin, JSON of extracted addresses on stdout."""

import json
import sys

from autoscraper import AutoScraper


def main() -> None:
    request = json.load(sys.stdin)
    scraper = AutoScraper()
    for example in request["examples"]:
        scraper.build(html=example["html"], wanted_list=example["wanted"], update=True)
    siblings = request["siblings"]
    similar = {
        # of an empty page, it would fetch the address
        url: scraper.get_result_similar(html=html, contain_sibling_leaves=siblings) if html.strip() else []
        for url, html in request["pages"]
    }
    json.dump(similar, sys.stdout)


main()
