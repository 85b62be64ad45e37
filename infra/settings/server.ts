import { queues } from '../../domain/contracts/workflow-contract.ts'
import { defaultProductName } from '../../domain/product.ts'
import { color, cron, integer, list, onOff, oneOf, origins, readBy, secret, text, url } from './kinds.ts'

export const serverSettings = {
  nodeEnv: text('NODE_ENV', '`production` (set in the image) refuses weak secrets and limits rates.'),
  ...readBy('API', {
    port: integer('PORT', [0, 65_535], 'Port; 0 takes a free one.', { default: 8100 }),
    host: text('HOST', 'Address to listen on; in a container 0.0.0.0.', { default: '127.0.0.1' }),
    baseUrl: url('BASE_URL', 'Address of the service for clients.', { defaultText: 'http://127.0.0.1:{PORT}' }),
    stagingUrl: url('STAGING_URL', 'A second server in `/openapi.json`.', {
      default: 'https://staging.example.com',
    }),
    mailboxUrl: url('MAILBOX_URL', 'Public link to a mail receiver; set by `npm start`.'),
    localPage: onOff(
      'LOCAL_PAGE',
      'Pages in a browser of the same user on this machine may operate the service; set by `npm start`.',
      {
        default: false,
      },
    ),
    temporalUiUrl: url('TEMPORAL_UI_URL', 'Public link to the Temporal UI; set by `npm start`.'),
    corsOrigins: origins('CORS_ORIGINS', 'Origins that may call the API, such as `https://app.example.com`.', {
      default: [],
    }),
    deletionWaitSeconds: integer('DELETION_WAIT_SECONDS', [0, 600], 'A DELETE waits so long before it answers 202.', {
      default: 20,
    }),
    runsInApi: onOff('RUNS_IN_API', 'API processes execute steps, too; `npm start` sets true.', { default: false }),
  }),
  ...readBy('worker', {
    orphanSweepCron: cron('ORPHAN_SWEEP_CRON', 'When orphans are removed, such as `0 3 * * *` (UTC).', {
      defaultText: 'never',
    }),
    workerQueues: list('WORKER_QUEUES', 'Task queues to serve.', { default: [...queues] }),
  }),
  productName: text('PRODUCT_NAME', 'Name on pages and in mails.', {
    defaultText: defaultProductName,
  }),
  ...readBy('API', {
    productColor: color('PRODUCT_COLOR', 'Its colour, such as `#0f766e`.', {
      defaultText: 'blue',
    }),
    productLogo: text('PRODUCT_LOGO', 'Path of its square logo (.svg, .png, .webp).', {
      defaultText: 'a speech bubble',
    }),
  }),
  frontendUrl: url('FRONTEND_URL', 'Where social login and mails lead.', {
    defaultText: 'BASE_URL, with the console',
  }),
  logLevel: oneOf(
    'LOG_LEVEL',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'fatal, error, warn, info, debug, trace or silent.',
    { default: 'info' },
  ),
  dataDir: text('DATA_DIR', 'Folder of local servers and of LanceDB.', {
    default: '.data',
  }),
  otlpEndpoint: url('OTEL_EXPORTER_OTLP_ENDPOINT', 'Collector of traces (OTLP over HTTP).', {
    defaultText: 'no traces',
  }),
  metricsPort: integer(
    'METRICS_PORT',
    [0, 65_535],
    'Port for metrics and health (docs/metrics.md); in the image 9464.',
    { defaultText: 'no metrics' },
  ),
  metricsHost: text('METRICS_HOST', 'Its address; in the image 0.0.0.0.', {
    default: '127.0.0.1',
  }),
  metricsToken: secret('METRICS_TOKEN', 'Token for `/metrics` (32 characters).', {
    defaultText: 'no token needed',
  }),
  shutdownGraceSeconds: integer(
    'SHUTDOWN_GRACE_SECONDS',
    [0, 3600],
    'Streams continue so long while a process stops.',
    { default: 30 },
  ),
  dependencyTimeoutSeconds: integer(
    'DEPENDENCY_TIMEOUT_SECONDS',
    [1, 300],
    'Requests wait so long for a server that is unreachable or silent, and longer for a slow one.',
    { default: 10 },
  ),
  schemaWaitSeconds: integer('SCHEMA_WAIT_SECONDS', [0, 86_400], 'A starting process waits so long for migrations.', {
    default: 0,
  }),
  modelStepsAtOnce: integer('MODEL_STEPS_AT_ONCE', [1, 10_000], 'Model steps of a process.', {
    default: 500,
  }),
  workflowCallStacks: onOff(
    'WORKFLOW_CALL_STACKS',
    'Fills "Call Stack" of the Temporal UI; costs a tenth of the processor time.',
    { default: false },
  ),
  taskQueuePrefix: text('TASK_QUEUE_PREFIX', 'For services that share a namespace.', {
    default: '',
  }),
}
