"""The pure core: values in, values out.

``engine.step(state, event, policy, now_ns)`` is the only way in. Equal state and equal event give an equal
step. Nothing here reads a clock, does I/O, logs, or is random; the standard library is all it imports.
"""
