"""The page: findings as one HTML file that needs nothing else, neither network nor script."""

from intransit.report.page.html import write_page

__all__ = ["write_page"]
