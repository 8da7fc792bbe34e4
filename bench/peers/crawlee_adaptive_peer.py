"""Crawlee's adaptive crawler on a site, with its defaults. Run by bench.rendering in an environment of its own.

Prints one JSON object: the headings of the pages, how many were read plainly and how many in the browser.
"""

import asyncio
import json
import os
import sys
from datetime import timedelta

from crawlee.crawlers import AdaptivePlaywrightCrawler, AdaptivePlaywrightCrawlingContext

PATIENCE = timedelta(seconds=5)  # for the heading of a page, in the browser


async def main(start: str, browser: str) -> None:
    crawler = AdaptivePlaywrightCrawler.with_parsel_static_parser(
        respect_robots_txt_file=True,
        configure_logging=False,
        max_requests_per_crawl=1000,
        playwright_crawler_specific_kwargs={
            "browser_type": "chromium",
            "headless": True,
            "browser_launch_options": {
                "executable_path": browser,
                "chromium_sandbox": os.geteuid() != 0,
            },
        },
    )
    titles: list[str] = []

    @crawler.router.default_handler
    async def handle(context: AdaptivePlaywrightCrawlingContext) -> None:
        heading = await context.query_selector_one("h1", PATIENCE)
        title = heading.css("::text").get() if heading is not None else ""
        await context.push_data({"url": context.request.url, "title": title})
        await context.enqueue_links()

    await crawler.run([start])
    data = await crawler.get_data(limit=10_000)
    titles = [str(item["title"]) for item in data.items]
    counts = crawler.statistics.state
    plain, shown = counts.http_only_request_handler_runs, counts.browser_request_handler_runs
    print(json.dumps({"titles": titles, "plain": plain, "rendered": shown}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
