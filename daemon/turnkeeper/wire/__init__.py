"""Protobuf to core and back: raw bytes in, raw bytes out. The only importer of generated messages beside ``server``.

Law: an event that leaves ``decode`` is valid, and arguments are gone from it: only a keyed fingerprint is left.
"""
