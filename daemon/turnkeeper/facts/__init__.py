"""What the deciding process tells the observing one: meters as cumulative state, facts as bounded records."""
