"""Every maximum of the core and its wire, with its reason.

Law: whatever a caller sends, the state of one request id stays below the sum of these. Relations between them
are asserted at the end.
"""

# --- What one event may hold (checked by ``wire``; over it is INVALID_ARGUMENT) -------------------------------
TEXT_BYTES = 256  # ids and names: a UUID is 36, the longest provider call id seen is about 130
DIGEST_BYTES = 64  # SHA-512, the longest digest in common use
CALLS_PER_EVENT = 256  # "hundreds of parallel calls" were reported by users; more in one chunk is no agent
RESULTS_PER_EVENT = CALLS_PER_EVENT  # one per call
TOOLS_PER_EVENT = 512  # providers refuse more than 128 tools; MCP catalogues are larger than what is sent
FALLBACKS_PER_EVENT = 32  # gRPC has 17 codes
MESSAGE_BYTES = 1_310_720  # one call with 1 MiB of arguments, and a quarter for all the rest

# --- What one request id keeps --------------------------------------------------------------------------------
MODEL_CALLS_KEPT = 4  # answers for idempotency; a shim retries the latest, a late chunk is one or two behind
CHUNKS_KEPT = 64  # answers per attempt; only chunks with a call or a finish reason are told
CALLS_KEPT = 256  # calls remembered in one response, to count a repeated call once
TURNS_KEPT = 36  # calls and results by turn: six laps of the longest period, six turns
TOOL_NAMES_KEPT = 128  # function calls counted by tool; a name in a limit is counted beyond it
LAPS_KEPT = 16  # patterns told; an agent that has more is stopped by a limit
LINKS_KEPT = 32  # decision spans linked from the tool_loop span: the first, and the newest 31

# --- Numbers --------------------------------------------------------------------------------------------------
COUNT_MAX = 2**32 - 1  # uint32 of the contract; counters stop there
TOTAL_MAX = 2**64 - 1  # uint64 of the contract

assert TURNS_KEPT >= 6 * 3, "three laps of the longest period"
assert CALLS_KEPT >= CALLS_PER_EVENT
assert MODEL_CALLS_KEPT > 1, "a late response is one behind the newest"
