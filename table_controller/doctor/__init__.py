"""What `pitbox doctor` looks at, line by line. Looks only: nothing is mended, and no machine is moved."""
