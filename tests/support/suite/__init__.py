"""What the test suite itself needs: required tools, case counts, allowances, leak checks."""
