# A server of one model file or several: mount their folder at /models.
#
#     docker build -t skstruct .
#     docker run --read-only --tmpfs /tmp -p 8000:8000 -v "$PWD/models:/models:ro" \
#         -e SKSTRUCT_TOKEN -e NUMBA_CACHE_DIR=/tmp/kernels skstruct /models/enron.model

FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE CHANGELOG.md CITATION.cff ./
COPY src src
COPY papers papers
COPY examples examples
RUN python -m venv /skstruct && /skstruct/bin/pip install --no-cache-dir ".[serve,parquet]"

FROM python:3.13-slim
COPY --from=build /skstruct /skstruct
RUN useradd --system --uid 10001 --create-home --home-dir /home/skstruct skstruct
USER 10001
WORKDIR /home/skstruct
ENV PATH=/skstruct/bin:$PATH PYTHONUNBUFFERED=1
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/ready', timeout=4)"]
# Listens beyond the container, so that a token is wanted: SKSTRUCT_TOKEN or --token-file.
ENTRYPOINT ["skstruct", "serve", "--host", "0.0.0.0", "--port", "8000"]
