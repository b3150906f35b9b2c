"""The pages: they show what there is, keep the rules, and other websites stay out."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from app.playground.markdown import render
from tests.playground.conftest import REPO, Running

PAGE = f"/{REPO}/issues/1"


@pytest.fixture
def browser(playground: Running) -> Iterator[httpx.Client]:
    headers = {"Origin": playground.url, "Sec-Fetch-Site": "same-origin"}
    with httpx.Client(
        base_url=playground.url, headers=headers, follow_redirects=True, timeout=20
    ) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/", REPO),
        (f"/{REPO}", "A small web shop"),
        (f"/{REPO}/tree/main/src/storefront", "orders.py"),
        (f"/{REPO}/blob/main/src/storefront/orders.py", "def orders_of"),
        (f"/{REPO}/blob/main/README.md", "<table>"),
        (f"/{REPO}/blob/main/README.md?plain=1", "| module |"),
        (f"/{REPO}/raw/main/README.md", "# storefront"),
        (f"/{REPO}/commits/main", "Start the project"),
        (f"/{REPO}/commit/main", "Start the project"),
        (f"/{REPO}/issues", "Let customers export"),
        (f"/{REPO}/issues/new", "Create issue"),
        (PAGE, 'type="checkbox"'),
        (f"/{REPO}/pulls", "Nothing here"),
        ("/settings/deliveries", "Nothing has been sent yet"),
    ],
)
def test_each_page(browser: httpx.Client, path: str, text: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 200
    assert text in answer.text


def test_a_thread_from_the_browser(browser: httpx.Client, playground: Running) -> None:
    browser.post("/session", data={"login": "mara", "back": PAGE})
    browser.post(PAGE, data={"deed": "label", "name": "feature"})
    browser.post(PAGE, data={"deed": "comment", "body": "Fine\r\nby me"})
    (comment,) = playground.client.comments(REPO, 1)
    assert (comment["user"]["login"], comment["body"]) == ("mara", "Fine\nby me")
    target = {"comment": str(comment["id"])}
    browser.post(PAGE, data={**target, "deed": "react", "content": "rocket"})
    browser.post(PAGE, data={**target, "deed": "edit", "body": "Better"})
    page = browser.get(PAGE + "/fragment")
    assert all(word in page.text for word in ("🚀", "Better", "edited", "added the label"))
    again = browser.get(PAGE + "/fragment", headers={"If-None-Match": page.headers["ETag"]})
    assert again.status_code == 304
    browser.post(PAGE, data={"deed": "comment", "body": "", "also": "closed"})
    assert playground.client.issue(REPO, 1)["state"] == "closed"


def test_a_reader_may_not_label_or_close(browser: httpx.Client, playground: Running) -> None:
    browser.post("/session", data={"login": "ravi"})
    assert "Change labels" not in browser.get(PAGE).text
    assert browser.post(PAGE, data={"deed": "label", "name": "feature"}).status_code == 403
    assert playground.client.issue(REPO, 1)["labels"] == []


def test_open_an_issue_and_look_at_its_delivery(browser: httpx.Client, playground: Running) -> None:
    answer = browser.post(f"/{REPO}/issues", data={"title": "New", "body": "b", "label": "bug"})
    assert answer.url.path == f"/{REPO}/issues/3"
    playground.client.settle()
    page = browser.get("/settings/deliveries").text
    assert "issues.opened" in page
    assert "Stored, thank you." in page
    newest = str(playground.client.deliveries()[0]["id"])
    browser.post("/settings/deliveries", data={"id": newest})
    playground.client.settle()
    assert playground.client.deliveries()[0]["redelivery"]


def test_a_pull_request(browser: httpx.Client, playground: Running) -> None:
    head = playground.client.call("GET", f"/repos/{REPO}/git/ref/heads/main")["object"]["sha"]
    data = {"ref": "refs/heads/topic/one", "sha": head}
    playground.client.call("POST", f"/repos/{REPO}/git/refs", json=data)
    data = {"message": "Change", "content": "eA==", "branch": "topic/one"}
    playground.client.call("PUT", f"/repos/{REPO}/contents/x.txt", json=data)
    head = playground.client.call("GET", f"/repos/{REPO}/commits/topic/one")["sha"]
    data = {"name": "baron/scope", "head_sha": head, "conclusion": "failure"}
    assert playground.as_bot("POST", "/check-runs", json=data).status_code == 201
    data = {"title": "Pull", "head": "topic/one", "base": "main"}
    playground.client.call("POST", f"/repos/{REPO}/pulls", json=data)
    for tab, text in (
        ("", "topic/one"),
        ("/commits", "Change"),
        ("/checks", "baron/scope"),
        ("/files", "x.txt"),
    ):
        assert text in browser.get(f"/{REPO}/pull/3{tab}").text
    assert browser.get(f"/{REPO}/issues/3").url.path == f"/{REPO}/pull/3"
    assert "x.txt" in browser.get(f"/{REPO}/tree/topic/one").text
    assert "Merged" in browser.post(f"/{REPO}/pull/3/merge").text


def test_other_websites_stay_out(playground: Running) -> None:
    data = {"deed": "comment", "body": "from elsewhere"}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
    ):
        assert httpx.post(playground.url + PAGE, data=data, headers=headers).status_code == 403
        url = f"{playground.url}/_playground/reset"
        assert httpx.post(url, headers=headers).status_code == 403
    assert playground.client.comments(REPO, 1) == []


def test_the_way_back_stays_here(browser: httpx.Client) -> None:
    for target in ("http://evil.example/", "//evil.example/", "/\\evil.example"):
        answer = browser.post("/session", data={"back": target}, follow_redirects=False)
        assert answer.headers["Location"] == "/"


@pytest.mark.parametrize(
    ("text", "shown", "hidden"),
    [
        ("<script>alert(1)</script>", "", "script"),
        ("<img src=x onerror=alert(1)>", "<img>", "onerror"),
        ("[x](javascript:alert(1))", "", "<a href"),
        ("<!-- kr {} -->\nText", "Text", "kr"),
        ("~~no~~", "<s>no</s>", "~"),
        ("- [x] done", 'type="checkbox"', "[x]"),
        ("ask @ada-b now", '<span class="mention">@ada-b</span>', "\0"),
        ("`@ada` a@b.c", "<code>@ada</code>", "mention"),
        ("<details><summary>More</summary>\n\n**b**\n\n</details>", "<strong>b</strong>", "&lt;"),
    ],
)
def test_markdown(text: str, shown: str, hidden: str) -> None:
    html = render(text)
    assert shown in html
    assert hidden not in html
