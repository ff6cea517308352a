"""The runtime: a loop over stored events, and the parts it is made of."""
