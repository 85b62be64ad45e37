import { defaultPatienceHours } from '../domain/contracts/patience.ts'
import { queues } from '../domain/contracts/queues.ts'
import { noPrices, parseModelPrices } from '../domain/model-prices.ts'
import { type Reader, createReader } from './settings-reader.ts'

/**
 * Every setting of the service, read once from the environment. Throws one `SettingsError` that
 * names all wrong or missing variables; `warnings` are for the log. `.env.example` documents each variable.
 */
export function loadSettings(env: NodeJS.ProcessEnv) {
  const read = createReader(env)
  const settings = {
    ...serverSettings(read),
    ...edgeSettings(read),
    ...rateLimitSettings(read),
    ...storeSettings(read),
    ...tokenSettings(read),
    ...retentionSettings(read),
    ...identitySettings(read),
    ...modelSettings(read),
    ...integrationSettings(read),
  }
  return { ...settings, warnings: read.finish() }
}

export type Settings = ReturnType<typeof loadSettings>

function serverSettings(read: Reader) {
  const port = read.integer('PORT', { fallback: 8100, min: 0, max: 65535 })
  const baseUrl = read.url('BASE_URL', { fallback: `http://127.0.0.1:${port}` })
  return {
    port,
    host: read.text('HOST', { fallback: '127.0.0.1' }),
    baseUrl,
    /** A second server in `/openapi.json`. */
    stagingUrl: read.url('STAGING_URL', { fallback: 'https://staging.example.com' }),
    frontendUrl: read.url('FRONTEND_URL', { fallback: baseUrl }),
    /** Links in the console, visible to everybody who opens it. */
    mailboxUrl: read.optionalUrl('MAILBOX_URL'),
    temporalUiUrl: read.optionalUrl('TEMPORAL_UI_URL'),
    corsOrigins: read.origins('CORS_ORIGINS'),
    logLevel: read.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    dataDir: read.text('DATA_DIR', { fallback: '.data' }),
    otlpEndpoint: read.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT'),
    /** The port of metrics and health checks; without it nothing is measured. */
    metricsPort: read.optionalInteger('METRICS_PORT', { min: 0, max: 65535 }),
    metricsHost: read.text('METRICS_HOST', { fallback: '127.0.0.1' }),
    metricsToken: read.optionalSecret('METRICS_TOKEN'),
    /** When orphans are removed: a cron expression in UTC, such as `0 3 * * *`. Default: never. */
    orphanSweepCron: read.optionalCron('ORPHAN_SWEEP_CRON'),
    /** How long a request waits for the deletion that it started; after that it answers 202. */
    deletionWaitSeconds: read.integer('DELETION_WAIT_SECONDS', { fallback: 20, min: 0, max: 600 }),
    /** How long a request waits for MongoDB, Redis or Temporal when the server is unreachable. */
    dependencyTimeoutSeconds: read.integer('DEPENDENCY_TIMEOUT_SECONDS', { fallback: 4, min: 1, max: 300 }),
    /** How long a process that starts waits for the migration job to bring the database to its version. */
    schemaWaitSeconds: read.integer('SCHEMA_WAIT_SECONDS', { fallback: 0, min: 0, max: 86_400 }),
    shutdownGraceSeconds: read.integer('SHUTDOWN_GRACE_SECONDS', { fallback: 30, min: 0, max: 3600 }),
    workerQueues: read.list('WORKER_QUEUES', [...queues]),
    /** API processes execute the steps of the runs that they accept. */
    runsInApi: read.boolean('RUNS_IN_API', false),
    /** Maximum number of concurrent model steps in one process. */
    modelStepsAtOnce: read.integer('MODEL_STEPS_AT_ONCE', { fallback: 500, min: 1, max: 10_000 }),
    /**
     * Workflow task timeout of runs: after it, a dead worker's run goes to another worker. While a model step is
     * under way, every four fifths of it cost one transaction of the server.
     */
    runTaskTimeoutSeconds: read.integer('RUN_TASK_TIMEOUT_SECONDS', {
      fallback: read.isProduction ? 5 : 2,
      min: 1,
      max: 60,
    }),
    /** Workers answer with the call stacks of waiting workflows, at the price of some processor time. */
    workflowCallStacks: read.boolean('WORKFLOW_CALL_STACKS', false),
    /** How long a workflow task waits for the worker that has the workflow in its cache. */
    stickyQueueSeconds: read.integer('STICKY_QUEUE_SECONDS', { fallback: 1, min: 1, max: 60 }),
    /** Only tests set it: separates the task queues of services that share a Temporal server. */
    taskQueuePrefix: read.text('TASK_QUEUE_PREFIX', { fallback: '' }),
  }
}

