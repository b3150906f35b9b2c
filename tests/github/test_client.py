"""Two Apps in one process never borrow each other's token."""

from __future__ import annotations

from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.github.client import AppClient
from app.settings import Settings


def _key(path: Path) -> rsa.RSAPublicKey:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )
    return key.public_key()


def test_apps_of_the_same_number_on_two_servers_sign_with_their_own_keys(tmp_path: Path) -> None:
    for name in ("one.pem", "two.pem"):
        public = _key(tmp_path / name)
        client = AppClient(
            Settings(github_app_id="1", github_private_key_path=tmp_path / name),
        )
        token = client._github.auth.get_auth_flow(client._github).get_jwt()
        assert jwt.decode(token, public, algorithms=["RS256"])["iss"] == "1"
