"""The border to Slack: what comes in, what goes out, and what it looks like."""
