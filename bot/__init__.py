"""The river, from Slack and back: stores, acknowledges, works, asks people, answers."""
