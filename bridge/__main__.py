"""Lets `python -m bridge` do what `parley` does."""

from bridge.cli import main

if __name__ == "__main__":
    main()
