"""What makes Parley ready to be handed on: packages for Unity and Unreal, the sidecar as a folder without Python."""

from __future__ import annotations


class PackagingFailed(Exception):
    """Something cannot be packaged. The message is one sentence for whoever asked, with what to do about it."""
