"""Budgets measured side by side with floor and peer, as ratios in one run. Nothing here passes or fails a build."""
