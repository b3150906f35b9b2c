# docker build -t knowledge-router . && docker run -p 8000:8000 -v kr:/data knowledge-router
FROM python:3.11-slim-bookworm AS build
WORKDIR /srv/knowledge-router

# dependencies first: they change less often than the code
COPY .ci/install .ci/requirements.txt .ci/
COPY pyproject.toml README.md LICENSE ./
COPY app/__init__.py app/
RUN python -m venv .venv && .ci/install .venv .ci/requirements.txt

COPY app/ app/
COPY workers/ workers/
COPY action/ action/
COPY configs/ configs/
RUN .ci/install .venv && .venv/bin/python -m compileall -q app workers action


FROM python:3.11-slim-bookworm
# git for tasks and large pull requests, bubblewrap for the sandbox that tasks run in; the newest
# ones of the distribution, as both are walls
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends bubblewrap git \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --system --create-home --uid 10001 kr && install --directory --owner=kr --mode=0700 /data
COPY --from=build /srv/knowledge-router /srv/knowledge-router

ENV PATH=/srv/knowledge-router/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    KR_HOST=0.0.0.0 \
    KR_PORT=8000 \
    KR_DATA_DIR=/data \
    KR_CONFIG_DIR=/srv/knowledge-router/configs
WORKDIR /srv/knowledge-router
USER 10001
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"KR_PORT\"]}/healthz', timeout=4)"]

CMD ["kr", "up"]
