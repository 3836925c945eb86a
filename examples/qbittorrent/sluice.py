# VERSION: 1.0
# AUTHORS: Sluice
"""Searches a Sluice Torznab service from qBittorrent.

Install it in qBittorrent: Search, Search plugins, Install a new one, Local file. The address and
the key are in sluice.json beside the installed plugin; it is written at the first search.
"""

import json
import os
import urllib.request
import xml.etree.ElementTree as ElementTree

from novaprinter import prettyPrinter

SETTINGS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "sluice.json")
DEFAULTS = {"url": "http://127.0.0.1:9797", "api_key": ""}
ATTRIBUTE = "{http://torznab.com/schemas/2015/feed}attr"
PAGE = 100
PAGES_MAX = 10


def settings():
    try:
        with open(SETTINGS, encoding="utf-8") as file:
            return {**DEFAULTS, **json.load(file)}
    except FileNotFoundError:
        with open(SETTINGS, "w", encoding="utf-8") as file:
            json.dump(DEFAULTS, file, indent=2)
        return DEFAULTS


class sluice:
    name = "Sluice Torznab"
    url = settings()["url"].rstrip("/")
    supported_categories = {
        "all": "",
        "movies": "2000",
        "music": "3000",
        "software": "4000",
        "games": "1000,4050",
        "tv": "5000",
        "anime": "5070",
        "books": "7000",
    }

    def search(self, what, cat="all"):
        """`what` is quoted already. Pages are read until one is not full."""
        categories = self.supported_categories[cat]
        for page in range(PAGES_MAX):
            address = f"{self.url}/api?t=search&q={what}&limit={PAGE}&offset={page * PAGE}"
            if categories:
                address += f"&cat={categories}"
            items = self.items(address)
            for item in items:
                prettyPrinter(self.row(item))
            if len(items) < PAGE:
                return

    def items(self, address):
        headers = {"X-API-Key": settings()["api_key"]}
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return ElementTree.fromstring(answer.read()).findall("channel/item")

    def row(self, item):
        attributes = {one.get("name"): one.get("value") for one in item.iter(ATTRIBUTE)}
        return {
            "link": item.findtext("link", "").replace("|", "%7C"),
            "name": item.findtext("title", "").replace("|", "-"),
            "size": item.findtext("size", "-1") + " B",
            "seeds": attributes.get("seeders", "-1"),
            "leech": attributes.get("leechers", "-1"),
            "engine_url": self.url,
            "desc_link": item.findtext("comments", ""),
        }
