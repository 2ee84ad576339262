"""Parley's sidecar: game characters that talk, on the player's own machine."""

__version__ = "0.1.0"
