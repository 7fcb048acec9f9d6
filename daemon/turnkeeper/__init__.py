"""Turnkeeper: decides, for each model call of a tool-calling loop, whether the loop may go on."""

__version__ = "0.1.0"
