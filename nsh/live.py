"""`nsh live`: the built book on this computer alone, from a Jupyter server that runs its cells."""

import re
import secrets
import signal
from importlib.util import find_spec
from typing import Annotated

import typer

from nsh.errors import BuildError, ParameterError

FIRST_PORT = 8899
# on the server's command line, so that they outrank any file of settings on this computer
ALONE = (
    "ip=127.0.0.1",
    "base_url=/",
    "allow_origin=",
    "allow_remote_access=False",
    "terminals_enabled=False",
    "jpserver_extensions={'jupyterlab': False}",
    "open_browser=False",
)
Port = Annotated[int | None, typer.Option(min=1, max=65535, help="A free one unless given.", show_default=False)]


def live(port: Port = None) -> None:
    """Serve the built book on this computer alone, with cells that run; Ctrl-C ends it.

    The address that is printed holds a fresh token: without it no kernel runs.
    """
    from nsh.build import checkout

    html = checkout() / "_build" / "html"
    if not (html / "index.html").is_file():
        raise BuildError(f"{html} holds no book: build it first with `nsh book`")
    if find_spec("jupyter_server") is None:
        raise BuildError("jupyter_server is not installed: pip install jupyter_server")
    from jupyter_server.serverapp import ServerApp

    token, app = secrets.token_urlsafe(32), ServerApp.instance()
    places = [f"root_dir={checkout()}", f"extra_static_paths={[str(html)]}"]
    given = [*ALONE, *places, f"port={port or FIRST_PORT}", f"port_retries={0 if port else 50}"]
    options = [*(f"--ServerApp.{setting}" for setting in given), f"--IdentityProvider.token={token}", "--allow-root"]
    try:
        app.initialize([*options, "--log-level=ERROR"])
    except SystemExit:
        raise ParameterError(f"--port {port or FIRST_PORT}: no server starts there; is the port taken?") from None
    address = f"http://127.0.0.1:{app.port}"
    first = re.search(r'url=([^"]+)', (html / "index.html").read_text(encoding="utf-8"))
    page = f"{address}/static/{first[1] if first else 'index.html'}#live={address}&token={token}"
    advice = "Open it, and press “Run cells live” on a page with code. Ctrl-C ends the server."
    app.io_loop.add_callback(typer.echo, f"{page}\n{advice}")  # once it listens
    signal.signal(signal.SIGINT, lambda *_: app.stop(from_signal=True))
    app.start()
