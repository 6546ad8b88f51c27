"""Long studies whose figures the documents show."""