/** Limits of requests, connections and streams: docs/limits.md. */
function edgeSettings(read: Reader) {
  const count = (name: string, fallback: number) => read.integer(name, { fallback, min: 1, max: 1_000_000 })
  return {
    trustProxy: read.trustedProxies('TRUST_PROXY'),
    /** For routes with a user's token; other routes have smaller, fixed limits. */
    maxBodyMb: read.integer('MAX_BODY_MB', { fallback: 16, min: 1, max: 1024 }),
    requestTimeoutSeconds: read.integer('REQUEST_TIMEOUT_SECONDS', { fallback: 30, min: 1, max: 3600 }),
    uploadIdleSeconds: read.integer('UPLOAD_IDLE_SECONDS', { fallback: 60, min: 1, max: 3600 }),
    maxConnections: count('MAX_CONNECTIONS', 10_000),
    maxConnectionsPerAddress: count('MAX_CONNECTIONS_PER_ADDRESS', 2000),
    maxUnreadMb: count('MAX_UNREAD_MB', 256),
    unreadSeconds: read.integer('UNREAD_SECONDS', { fallback: 120, min: 1, max: 3600 }),
    maxStreams: count('MAX_STREAMS', 5000),
    maxStreamsPerUser: count('MAX_STREAMS_PER_USER', 500),
    maxStreamsPerAssistant: count('MAX_STREAMS_PER_ASSISTANT', 1000),
    maxStreamsPerClient: count('MAX_STREAMS_PER_CLIENT', 500),
  }
}

/** Rate limits: docs/limits.md. */
function rateLimitSettings(read: Reader) {
  return {
    rateLimitsOn: read.boolean('RATE_LIMITS', read.isProduction),
    rateLimits: {
      accounts_client: read.rates('RATE_LIMIT_ACCOUNTS_CLIENT', '120/1m'),
      signup_client: read.rates('RATE_LIMIT_SIGNUP_CLIENT', '20/1h'),
      login_client: read.rates('RATE_LIMIT_LOGIN_CLIENT', '100/10m'),
      login_address: read.rates('RATE_LIMIT_LOGIN_ADDRESS', '30/15m'),
      forgot_client: read.rates('RATE_LIMIT_FORGOT_CLIENT', '20/1h'),
      resend_client: read.rates('RATE_LIMIT_RESEND_CLIENT', '20/1h'),
      reset_client: read.rates('RATE_LIMIT_RESET_CLIENT', '20/1h'),
      verify_client: read.rates('RATE_LIMIT_VERIFY_CLIENT', '60/1h'),
      verify_address: read.rates('RATE_LIMIT_VERIFY_ADDRESS', '20/1h'),
      mails_address: read.rates('RATE_LIMIT_MAILS_ADDRESS', '5/1h,20/1d'),
      password_user: read.rates('RATE_LIMIT_PASSWORD_USER', '20/1h'),
      admin_client: read.rates('RATE_LIMIT_ADMIN_CLIENT', '60/1m'),
      anonymous_client: read.rates('RATE_LIMIT_ANONYMOUS_CLIENT', '300/1m'),
      pages_client: read.rates('RATE_LIMIT_PAGES_CLIENT', '3000/1m'),
      probes_client: read.rates('RATE_LIMIT_PROBES_CLIENT', '1200/1m'),
      /** Wrong admin tokens; applies even when the other limits are off. */
      admin_guesses: read.rates('RATE_LIMIT_ADMIN_GUESSES', '100/15m'),
      public_client: read.rates('RATE_LIMIT_PUBLIC_CLIENT', '300/1m'),
      public_runs_client: read.rates('RATE_LIMIT_PUBLIC_RUNS_CLIENT', '60/1m'),
      public_runs_token: read.rates('RATE_LIMIT_PUBLIC_RUNS_TOKEN', '120/1m'),
      public_runs_assistant: read.rates('RATE_LIMIT_PUBLIC_RUNS_ASSISTANT', '300/1m'),
      imports_user: read.rates('RATE_LIMIT_IMPORTS_USER', '20/1h'),
      runs_user: read.rates('RATE_LIMIT_RUNS_USER', '120/1m'),
      checkout_user: read.rates('RATE_LIMIT_CHECKOUT_USER', '20/1h'),
      checkout_reads_user: read.rates('RATE_LIMIT_CHECKOUT_READS_USER', '60/1m'),
    },
  }
}

