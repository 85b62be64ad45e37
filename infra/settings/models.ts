import Type from 'typebox'
import type { FoundServer } from '../../domain/model-catalog.ts'
import { type ModelPrices, parseModelPrices } from '../../domain/model-prices.ts'
import { type ProviderSettings, noProviders } from '../../domain/model-providers.ts'
import { searchProviders } from '../../domain/search-account.ts'
import { readFoundServers } from '../model/found-servers.ts'
import { readProviders } from '../model/provider-settings.ts'
import { credential, hostsAndRanges, integer, kind, ocrLanguages, onOff, oneOf, readBy, text, url } from './kinds.ts'

const modelPrices = kind<ModelPrices>(
  'JSON such as {"currency":"usd","models":{"gpt-4o-mini":{"input":0.15,"output":0.6}},"minutes":{"recognition":0.02,"code":0.01,"transcription":0.006,"speech":0.015}}',
  parseModelPrices,
  Type.Unsafe<ModelPrices>(Type.Object({})),
)

const providers = kind<ProviderSettings>(
  'JSON',
  (given, { problem, textOf }) => readProviders(given, { keyOf: textOf, problem }),
  Type.Unsafe<ProviderSettings>({}),
  { isSecret: true },
)

const foundServers = kind<FoundServer[]>(
  'JSON',
  readFoundServers,
  Type.Unsafe<FoundServer[]>(Type.Array(Type.Object({}))),
)

/** docs/models.md */
export const modelSettings = {
  openaiApiKey: credential('OPENAI_API_KEY', 'Key of the model server.', { defaultText: 'none is sent' }),
  openaiBaseUrl: url('OPENAI_BASE_URL', 'OpenAI-compatible server.', { defaultText: "OpenAI's own" }),
  providers: providers('MODELS', 'Several servers as JSON (docs/models.md).', {
    default: noProviders,
    defaultText: 'only OPENAI_BASE_URL',
  }),
  defaultModel: text('DEFAULT_MODEL', 'Model of assistants that name none.', {
    defaultText: 'that of the model page, else gpt-4o-mini',
  }),
  smallModel: text('SMALL_MODEL', 'Model that names chats and suggests questions after answers.', {
    defaultText: 'that of the model page, else none does',
  }),
  modelPrices: modelPrices('MODEL_PRICES', 'Prices as JSON (docs/budgets.md).', {
    defaultText: 'the prices of the model page',
  }),
  foundServers: foundServers('MODEL_SERVERS_FOUND', 'Set by `npm start`.', { default: [], defaultText: 'none' }),
  modelContextTokens: integer(
    'MODEL_CONTEXT_TOKENS',
    [256, 100_000_000],
    'Window of models that are not known by name.',
    { default: 128_000 },
  ),
  modelSilenceSeconds: integer(
    'MODEL_SILENCE_SECONDS',
    [1, 3600],
    'A model that sends nothing for so long has failed.',
    { default: 120 },
  ),
  runMaxMinutes: integer('RUN_MAX_MINUTES', [1, 24 * 60], 'Time limit of a run, without waits for a person.', {
    default: 30,
  }),
  clientCallsExpireSeconds: integer(
    'CLIENT_CALLS_EXPIRE_SECONDS',
    [1, 31_536_000],
    'A run on /v1 waits so long for results of the client.',
    { default: 600 },
  ),
  ...readBy('npm start', {
    demoModel: text('DEMO_MODEL', '`off`: no demo model; runs without a key are 503.', {
      defaultText: 'on without a model key',
    }),
    codePyodidePackages: text(
      'CODE_PYODIDE_PACKAGES',
      "Packages of Pyodide's distribution for code, such as `numpy,pandas,matplotlib`; also an argument of the image's build.",
      { defaultText: 'none' },
    ),
    codePyodideUrl: url('CODE_PYODIDE_URL', 'Folder of the files of that distribution.', {
      defaultText: "Pyodide's own",
    }),
    modelDiscovery: text('MODEL_DISCOVERY', '`off`, or the base URLs where model servers are looked for.', {
      defaultText: 'the usual ports',
    }),
  }),
}

