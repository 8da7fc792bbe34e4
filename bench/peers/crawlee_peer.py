"""Crawlee (Parsel) following every link of a site. Run by bench.crawl_speed in an environment of its own."""

import asyncio
import sys

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext


async def main(start: str) -> None:
    crawler = ParselCrawler(
        respect_robots_txt_file=True,
        configure_logging=False,
        concurrency_settings=ConcurrencySettings(desired_concurrency=8, max_concurrency=16),
    )
    pages = 0

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        nonlocal pages
        pages += 1
        title = context.selector.css("title::text").get()
        await context.push_data({"url": context.request.url, "title": title})
        await context.enqueue_links()

    await crawler.run([start])
    print(pages, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