function storeSettings(read: Reader) {
  return {
    mongodbUri: read.text('MONGODB_URI', { fallback: 'mongodb://127.0.0.1:27017/assistants' }),
    mongodbTls: read.tls('MONGODB_TLS'),
    redisUrl: read.text('REDIS_URL', { fallback: 'redis://127.0.0.1:6379' }),
    redisTls: read.tls('REDIS_TLS'),
    temporalAddress: read.text('TEMPORAL_ADDRESS', { fallback: '127.0.0.1:7233' }),
    temporalNamespace: read.text('TEMPORAL_NAMESPACE', { fallback: 'default' }),
    temporalTls: read.boolean('TEMPORAL_TLS', false),
    temporalTlsFiles: read.tls('TEMPORAL_TLS'),
    /** The name in the server's certificate, if it differs from the address. */
    temporalTlsServerName: read.optionalText('TEMPORAL_TLS_SERVER_NAME'),
    temporalApiKey: read.optionalText('TEMPORAL_API_KEY'),
    /** Deployment and build of this process's workers; without it they are not versioned. */
    workerVersion: read.optionalPair('TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'),
    temporalCodecKey: read.optionalKey('TEMPORAL_CODEC_KEY', 32),
    /** Earlier values of TEMPORAL_CODEC_KEY: histories that they encrypted can still be read. */
    temporalCodecKeyPrevious: read.keys('TEMPORAL_CODEC_KEY_PREVIOUS', 32),
    /** Token of the codec endpoint; default: derived from the key. */
    temporalCodecToken: read.optionalSecret('TEMPORAL_CODEC_TOKEN'),
    /** Origins that may call the codec endpoint: the Temporal UI. */
    temporalUiOrigins: read.origins('TEMPORAL_UI_ORIGINS'),
    vectorStore: read.oneOf('VECTOR_STORE', ['lancedb', 'pinecone', 'qdrant'], 'lancedb'),
    lancedbUri: read.optionalText('LANCEDB_URI'),
    pineconeApiKey: read.optionalText('PINECONE_API_KEY'),
    pineconeIndex: read.optionalText('PINECONE_INDEX'),
    pineconeHost: read.optionalUrl('PINECONE_HOST'),
    qdrantUrl: read.optionalUrl('QDRANT_URL'),
    qdrantApiKey: read.optionalText('QDRANT_API_KEY'),
    qdrantCollection: read.text('QDRANT_COLLECTION', { fallback: 'assistants' }),
    /** Encrypts secrets of users; other keys, such as that of verification codes, are derived from it. */
    secretsKey: read.key('SECRETS_KEY', 32),
    /** Earlier values of SECRETS_KEY: what they encrypted can still be read. */
    secretsKeyPrevious: read.keys('SECRETS_KEY_PREVIOUS', 32),
  }
}

