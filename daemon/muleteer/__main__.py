"""`python -m muleteer`."""

from muleteer.cli import main

if __name__ == "__main__":
    main(prog_name="muleteer")
