# One image for both processes: the API (the default command) and the worker.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts: the native packages come ready built, and the "node" package would fetch a second Node.
RUN npm ci --omit=dev --ignore-scripts

# The console is static files: what builds it stays out of the image.
FROM node:24-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY client ./client
COPY web ./web
RUN node web/build.ts

FROM node:24-bookworm-slim
ENV NODE_ENV=production
# Keeps the memory of the embedded vector store in one piece: see local/steady-memory.ts
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=65536 NODE_OPTIONS="--max-old-space-size=1024 --max-semi-space-size=16"
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json package-lock.json ./
COPY domain ./domain
COPY composition ./composition
COPY services ./services
COPY infra ./infra
COPY workflows ./workflows
COPY activities ./activities
COPY worker ./worker
COPY api ./api
COPY --from=console /app/web/dist ./web/dist
# The workflow code is bundled here, once, so that a worker that comes back after a crash is there at once.
RUN node --input-type=module -e "await (await import('/app/worker/workflow-bundle.ts')).workflowBundle()" \
  && mkdir /data && chown node:node /data
ENV HOST=0.0.0.0 PORT=8100 DATA_DIR=/data
VOLUME /data
EXPOSE 8100
USER node
CMD ["node", "api/server.ts"]
