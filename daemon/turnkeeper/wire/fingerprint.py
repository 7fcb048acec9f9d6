"""Keyed fingerprints of function calls.

Law: arguments are hashed here and forgotten. The key is the installation's, so that a fingerprint seen in telemetry
cannot be found again by hashing guesses.
"""

import hmac

from turnkeeper.wire.canonical import Pointers, canonical

KEY_BYTES = 32
_DIGEST_BYTES = 8  # 16 hex digits in telemetry


def fingerprint(key: bytes, name: str, args_json: str, loop_key: str, ignore: Pointers = ()) -> bytes:
    """Return the fingerprint of one call; ``loop_key`` replaces the arguments where the application gives one."""
    text = f"{name}\0k{loop_key}" if loop_key else f"{name}\0{canonical(args_json, ignore)}"
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")[:_DIGEST_BYTES]
