"""`python -m collector` is `passhat`."""

from collector.cli import main

if __name__ == "__main__":
    main()
