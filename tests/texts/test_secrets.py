"""Secrets in text are found in every disguise, and innocent text is left alone.

Every token is put together at run time, so that no file looks as if it held a real one.
"""

from __future__ import annotations

import base64
import itertools
import string
from random import Random
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.texts.secrets import KNOWN, Secret, entropy, find_secrets, without_secrets

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
DASHES = "-" * 5
KEY = " ".join(("PRIVATE", "KEY"))  # so that no key's header stands in this file


def made(length: int, alphabet: str = LETTERS, seed: int = 7) -> str:
    random = Random(seed)
    return "".join(random.choice(alphabet) for _ in range(length))


def pem(kind: str = "RSA ", end: bool = True) -> str:
    body = "\n".join(made(64, seed=line) for line in range(4))
    block = f"{DASHES}BEGIN {kind}{KEY}{DASHES}\n{body}\n"
    return block + (f"{DASHES}END {kind}{KEY}{DASHES}" if end else "")


def jwt(seed: int = 1) -> str:
    return ".".join(["eyJ" + made(30, seed=seed), "eyJ" + made(60, seed=2), made(43, seed=3)])


BASE32 = string.ascii_uppercase + "234567"
SLACK = "-".join(["b", made(12, string.digits), made(13, string.digits), made(24)])

FORMATS = [
    *(("GitHub token", f"gh{kind}" + "_" + made(36)) for kind in "pousr"),
    ("GitHub token", "github" + "_pat_" + made(22) + "_" + made(59)),
    ("GitHub token", "ghs" + "_" + "12345_" + jwt()),
    ("Anthropic key", "sk" + "-ant-api03-" + made(93, LETTERS + "-_") + "AA"),
    ("OpenAI key", "sk" + "-" + made(48)),
    ("OpenAI key", "sk" + "-proj-" + made(120, LETTERS + "-_")),
    ("Google API key", "AI" + "za" + made(35, LETTERS + "-_")),
    ("AWS access key id", "AK" + "IA" + made(16, BASE32)),
    ("AWS access key id", "AS" + "IA" + made(16, BASE32)),
    ("Slack token", "xo" + "x" + SLACK),
    ("Slack webhook", "https://hooks." + f"slack.com/services/T{made(9)}/B{made(9)}/{made(24)}"),
    ("Stripe key", "sk" + "_live_" + made(24)),
    ("Stripe key", "rk" + "_live_" + made(24)),
    ("GitLab token", "gl" + "pat-" + made(20, LETTERS + "-_")),
    ("GitLab token", "gl" + "pat-" + made(27) + ".01." + made(9)),
    ("npm token", "np" + "m_" + made(36)),
    ("PyPI token", "py" + "pi-AgEIcHlwaS5vcmc" + made(120, LETTERS + "-_")),
    ("Hugging Face token", "h" + "f_" + made(34, string.ascii_letters)),
    ("SendGrid key", "S" + "G." + made(22) + "." + made(43)),
    ("Twilio key", "S" + "K" + made(32, HEX)),
    ("JSON Web Token", jwt()),
    ("private key", pem()),
    ("private key", pem("")),
    ("private key", pem("OPENSSH ")),
    ("private key", pem().replace("\n", "\\n")),
    ("SSH private key", "b3BlbnNzaC1rZXkt" + "djE" + made(44) + "\n" + made(70)),
    ("age private key", "AGE-SECRET" + "-KEY-1" + made(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
]


@pytest.mark.parametrize(("kind", "token"), FORMATS)
@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("It says `", "`."), ("grün: ", "\nnext"), ('{"a":"b\\n', '"}'), ("?a%3D", " ")],
)
def test_tokens_of_a_known_format(kind: str, token: str, before: str, after: str) -> None:
    text = before + token + after
    assert without_secrets(text) == (f"{before}[removed: {kind}]{after}", (kind,))
    assert without_secrets(without_secrets(text)[0])[1] == ()
    assert find_secrets(text) == (Secret(kind, len(before), len(before) + len(token)),)


@pytest.mark.parametrize(("kind", "token"), FORMATS)
@pytest.mark.parametrize("between", ["\u200b", "\u00ad\u2060", "\U000e0041", "\ufeff\x00"])
def test_hidden_characters_hide_nothing(kind: str, token: str, between: str) -> None:
    text = f"é {between.join(token)} {between}end"
    assert without_secrets(text) == (f"é [removed: {kind}] {between}end", (kind,))


