"""Stores for the tests of this folder."""

from tests.support.stores import front, open_store, place, shared, store

__all__ = ["front", "open_store", "place", "shared", "store"]
