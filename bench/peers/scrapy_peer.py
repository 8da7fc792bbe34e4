"""Stock Scrapy following every link of a site. Run by bench.crawl_speed in an environment of its own."""

import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor


class Everything(scrapy.Spider):
    name = "everything"
    links = LinkExtractor()
    pages = 0

    def parse(self, response):
        self.pages += 1
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url, callback=self.parse)

    def closed(self, reason):  # noqa: ARG002 - Scrapy's name for it
        print(self.pages, flush=True)


if __name__ == "__main__":
    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "DOWNLOAD_DELAY": 0,
            "LOG_LEVEL": "WARNING",
            "FEEDS": {sys.argv[2]: {"format": "jsonlines"}},
        }
    )
    process.crawl(Everything, start_urls=[sys.argv[1]])
    process.start()
