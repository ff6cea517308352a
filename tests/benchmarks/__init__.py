"""What things cost, as ratios to the least that could do the same, in one run."""
