from argparse import ArgumentParser, Namespace

HELP = "x"
EXAMPLE = "x"


def arguments(parser: ArgumentParser) -> None: ...
def main(args: Namespace) -> int:
    return 0