/** docs/knowledge.md */
export const knowledgeSettings = {
  embeddingBaseUrl: url('EMBEDDING_BASE_URL', 'Server for embeddings.', {
    defaultText: 'OPENAI_BASE_URL',
  }),
  embeddingApiKey: credential('EMBEDDING_API_KEY', 'Its key.', {
    defaultText: 'OPENAI_API_KEY, if EMBEDDING_BASE_URL is not set',
  }),
  embeddingModel: text('EMBEDDING_MODEL', 'After a change run `node scripts/reembed.ts`.', {
    default: 'text-embedding-3-small',
  }),
  embeddingDimensions: integer('EMBEDDING_DIMENSIONS', [1, 8192], 'Length of its vectors; after a change, too.', {
    default: 1536,
  }),
  rerankBaseUrl: url('RERANK_BASE_URL', 'Server that puts found passages in order (`POST {base}/rerank`).', {
    defaultText: 'none',
  }),
  rerankApiKey: credential('RERANK_API_KEY', 'Its key.', { defaultText: 'none is sent' }),
  rerankModel: text('RERANK_MODEL', 'Its model.', { defaultText: "the server's own" }),
  ...readBy('API', {
    transcriptionBaseUrl: url('TRANSCRIPTION_BASE_URL', 'Server that writes down what is said (docs/audio.md).', {
      defaultText: 'none',
    }),
    transcriptionApiKey: credential('TRANSCRIPTION_API_KEY', 'Its key.', { defaultText: 'none is sent' }),
    transcriptionModel: text('TRANSCRIPTION_MODEL', 'Its model.', { default: 'whisper-1' }),
    speechBaseUrl: url('SPEECH_BASE_URL', 'Server that reads texts aloud.', { defaultText: 'none' }),
    speechApiKey: credential('SPEECH_API_KEY', 'Its key.', { defaultText: 'none is sent' }),
    speechModel: text('SPEECH_MODEL', 'Its model.', { default: 'tts-1' }),
    speechVoice: text('SPEECH_VOICE', 'Its voice for those who name none.', { default: 'alloy' }),
  }),
  builtInEmbeddings: text(
    'BUILT_IN_EMBEDDINGS',
    'File of the built-in embedding model, or `words`; `npm start` and the image set it.',
    { defaultText: 'without a server for embeddings, files cannot be searched' },
  ),
  ...readBy('worker', {
    extractMemoryMb: integer('EXTRACT_MEMORY_MB', [128, 65_536], 'Memory for reading one file.', {
      default: 1024,
    }),
    extractConcurrency: integer(
      'EXTRACT_CONCURRENCY',
      [1, 64],
      'Files read at once, two at least; neither one user nor scans take the last place.',
      { default: 3 },
    ),
    extractHidden: onOff(
      'EXTRACT_HIDDEN',
      'Whether hidden sheets, rows, columns and slides of workbooks and presentations are read, and marked as hidden.',
      { default: true },
    ),
    crawlPauseMs: integer('CRAWL_PAUSE_MS', [0, 60_000], 'Pause between two pages of a site that asks for none.', {
      default: 200,
    }),
    ocrLanguages: ocrLanguages('OCR_LANGUAGES', 'Languages of scans; `off`: they are not read.', {
      default: ['eng', 'deu'],
    }),
    ocrMaxPages: integer('OCR_MAX_PAGES', [1, 10_000], 'Scanned pages of a file that are read.', {
      default: 200,
    }),
    ocrUserMinutes: integer(
      'OCR_USER_MINUTES',
      [0, 100_000],
      'Processor time for the scans of one user and day, in minutes.',
      { default: 60 },
    ),
  }),
}

export const toolSettings = {
  searchProvider: oneOf(
    'SEARCH_PROVIDER',
    [...searchProviders],
    'searxng (with SEARCH_URL), brave or tavily (with SEARCH_API_KEY).',
    { defaultText: 'that of the search page' },
  ),
  searchUrl: url('SEARCH_URL', 'Address of SearXNG, or in place of the own one of Brave or Tavily.'),
  searchApiKey: credential('SEARCH_API_KEY', 'Key of Brave or Tavily.'),
  outboundAllow: hostsAndRanges('OUTBOUND_ALLOW', 'Private hosts and ranges that users may reach.', { default: [] }),
  codeInterpreter: onOff('CODE_INTERPRETER', 'Whether assistants may execute Python (docs/code.md).', {
    default: true,
  }),
  codeProcesses: integer('CODE_PROCESSES', [1, 1000], 'Sessions of Python of a process at once.', { default: 2 }),
  codeMemoryMb: integer('CODE_MEMORY_MB', [256, 4096], 'Memory of one session.', { default: 512 }),
  codeSeconds: integer('CODE_SECONDS', [1, 600], 'Processor time of one execution.', { default: 60 }),
  codePackages: text('CODE_PACKAGES', 'Folder of Python packages.', { defaultText: 'the standard library only' }),
  langsmithApiKey: credential('LANGSMITH_API_KEY', 'Key of LangSmith, for feedback on runs.'),
  langsmithEndpoint: url('LANGSMITH_ENDPOINT', 'Its address.', { defaultText: "LangSmith's own" }),
  stripeSecretKey: credential('STRIPE_SECRET_KEY', 'Key of Stripe; both are needed (docs/billing.md).'),
  stripeWebhookSecret: credential('STRIPE_WEBHOOK_SECRET', 'Signing secret of `{BASE_URL}/checkout/webhook`.'),
  stripeApiBase: url('STRIPE_API_BASE', "Stripe's API, for tests.", {
    defaultText: "Stripe's own",
  }),
}
