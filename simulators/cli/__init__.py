"""The commands `sim`, `demo`, `panel` and `replay`. A production box without simulators has none of them."""
