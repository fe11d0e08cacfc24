"""Attention and its gradient: tiles of scores that never stand in global memory."""
