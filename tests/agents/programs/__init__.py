"""The programs of the documents this grew from, written anew for `agents`."""
