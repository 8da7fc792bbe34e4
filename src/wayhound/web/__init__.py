"""Shared by the studio and the portal: server, safe headers, guards, rate limits, templates, error pages.

Pages of one server and what they show do not live here: see `studio` and `portal`.
"""
