"""Ticket systems, and how what happens to a ticket gets back to the call that waits for it."""
