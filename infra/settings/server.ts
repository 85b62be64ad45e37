import { queues } from '../../domain/contracts/queues.ts'
import { defaultProductName } from '../../domain/product.ts'
import { color, cron, integer, list, onOff, oneOf, origins, readBy, secret, text, url } from './kinds.ts'

export const serverSettings = {
  nodeEnv: text(
    'NODE_ENV',
    'With `production` the service refuses to start with weak secrets, and limits rates; the image sets it.',
  ),
  ...readBy('API', {
    port: integer('PORT', [0, 65_535], 'Port of the API; 0 takes a free one.', { default: 8100 }),
    host: text('HOST', 'Address that the API listens on; in a container 0.0.0.0.', { default: '127.0.0.1' }),
    baseUrl: url('BASE_URL', 'Address by which clients reach the service.', { defaultText: 'http://127.0.0.1:{PORT}' }),
    stagingUrl: url('STAGING_URL', 'Address of a staging service, listed in `/openapi.json`.', {
      default: 'https://staging.example.com',
    }),
    mailboxUrl: url(
      'MAILBOX_URL',
      'Link in the console to a local mail receiver, which `npm start` sets; everybody sees it.',
    ),
    temporalUiUrl: url(
      'TEMPORAL_UI_URL',
      'Link in the console to the Temporal UI, which `npm start` sets; everybody sees it.',
    ),
    corsOrigins: origins(
      'CORS_ORIGINS',
      'Origins whose pages may call the API with credentials, such as `https://app.example.com`; no wildcard.',
      { default: [] },
    ),
    deletionWaitSeconds: integer(
      'DELETION_WAIT_SECONDS',
      [0, 600],
      'How long a DELETE request waits for its deletion; after that it answers 202.',
      { default: 20 },
    ),
    runsInApi: onOff(
      'RUNS_IN_API',
      'API processes execute the steps of the runs that they accept (docs/operations.md); `npm start` sets true.',
      { default: false },
    ),
  }),
  ...readBy('worker', {
    orphanSweepCron: cron(
      'ORPHAN_SWEEP_CRON',
      'When records whose owner is gone are removed: five cron fields in UTC, such as `0 3 * * *`.',
      { defaultText: 'never' },
    ),
    workerQueues: list('WORKER_QUEUES', 'Task queues that a worker serves.', { default: [...queues] }),
  }),
  productName: text('PRODUCT_NAME', 'Name of the product, on the pages and in mails.', {
    defaultText: defaultProductName,
  }),
  ...readBy('API', {
    productColor: color('PRODUCT_COLOR', 'Colour of the product on the pages, such as `#0f766e`.', {
      defaultText: 'blue',
    }),
    productLogo: text('PRODUCT_LOGO', 'Path of its logo, a square picture (.svg, .png or .webp) that the API serves.', {
      defaultText: 'a speech bubble',
    }),
  }),
  frontendUrl: url('FRONTEND_URL', 'Address of the web front end, to which social login and reset mails lead.', {
    defaultText: 'BASE_URL, with the console',
  }),
  logLevel: oneOf(
    'LOG_LEVEL',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'Least level of log lines: fatal, error, warn, info, debug, trace or silent.',
    { default: 'info' },
  ),
  dataDir: text('DATA_DIR', 'Folder for the data of local servers and of the embedded vector store.', {
    default: '.data',
  }),
  otlpEndpoint: url('OTEL_EXPORTER_OTLP_ENDPOINT', 'OpenTelemetry collector that receives traces (OTLP over HTTP).', {
    defaultText: 'no traces',
  }),
  metricsPort: integer(
    'METRICS_PORT',
    [0, 65_535],
    'Port of each process for Prometheus and health checks (docs/metrics.md); 0 takes a free one. In the image 9464.',
    { defaultText: 'no metrics' },
  ),
  metricsHost: text('METRICS_HOST', 'Address that METRICS_PORT listens on; in the image 0.0.0.0.', {
    default: '127.0.0.1',
  }),
  metricsToken: secret('METRICS_TOKEN', 'Bearer token for `/metrics`; in production at least 32 characters.', {
    defaultText: 'no token needed',
  }),
  shutdownGraceSeconds: integer(
    'SHUTDOWN_GRACE_SECONDS',
    [0, 3600],
    'How long open streams may continue after a process was told to stop.',
    { default: 30 },
  ),
  dependencyTimeoutSeconds: integer(
    'DEPENDENCY_TIMEOUT_SECONDS',
    [1, 300],
    'How long a request waits for MongoDB, Redis or Temporal when the server is unreachable (not when it is slow).',
    { default: 4 },
  ),
  schemaWaitSeconds: integer(
    'SCHEMA_WAIT_SECONDS',
    [0, 86_400],
    'How long a process that starts waits for `npm run migrate` when the database is behind its version.',
    { default: 0 },
  ),
  modelStepsAtOnce: integer('MODEL_STEPS_AT_ONCE', [1, 10_000], 'Model steps that one process executes at once.', {
    default: 500,
  }),
  workflowCallStacks: onOff(
    'WORKFLOW_CALL_STACKS',
    'The page "Call Stack" of the Temporal UI shows waiting workflows, at the price of a tenth of the processor time.',
    { default: false },
  ),
  taskQueuePrefix: text(
    'TASK_QUEUE_PREFIX',
    "Prefix of the task queues' names, for services that share a Temporal namespace.",
    { default: '' },
  ),
}
