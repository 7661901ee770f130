"""Fetching the released files from a server on this machine that stalls, breaks off and lies."""

import hashlib
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nsh import pull as pull_module
from nsh.errors import MissingDataError, ParameterError
from nsh.pull import listed_files, pull, released_cache, released_dir

FILES = {
    "results/a.jsonl": b"first " * 2000,
    "results/b.jsonl": b"second " * 2000,
    "dataset/.c.jsonl": b"third " * 2000,
}
TIMEOUT = 0.3  # seconds; every answer of the server that is not meant to stall takes far less


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A server of made-up files; `server.mishaps[path]` lists what goes wrong, one entry a request."""
    rows = [f"{path},{len(body)},{hashlib.sha256(body).hexdigest()}" for path, body in FILES.items()]
    listing = tmp_path / "files.csv"
    listing.write_text("\n".join(["path,bytes,sha256", *rows]) + "\n")
    monkeypatch.setattr(pull_module, "LIST", listing)
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # no waiting between tries
    monkeypatch.setenv("NSH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NSH_RELEASED_DIR", raising=False)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.removeprefix("/files/")
            server.requests[path] += 1
            mishap = server.mishaps.get(path, [])
            mishap = mishap.pop(0) if mishap else "none"
            if isinstance(mishap, int):
                self.send_error(mishap)
                return
            if mishap == "stall":
                server.over.wait(4 * TIMEOUT)
            body = FILES[path][:-1] + b"!" if mishap == "wrong byte" else FILES[path]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            half = len(body) // 2
            self.wfile.write(body[:half])
            if mishap == "stall midway":
                self.wfile.flush()
                server.over.wait(4 * TIMEOUT)
            if mishap != "break off":
                self.wfile.write(body[half:])

        def log_message(self, *args):
            """Keep quiet."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request, client_address):
            """A client that has given up is part of the test."""

    server = Server(("127.0.0.1", 0), Handler)
    server.requests, server.mishaps, server.over = Counter(), {}, threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}/files"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()
    thread.join()


def contents(folder):
    """Every file under a folder, half-written ones included."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_files_arrive_and_a_second_call_asks_for_nothing(server, capsys):
    folder = pull(base_url=server.url, timeout=TIMEOUT)
    assert folder == released_cache()
    assert contents(folder) == FILES
    assert server.requests == dict.fromkeys(FILES, 1)
    pull(base_url=server.url, timeout=TIMEOUT)
    assert server.requests == dict.fromkeys(FILES, 1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("mishap", ["stall", "stall midway", "break off", "wrong byte", 503])
def test_one_mishap_is_tried_again(server, mishap):
    server.mishaps["results/b.jsonl"] = [mishap]
    assert contents(pull(base_url=server.url, timeout=TIMEOUT, retries=1)) == FILES
    assert server.requests["results/b.jsonl"] == 2


@pytest.mark.parametrize(
    ("mishap", "cause"),
    [
        ("stall", "the server sent nothing for 0.3 s"),
        ("stall midway", "the server sent nothing for 0.3 s"),
        ("break off", "there is no connection, or it broke off"),
        ("wrong byte", "what was sent has the wrong SHA-256 checksum"),
        (404, "the server answered 404"),
    ],
)
def test_a_lasting_mishap_names_file_and_cause_and_keeps_what_is_good(server, mishap, cause):
    server.mishaps["results/b.jsonl"] = [mishap, mishap]
    with pytest.raises(MissingDataError) as error:
        pull(base_url=server.url, timeout=TIMEOUT, retries=1)
    assert str(error.value).startswith(
        f"results/b.jsonl could not be fetched from {server.url}/: {cause}. Files fetched"
    )
    assert contents(released_cache()) == {"results/a.jsonl": FILES["results/a.jsonl"]}
    assert contents(pull(base_url=server.url, timeout=TIMEOUT)) == FILES
    assert server.requests["results/a.jsonl"] == 1


def test_a_damaged_file_is_fetched_again(server):
    folder = pull(base_url=server.url, timeout=TIMEOUT)
    (folder / "results/a.jsonl").write_bytes(b"cut")
    assert contents(pull(base_url=server.url, timeout=TIMEOUT)) == FILES
    assert server.requests == {**dict.fromkeys(FILES, 1), "results/a.jsonl": 2}


def test_folder_address_and_progress(server, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("NSH_RELEASED_URL", server.url)
    assert contents(pull(tmp_path / "mine", progress=True, timeout=TIMEOUT)) == FILES
    assert "released files" in capsys.readouterr().err


def test_no_server_at_all(server):
    server.shutdown()
    server.server_close()
    with pytest.raises(MissingDataError, match=r"results/a.jsonl could not be fetched .*there is no connection"):
        pull(base_url=server.url, timeout=TIMEOUT, retries=0)


def test_a_folder_that_cannot_be_written(server, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(
        MissingDataError, match=r"results/a.jsonl could not be fetched .*it cannot be written to .*taken"
    ):
        pull(tmp_path / "taken", base_url=server.url, timeout=TIMEOUT, retries=0)


def test_an_address_that_is_none():
    with pytest.raises(ParameterError, match="'ftp://here/': expected one that starts with https://"):
        pull(base_url="ftp://here")


def test_where_the_released_files_are(server, monkeypatch, tmp_path):
    assert released_dir("auto") is None
    with pytest.raises(MissingDataError, match="run `nsh data pull`, which fills "):
        released_dir("require")
    pull(base_url=server.url, timeout=TIMEOUT)
    assert released_dir("auto") == released_dir("require") == released_cache()
    copy = tmp_path / "copy"
    (copy / "results").mkdir(parents=True)
    assert released_dir(copy) == copy
    monkeypatch.setenv("NSH_RELEASED_DIR", str(copy))
    assert released_dir("auto") == released_dir("require") == copy
    assert released_dir("off") is None


def test_a_named_folder_without_released_files_is_an_error_even_for_auto(monkeypatch, tmp_path):
    monkeypatch.setenv("NSH_RELEASED_DIR", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"\$NSH_RELEASED_DIR names .* expected a folder that holds dataset/"):
        released_dir("auto")
    with pytest.raises(MissingDataError, match="the parameter `released` names "):
        released_dir(tmp_path / "nowhere")


def test_the_list_holds_no_file_over_four_mebibytes_and_no_path_twice():
    files = listed_files()
    assert len({file.path for file in files}) == len(files) == 35
    assert max(file.bytes for file in files) <= 4 * 2**20
    assert all(len(file.sha256) == 64 for file in files)
