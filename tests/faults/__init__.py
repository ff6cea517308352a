"""Kill anything at any moment, and let one pure judge say whether a promise was broken."""
