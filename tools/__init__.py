"""Programs that write the generated parts of the repository. Nothing that runs on a box."""