VALUE = made(24)
PLACES = [
    ("secret", 'password = "', VALUE, '"'),
    ("secret", "api_key: ", VALUE, "\nnext: 1"),
    ("secret", "secret=", VALUE, "&page=2"),
    ("secret", "export STOREFRONT_TOKEN=", made(32, HEX), "\n"),
    ("secret", '{"clientSecret": "', made(20) + "&!(" + made(9), '"}'),
    ("secret", '{\\"token\\": \\"', VALUE, '\\"}'),
    ("secret", 'token: str = "', VALUE, '"'),
    ("secret", "<password>", VALUE, "</password>"),
    ("secret", "deploy --api-token ", VALUE, " --now"),
    ("secret", "**Password:** `", "P@ssw0rd-Str0ng!2024", "`"),
    ("secret", "The API key is ", VALUE, " for now"),
    ("secret", "password:\u00a0“", VALUE, "”"),
    ("secret", "secret = ", made(32, BASE32), ""),
    ("secret", "token=", made(400), ""),
    ("secret", "token=https://acme.example/?token=", VALUE, " x"),
    ("AWS secret key", "aws_secret_access_key = ", made(30) + "/" + made(9), "\n"),
    ("AWS secret key", 'SecretAccessKey": "', made(40), '"'),
    ("Twilio key", "Twilio auth: ", made(32, HEX), " "),
    ("authorization header", "Authorization: Bearer ", made(20), "\n"),
    (
        "authorization header",
        '"authorization": "Basic ',
        base64.b64encode(b"mara:geheim1").decode(),
        '"',
    ),
    ("authorization header", 'headers["Authorization"] = "token ', made(40, HEX), '"'),
    ("password in a URL", "postgres://user:", "pass", "@host"),
    ("password in a URL", "redis://:", "p@ss#1", "@127.0.0.1:6379/0"),
    ("password in a URL", "(https://mara:", "hunter2", "@acme.example/x)"),
]


@pytest.mark.parametrize(("kind", "before", "value", "after"), PLACES)
def test_values_in_telling_places(kind: str, before: str, value: str, after: str) -> None:
    text = before + value + after
    assert without_secrets(text) == (f"{before}[removed: {kind}]{after}", (kind,))


PICTURE = base64.b64encode(Random(3).randbytes(30_000)).decode()
SHA = made(40, HEX)
UUID = "123e4567-e89b-12d3-a456-426614174000"

