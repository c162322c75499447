"""A server that speaks TLS, with a certificate that nobody vouches for."""

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.helpers.server import reply


def certificate(folder: Path, host: str = "127.0.0.1", days: int = 1) -> Path:
    """A certificate that only itself vouches for, with its key, in one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / f"{host}-{days}.pem"
    path.write_bytes(pem + built.public_bytes(serialization.Encoding.PEM))
    return path


class Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None: ...

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(reply("OK") | {"tokens": [1], "data": []}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust the certificate goes away."""


@contextmanager
def secured(pem: Path) -> Iterator[str]:
    """A server with a certificate; its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with Server(("127.0.0.1", 0), Handler) as http:
        http.socket = context.wrap_socket(http.socket, server_side=True)
        thread = Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{http.server_address[1]}/v1"
        http.shutdown()
        thread.join()