function tokenSettings(read: Reader) {
  const issuer = read.text('JWT_ISSUER', { fallback: 'assistant-platform' })
  return {
    jwtAlgorithms: read.algorithms('JWT_ALGORITHM', ['HS256']),
    jwtIssuer: issuer,
    jwtAudience: read.text('JWT_AUDIENCE', { fallback: issuer }),
    jwtSecret: read.secret('JWT_SECRET', 16),
    jwtDecodeKeyBase64: read.optionalDecodeKey('JWT_DECODE_KEY_BASE64'),
    adminToken: read.optionalSecret('ADMIN_TOKEN'),
    /** Maximum total size of a user's files. */
    storageMaxMb: read.optionalInteger('STORAGE_MAX_MB', { min: 1, max: 1_000_000_000 }),
    /** Maximum size of an archive that a user imports, packed and unpacked. */
    importMaxMb: read.integer('IMPORT_MAX_MB', { fallback: 10_240, min: 1, max: 1_000_000 }),
    /** What one user may import on a day (UTC), unpacked. */
    importDayMaxMb: read.integer('IMPORT_DAY_MAX_MB', { fallback: 30_720, min: 1, max: 10_000_000 }),
    /** Archives that one process sends at once, and that it reads at once. */
    archivesAtOnce: read.integer('ARCHIVES_AT_ONCE', { fallback: 8, min: 1, max: 1000 }),
    threadMaxDefault: read.integer('THREAD_MAX_DEFAULT', { fallback: 100, min: 0, max: 1_000_000_000 }),
  }
}

/** How long data is kept: docs/retention.md. */
function retentionSettings(read: Reader) {
  const days = (name: string) => read.optionalInteger(name, { min: 1, max: 36_500 })
  return {
    retainPublicThreadsDays: days('RETAIN_PUBLIC_THREADS_DAYS'),
    retainPendingAccountsDays: days('RETAIN_PENDING_ACCOUNTS_DAYS'),
    retainWaitingRunsDays: days('RETAIN_WAITING_RUNS_DAYS'),
    runStreamHours: read.integer('RUN_STREAM_HOURS', { fallback: 24, min: 1, max: 720 }),
    auditKeepDays: read.integer('AUDIT_KEEP_DAYS', { fallback: 365, min: 1, max: 3650 }),
  }
}

function identitySettings(read: Reader) {
  return {
    smtpUrl: read.optionalText('SMTP_URL'),
    mailFrom: read.text('MAIL_FROM', { fallback: 'Assistant Platform <no-reply@localhost>' }),
    oauthIssuer: read.optionalIssuer('OAUTH_ISSUER'),
    oauthClientId: read.optionalText('OAUTH_CLIENT_ID'),
    oauthClientSecret: read.optionalText('OAUTH_CLIENT_SECRET'),
    userpoolId: read.optionalText('USERPOOL_ID'),
    userpoolClientId: read.optionalText('USERPOOL_CLIENT_ID'),
    userpoolRegion: read.text('USERPOOL_REGION', { fallback: 'us-east-1' }),
    userpoolIssuer: read.optionalIssuer('USERPOOL_ISSUER'),
    exchangeTokenIssuer: read.optionalText('EXCHANGE_TOKEN_ISSUER'),
    exchangeTokenAudience: read.optionalText('EXCHANGE_TOKEN_AUDIENCE'),
    exchangePrivateKey: read.optionalText('EXCHANGE_PRIVATE_KEY'),
  }
}

/** For servers without a key, such as Ollama and vLLM, because the client library requires one. */
const noKey = 'none'

