"""Slack's Web API as functions of a call, a file for each family of methods."""