HARMLESS = [
    "",
    "The token is refreshed every hour; the secret is kept in the vault.",
    "Which secret do you mean: the webhook secret or the client secret?",
    "Tokens: refresh-token-rotation is on. Password: at-least-sixteen-characters.",
    "token: base64url-encoded, ES256/EdDSA-signed, HS256/RS256-verified",
    "password: OAuthFlowPassword, _auth_token: OAuthTokenAuthStrategy",
    "The token is Base64URL-encoded/AES-256-GCM-encrypted.",
    f"Fixed in {SHA}, see also {SHA[:7]}.",
    f"the secret was removed in commit {SHA}",
    f"aws secret access key removed in {SHA}",
    f"Request {UUID} failed.",
    "https://github.com/acme/storefront/pull/12/files#diff-" + made(64, HEX),
    f"![x](data:image/png;base64,{PICTURE})",
    f'"integrity": "sha512-{base64.b64encode(Random(4).randbytes(64)).decode()}"',
    "tokenizers==0.20.0 --hash=sha256:" + made(64, HEX),
    "token-image: registry.acme.example/storefront/token@sha256:" + made(64, HEX),
    'password = "<your token goes here>"',
    'password = "${STOREFRONT_DB_PASSWORD_2}"',
    "token: ${{ secrets.STOREFRONT_TOKEN_V2 }}",
    'api_key = "' + "x" * 32 + '"',
    'api_key = "your-api-key-goes-here"',
    "secret = changeme-changeme-changeme-1",
    "token = example-example-example-A1",
    'token = os.environ["STOREFRONT_TOKEN_2024"]',
    "password = settings.database2.password.get_secret_value()",
    "secret = hashlib.pbkdf2_hmac('sha256', raw, salt, 1)",
    "const token = generateSecureToken128Bits(request)",
    "token_expires_at: 2024-05-01T12:00:00.000Z",
    "token_url: https://login.acme.example/oauth2/v2.0/token?tenant=A1b2C3d4",
    "secretName: storefront-tls-7f9c4b2a1d",
    "the token src/app/Auth2Provider.tsx#L10-L20 reads",
    "max_tokens: 12345678901234567890",
    "password: mara@mail.acme.example",
    "risk-assessment, task-force-of-the-desk-clerks-in-charge, sk-learn",
    "sk" + "-proj-your-project-key-goes-here",
    "sk" + "-ant-" + "x" * 40,
    "gh" + "p_" + "x" * 36,
    "gl" + "pat-your-personal-access-token",
    "AK" + "IAIOSFODNN7" + "EXAMPLE",
    "npm_config_registry_and_npm_lifecycle_event_name_are_set",
    "Authorization: Bearer <token>",
    "Authorization: Bearer authentication is used",
    'f"Authorization: Bearer {token_of_mara}"',
    "postgres://user:${DB_PASSWORD}@host, postgres://user:****@host, postgres://host:5432/db",
    "https://registry.acme.example:8443/@acme/storefront",
    "ssh://git@github.com:22/acme/storefront",
    f"Keys begin with {DASHES}BEGIN {KEY}{DASHES}, don't they?",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + made(43) + " mara@laptop",
    "age1" + made(58, "qpzry9x8gf2tvdw0s3jn54khce6mua7l"),
    "密码在保险库里,令牌每小时更新一次。🙂",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert without_secrets(text) == (text, ())


def test_an_unclosed_private_key_goes_on_to_the_end() -> None:
    assert without_secrets("a " + pem(end=False) + "b")[0] == "a [removed: private key]"


def test_what_stands_between_two_closed_keys_stays() -> None:
    text = f"{pem()} and {pem('EC ')} end"
    assert without_secrets(text) == (
        "[removed: private key] and [removed: private key] end",
        ("private key",),
    )


def test_overlapping_finds_are_one_named_by_the_most_telling() -> None:
    github = "gh" + "p_" + made(36)
    text = f"Authorization: Bearer {github}, TOKEN={github}, https://x:{github}@github.com"
    removed = "[removed: GitHub token]"
    shown = f"Authorization: Bearer {removed}, TOKEN={removed}, https://x:{removed}@github.com"
    assert without_secrets(text, [github]) == (shown, ("GitHub token",))


def test_kinds_come_in_order_and_once() -> None:
    npm, pat = "np" + "m_" + made(36), "gl" + "pat-" + made(20)
    assert without_secrets(f"{npm} {pat} {npm}")[1] == ("npm token", "GitLab token")


PLAIN = "Blau/Wal+7 ü?"
"""A value with every difficulty: a blank, signs that URLs and base64 write in two ways."""


@pytest.mark.parametrize(
    "said",
    [
        PLAIN,
        " ".join(PLAIN),
        "\n".join(PLAIN),
        "\u200b".join(PLAIN),
        quote(PLAIN),
        quote_plus(PLAIN),
        quote(PLAIN, safe="").replace("%C3%BC%3F", "%c3%bc%3f"),
        "".join(f"%{byte:02X}" for byte in PLAIN.encode()),
        PLAIN.encode().hex(),
        PLAIN.encode().hex(" ").upper(),
    ],
)
def test_known_values_in_other_clothes(said: str) -> None:
    removed = f"It is >[removed: {KNOWN}]<."
    assert without_secrets(f"It is >{said}<.", [PLAIN]) == (removed, (KNOWN,))


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "mara:"])
@pytest.mark.parametrize("after", ["", "\n", ":x", "xyz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_known_values_in_base64(before: str, after: str, encode: object) -> None:
    assert callable(encode)
    known = "??>>~~8a"
    text = encode((before + known + after).encode()).decode()
    shown, kinds = without_secrets(f"({text})", [known])
    assert kinds == (KNOWN,)
    left = shown.replace(f"[removed: {KNOWN}]", "")
    assert len(left) <= 2 + (len(before) + len(after)) * 4 / 3 + 4


def test_known_values_that_are_too_short_or_long() -> None:
    assert without_secrets("blue whale", ["whale", "a b c d e", ""]) == ("blue whale", ())
    long = made(4000, LETTERS + "+/")
    assert without_secrets(f"<{long}>", [long])[0] == f"<[removed: {KNOWN}]>"


def test_entropy() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abab") == pytest.approx(1)
    assert entropy("0123456789abcdef") == pytest.approx(4)


@pytest.mark.parametrize(
    "unit",
    [
        *("-", "=", "sk-", "eyJ", "eyJaaaaaaaa.", "token=", "token='", "a://a:", "AKIA", "\u200b"),
        *("ghp_" + "a" * 20 + "-", "aws secret ", "twilio ", "authorization: bearer ", "--token "),
        *(f"{DASHES}BEGIN {KEY}{DASHES}", "xoxb-", "SG.", "\\n", "password = "),
    ],
)
def test_a_megabyte_of_hostile_text_is_scanned(unit: str) -> None:
    token = "gh" + "p_" + made(36)
    text = unit * (1_000_000 // len(unit)) + " " + token
    assert token not in without_secrets(text, ["averylongvalue"])[0]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.one_of(st.text(max_size=20), st.sampled_from([*"=:\"'` \n", "token", "://"]))),
    st.sampled_from(FORMATS),
)
@example(["\ud800", "\r\n"], FORMATS[0])
def test_whatever_stands_around_a_token_it_goes(parts: list[str], found: tuple[str, str]) -> None:
    around = "".join(parts)
    text = f"{around} {found[1]} {around}"
    secrets = find_secrets(text)
    assert found[1] not in without_secrets(text)[0]
    assert all(0 <= one.start < one.end <= len(text) for one in secrets)
    assert all(one.end <= two.start for one, two in itertools.pairwise(secrets))
