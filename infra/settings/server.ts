import { queues } from '../../domain/contracts/queues.ts'
import { defaultProductName } from '../../domain/product.ts'
import { color, cron, integer, list, onOff, oneOf, origins, readBy, secret, text, url } from './kinds.ts'

export const serverSettings = {
  nodeEnv: text('NODE_ENV', '`production` (set in the image) refuses weak secrets and limits rates.'),
  ...readBy('API', {
    port: integer('PORT', [0, 65_535], 'Port; 0 takes a free one.', { default: 8100 }),
    host: text('HOST', 'Address to listen on; in a container 0.0.0.0.', { default: '127.0.0.1' }),
    baseUrl: url('BASE_URL', 'Address of the service for clients.', { defaultText: 'http://127.0.0.1:{PORT}' }),
    stagingUrl: url('STAGING_URL', 'Staging service, listed in `/openapi.json`.', {
      default: 'https://staging.example.com',
    }),
    mailboxUrl: url('MAILBOX_URL', 'Link in the console to a mail receiver; everybody sees it. Set by `npm start`.'),
    temporalUiUrl: url(
      'TEMPORAL_UI_URL',
      'Link in the console to the Temporal UI; everybody sees it. Set by `npm start`.',
    ),
    corsOrigins: origins(
      'CORS_ORIGINS',
      'Origins that may call the API with credentials, such as `https://app.example.com`; no wildcard.',
      { default: [] },
    ),
    deletionWaitSeconds: integer(
      'DELETION_WAIT_SECONDS',
      [0, 600],
      'How long a DELETE waits for its deletion before it answers 202.',
      { default: 20 },
    ),
    runsInApi: onOff(
      'RUNS_IN_API',
      'API processes execute the steps of their runs (docs/operations.md); `npm start` sets true.',
      { default: false },
    ),
  }),
  ...readBy('worker', {
    orphanSweepCron: cron(
      'ORPHAN_SWEEP_CRON',
      'When orphans are removed: five cron fields in UTC, such as `0 3 * * *`.',
      { defaultText: 'never' },
    ),
    workerQueues: list('WORKER_QUEUES', 'Task queues to serve.', { default: [...queues] }),
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
  frontendUrl: url('FRONTEND_URL', 'Front end to which social login and reset mails lead.', {
    defaultText: 'BASE_URL, with the console',
  }),
  logLevel: oneOf(
    'LOG_LEVEL',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'Least level: fatal, error, warn, info, debug, trace or silent.',
    { default: 'info' },
  ),
  dataDir: text('DATA_DIR', 'Folder of local servers and of LanceDB.', {
    default: '.data',
  }),
  otlpEndpoint: url('OTEL_EXPORTER_OTLP_ENDPOINT', 'OpenTelemetry collector for traces (OTLP over HTTP).', {
    defaultText: 'no traces',
  }),
  metricsPort: integer(
    'METRICS_PORT',
    [0, 65_535],
    'Port for Prometheus and health checks (docs/metrics.md); 0 takes a free one; in the image 9464.',
    { defaultText: 'no metrics' },
  ),
  metricsHost: text('METRICS_HOST', 'Its address; in the image 0.0.0.0.', {
    default: '127.0.0.1',
  }),
  metricsToken: secret('METRICS_TOKEN', 'Bearer token for `/metrics`: 32 characters in production.', {
    defaultText: 'no token needed',
  }),
  shutdownGraceSeconds: integer(
    'SHUTDOWN_GRACE_SECONDS',
    [0, 3600],
    'How long streams continue while a process stops.',
    { default: 30 },
  ),
  dependencyTimeoutSeconds: integer(
    'DEPENDENCY_TIMEOUT_SECONDS',
    [1, 300],
    'How long a request waits for an unreachable MongoDB, Redis or Temporal.',
    { default: 4 },
  ),
  schemaWaitSeconds: integer(
    'SCHEMA_WAIT_SECONDS',
    [0, 86_400],
    'How long a starting process waits for `npm run migrate`.',
    { default: 0 },
  ),
  modelStepsAtOnce: integer('MODEL_STEPS_AT_ONCE', [1, 10_000], 'Model steps of one process at once.', {
    default: 500,
  }),
  workflowCallStacks: onOff(
    'WORKFLOW_CALL_STACKS',
    'Fills the page "Call Stack" of the Temporal UI, for a tenth of the processor time.',
    { default: false },
  ),
  taskQueuePrefix: text('TASK_QUEUE_PREFIX', 'Prefix of task queues, for services that share a namespace.', {
    default: '',
  }),
}
