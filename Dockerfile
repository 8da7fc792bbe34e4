# Wayhound with Chromium, for the portal, the studio and forages: see compose.yaml.
FROM python:3.13-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/wayhound \
 && /opt/wayhound/bin/pip install --no-cache-dir ".[all,cluster]"

FROM python:3.13-slim-bookworm
RUN apt-get update \
 && apt-get install --yes --no-install-recommends chromium fonts-dejavu-core tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 wayhound \
 && install --directory --owner wayhound /data
COPY --from=build /opt/wayhound /opt/wayhound
ENV PATH=/opt/wayhound/bin:$PATH PYTHONUNBUFFERED=1
USER wayhound
WORKDIR /data
VOLUME /data
EXPOSE 8000
# tini reaps the processes of browsers that were killed
ENTRYPOINT ["tini", "--", "wayhound"]
CMD ["--help"]