function modelSettings(read: Reader) {
  const openaiBaseUrl = read.optionalUrl('OPENAI_BASE_URL')
  const openaiApiKey = read.optionalText('OPENAI_API_KEY') ?? (openaiBaseUrl === undefined ? undefined : noKey)
  return {
    openaiApiKey,
    openaiBaseUrl,
    /** What models cost, for budgets and usage. */
    modelPrices: read.parsed(
      'MODEL_PRICES',
      noPrices,
      parseModelPrices,
      'JSON such as {"currency":"usd","models":{"gpt-4o-mini":{"input":0.15,"output":0.6}}}',
    ),
    /** Several model servers: docs/models.md. */
    providers: read.providers('MODELS'),
    defaultModel: read.text('DEFAULT_MODEL', { fallback: 'gpt-4o-mini' }),
    /** Context window of models that are not known by name. */
    modelContextTokens: read.integer('MODEL_CONTEXT_TOKENS', { fallback: 128_000, min: 256, max: 100_000_000 }),
    /** A request to a model server fails after this time without a byte. */
    modelSilenceSeconds: read.integer('MODEL_SILENCE_SECONDS', { fallback: 120, min: 1, max: 3600 }),
    /** Time limit of a run, including retries and tools; time spent waiting for a person is not counted. */
    runMaxMinutes: read.integer('RUN_MAX_MINUTES', { fallback: 30, min: 1, max: 24 * 60 }),
    embedding: embeddingSettings(read, { openaiApiKey, openaiBaseUrl }),
    /** Limits for reading one uploaded file, in a separate process. */
    extractMemoryMb: read.integer('EXTRACT_MEMORY_MB', { fallback: 1024, min: 128, max: 65_536 }),
    extractTimeoutSeconds: read.integer('EXTRACT_TIMEOUT_SECONDS', { fallback: 300, min: 1, max: 86_400 }),
    /** How long files wait in total for stores and model servers that are away. */
    ingestionWaitHours: read.integer('INGESTION_WAIT_HOURS', {
      fallback: defaultPatienceHours,
      min: 1,
      max: 8760,
    }),
    extractCpuSeconds: read.integer('EXTRACT_CPU_SECONDS', { fallback: 30, min: 1, max: 86_400 }),
    extractConcurrency: read.integer('EXTRACT_CONCURRENCY', { fallback: 3, min: 1, max: 64 }),
  }
}

/** The server of the embedding model: by default that of the answers. Its key is sent to no other server. */
function embeddingSettings(
  read: Reader,
  answers: { openaiApiKey: string | undefined; openaiBaseUrl: string | undefined },
) {
  const ownUrl = read.optionalUrl('EMBEDDING_BASE_URL')
  const ownKey = read.optionalText('EMBEDDING_API_KEY')
  return {
    baseUrl: ownUrl ?? answers.openaiBaseUrl,
    /** Undefined: no embedding model is configured. */
    apiKey: ownKey ?? (ownUrl === undefined ? answers.openaiApiKey : noKey),
    /** The settings that errors name. */
    names: {
      baseUrl: ownUrl === undefined ? 'OPENAI_BASE_URL' : 'EMBEDDING_BASE_URL',
      apiKey: ownKey === undefined && ownUrl === undefined ? 'OPENAI_API_KEY' : 'EMBEDDING_API_KEY',
    },
    model: read.text('EMBEDDING_MODEL', { fallback: 'text-embedding-3-small' }),
    dimensions: read.integer('EMBEDDING_DIMENSIONS', { fallback: 1536, min: 1, max: 8192 }),
  }
}

function integrationSettings(read: Reader) {
  return {
    langsmithApiKey: read.optionalText('LANGSMITH_API_KEY'),
    langsmithEndpoint: read.optionalUrl('LANGSMITH_ENDPOINT'),
    stripeSecretKey: read.optionalText('STRIPE_SECRET_KEY'),
    stripeWebhookSecret: read.optionalText('STRIPE_WEBHOOK_SECRET'),
    stripeApiBase: read.optionalUrl('STRIPE_API_BASE'),
    searchProvider: read.optionalOneOf('SEARCH_PROVIDER', ['searxng', 'tavily']),
    searchUrl: read.optionalUrl('SEARCH_URL'),
    searchApiKey: read.optionalText('SEARCH_API_KEY'),
    outboundAllow: read.hostsAndRanges('OUTBOUND_ALLOW'),
  }
}
