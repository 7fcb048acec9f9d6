"""Generated from ``protos/`` by ``make proto``. Only ``wire`` and ``server`` import it."""
