"""The local workspace, driven and called as the bot and the stories do."""
