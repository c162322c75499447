"""A server that speaks TLS, with a certificate that nobody vouches for."""

import ssl
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests.helpers.json_server import Handler, Server, listening
from tests.helpers.server import reply


def certificate(folder: Path, host: str = "127.0.0.1", days: int = 1) -> Path:
    """A certificate that only itself vouches for, with its key, in one file."""
    pytest.importorskip("cryptography", reason="cryptography is not installed: `make env-all` installs it")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

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


class TlsHandler(Handler):
    def do_POST(self) -> None:
        self.read()
        self.send(reply("OK") | {"tokens": [1], "data": []})


class TlsServer(Server):
    def __init__(self, pem: Path) -> None:
        super().__init__(TlsHandler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust the certificate goes away."""


def secured(pem: Path) -> AbstractContextManager[str]:
    """A server with a certificate; its address."""
    return listening(TlsServer(pem))
