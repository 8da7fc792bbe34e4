"""autoscraper on example links: JSON of examples and pages on stdin, JSON of extracted addresses on stdout."""

import json
import sys

from autoscraper import AutoScraper


def main() -> None:
    request = json.load(sys.stdin)
    scraper = AutoScraper()
    for example in request["examples"]:
        scraper.build(html=example["html"], wanted_list=example["wanted"], update=True)
    json.dump({url: scraper.get_result_similar(html=html) for url, html in request["pages"]}, sys.stdout)


main()
