"""Where the state of request ids is kept: ``transact(key, change)``, and nothing else that changes it."""
