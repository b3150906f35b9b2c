"""A GitHub in a box: REST, signed webhooks, git over HTTP and pages in the browser.

`create_playground` in `server` makes the application; `python -m app.playground` runs it;
`client.PlaygroundClient` acts in it as a person. It is used by `kr demo` and by the tests.
"""
