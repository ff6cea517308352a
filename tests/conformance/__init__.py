"""Recorded cases of the peer, played on our runtime."""
