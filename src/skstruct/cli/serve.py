# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct serve``: models behind HTTP."""

import os
from typing import Any

import click

from skstruct.cli.options import NumberRange
from skstruct.cli.terminal import say

TOKEN = "SKSTRUCT_TOKEN"


@click.command(short_help="Serve models over HTTP.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True,
    help="Port to listen at; 0 for a free one.",
)  # fmt: skip
@click.option(
    "--workers", type=click.IntRange(1, 256), default=1, show_default=True,
    help="Processes that predict; with 1, the server does it by itself.",
)  # fmt: skip
@click.option(
    "--token-file", type=click.Path(exists=True, dir_okay=False),
    help=f"File with the token that requests must bring; else it is taken from {TOKEN}.",
)  # fmt: skip
@click.option("--max-rows", type=click.IntRange(1), default=10_000, show_default=True)
@click.option("--max-bytes", type=click.IntRange(1), default=10_000_000, show_default=True)
@click.option(
    "--timeout", type=NumberRange(0, min_open=True), default=30.0, show_default=True,
    help="Seconds that a request may take.",
)  # fmt: skip
@click.option(
    "--queue", type=click.IntRange(1), default=200, show_default=True,
    help="Requests that may wait.",
)  # fmt: skip
@click.option(
    "--batch-ms", type=NumberRange(0), default=0.0, show_default=True,
    help="Wait so long for others to be predicted together with.",
)  # fmt: skip
@click.option(
    "--other-columns", is_flag=True,
    help="Let a model file that changes read other columns, or predict another kind of outputs.",
)  # fmt: skip
@click.option("--cors", multiple=True, metavar="ORIGIN", help="Origin whose pages may ask.")
@click.option(
    "--log-level", type=click.Choice(("info", "warning", "error")), default="info",
    show_default=True,
)  # fmt: skip
@click.option("--insecure", is_flag=True, help="Listen beyond this machine without a token.")
def serve(
    models: tuple[str, ...],
    host: str,
    port: int,
    workers: int,
    token_file: str | None,
    insecure: bool,
    **limits: Any,
) -> None:
    """Serve model files; loss and constraints are chosen in each request.

    A MODEL is a file, called by its name without the ending, or NAME=FILE. Files are read again
    when they change. SIGTERM lets requests under way end.

    \b
    skstruct serve enron.model
    curl -H 'Content-Type: application/json' localhost:8000/predict -d '{"rows": [...]}'
    """
    from skstruct.cli.exit_codes import bad_data

    token = _token(token_file)
    _check_public(host, token, insecure)
    from skstruct._arrays.imports import require
    from skstruct.serving import Settings
    from skstruct.serving.processes import address, open_socket
    from skstruct.serving.settings import LOCAL, named_files

    try:
        for package in ("fastapi", "uvicorn"):
            require(package, used_by="skstruct serve", extra="serve")
        files = named_files(models)
    except (ImportError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    for path in files.values():
        if not os.path.isfile(path):
            raise click.UsageError(f"There is no file {path}.")
    hosts = LOCAL if host in LOCAL else ()
    limits["cors"] = tuple(limits["cors"])
    try:
        settings = Settings(token=token, hosts=hosts, **limits)
        sock = open_socket(host, port)
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from None
    with bad_data(), sock:
        _run(files, settings, sock, workers, address(sock))


def _run(files: dict[str, str], settings: Any, sock: Any, workers: int, where: str) -> None:
    from skstruct.serving import make_app
    from skstruct.serving.processes import run_app

    def started() -> None:
        say(f"Serving {', '.join(files)} at {where}; {workers} "
            f"{'worker' if workers == 1 else 'workers'}, ends by Ctrl-C.", False)  # fmt: skip

    try:
        run_app(make_app(files, settings, workers=workers), sock, settings.timeout, started)
    except KeyboardInterrupt:  # a signal ended it, and requests under way were answered
        pass
    except (ImportError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    say("Stopped; requests under way were answered.", False)


def _token(path: str | None) -> str | None:
    """From a file or the environment: arguments of a command can be read by other users."""
    if path is None:
        return os.environ.get(TOKEN) or None
    with open(path, encoding="utf-8") as file:
        token = file.read().strip()
    if not token:
        raise click.UsageError(f"{path} holds no token.")
    return token


def _check_public(host: str, token: str | None, insecure: bool) -> None:
    if host in ("127.0.0.1", "localhost", "::1") or token is not None:
        return
    if not insecure:
        raise click.UsageError(
            f"--host {host} is open to other machines: give a token by --token-file or in {TOKEN}, "
            "or say --insecure."
        )
    say(f"WARNING: everybody who reaches {host} may ask, without a token.", False)
