"""Keyed fingerprints of function calls.

Law: arguments are hashed here and forgotten. The key is the installation's, so that a fingerprint seen in telemetry
cannot be found again by hashing guesses.
"""

from hashlib import blake2b

KEY_BYTES = 32
_DIGEST_BYTES = 8  # 16 hex digits in telemetry


def fingerprint(key: bytes, name: str, args_json: str, loop_key: str) -> bytes:
    """Return the fingerprint of one call; ``loop_key`` replaces the arguments where the application gives one."""
    kind, identity = ("k", loop_key) if loop_key else ("a", args_json)
    text = f"{name}\0{kind}\0{identity}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES, key=key).digest()
