"""Writers and checks of the generated parts of the documents. `python -m tools.docs` runs them."""
