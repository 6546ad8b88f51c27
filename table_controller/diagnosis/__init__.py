"""Diagnosis of machines from recorded evidence: causes and places of faults, drift, randomness."""
