"""Benchmarks: each measures our code, a floor and a peer in one run and prints ratios. They never fail a build."""
