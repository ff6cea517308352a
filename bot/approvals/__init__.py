"""Questions to people: records, policy, decisions; knows no Slack."""
