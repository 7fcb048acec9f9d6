"""A scripted model and a scripted agent, to see Turnkeeper at work without an API key."""
