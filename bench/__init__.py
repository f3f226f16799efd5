"""How fast it is: each measurement against a floor of the same run. `make bench`."""
