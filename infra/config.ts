import { readFileSync, statSync } from 'node:fs'
import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { addAll } from '../domain/add-all.ts'
import { type LoginProvider, shortFormId } from '../domain/login-providers.ts'
import { noKey, usualModel, type EnvironmentModels } from '../domain/model-catalog.ts'
import { defaultProductName } from '../domain/product.ts'
import { reasonOf } from '../domain/reason-of.ts'
import { searchAccountOf } from '../domain/search-account.ts'
import type { Setting } from './settings/kinds.ts'
import { isSetting, settingsSchema } from './settings/schema.ts'

/** All problems of the environment together. */
export class SettingsError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'SettingsError'
    this.problems = problems
  }
}

/** Fixed beside the code that keeps them; tests lower them. */
type FixedLimit =
  | 'requestTimeoutSeconds'
  | 'uploadIdleSeconds'
  | 'maxUnreadMb'
  | 'unreadSeconds'
  | 'maxStreamsPerUser'
  | 'maxStreamsPerAssistant'
  | 'maxStreamsPerClient'
  | 'importDayMaxMb'
  | 'archivesAtOnce'
  | 'extractCpuSeconds'
  | 'extractTimeoutSeconds'

type Values = Static<typeof settingsSchema>
export type Settings = ReturnType<typeof complete> & { [L in FixedLimit]?: number } & { warnings: string[] }

/** A shorter secret could be guessed: 32 random characters have at least 128 bits. */
const strongSecretLength = 32

/**
 * Reads every setting of the schema from the environment, once. Throws one `SettingsError` that names all wrong or
 * missing variables; `warnings` are for the log. Neither contains a value, because it may be a secret.
 */
export function loadSettings(env: NodeJS.ProcessEnv): Settings {
  const problems: string[] = []
  const warnings: string[] = []
  const problem = (message: string) => problems.push(message)
  const textOf = createVariables(env, problem)
  const isProduction = textOf('NODE_ENV') === 'production'

  function valueOf(schema: TSchema): unknown {
    if (isSetting(schema)) return readSetting(schema)
    const parts = Type.IsObject(schema) ? Object.entries(schema.properties) : []
    return Object.fromEntries(parts.map(([name, part]) => [name, valueOf(part)]))
  }

  function readSetting(setting: Setting): unknown {
    const { env: name, expected } = setting
    const text = textOf(name)
    if (text === undefined) {
      if (setting.isRequired) problem(`${name} is missing: it must be ${expected}`)
      return setting.default
    }
    if (setting.strengthOf && setting.strengthOf(text) < strongSecretLength) {
      const isWeak = `must be at least ${strongSecretLength} characters long with NODE_ENV=production`
      if (isProduction) {
        problem(`${name} ${isWeak}`)
        return undefined
      }
      warnings.push(`${name} is weak: it ${isWeak}`)
    }
    const value = setting.parse(text, { problem: (message) => problem(`${name} ${message}`), textOf })
    if (value !== undefined && Value.Check(setting, value)) return value
    problem(`${name} must be ${expected}`)
    return undefined
  }

  const values = valueOf(settingsSchema)
  addAll(problems, incompletePairs(textOf))
  if (problems.length > 0 || !Value.Check(settingsSchema, values)) throw new SettingsError(problems)
  const settings = complete(values)
  const { scimToken, scimProvider, loginProviders } = settings
  // Otherwise provisioning could give anybody any address.
  if (scimToken !== undefined && loginProviders.every(({ id }) => id !== scimProvider))
    throw new SettingsError(['SCIM_PROVIDER must name a login provider, because SCIM_TOKEN is set'])
  return { ...settings, warnings }
}

/** Settings of which each needs the other. */
const pairs = [
  ['MONGODB_TLS_CERT', 'MONGODB_TLS_KEY'],
  ['REDIS_TLS_CERT', 'REDIS_TLS_KEY'],
  ['TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'],
  ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
  ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'],
] as const

function incompletePairs(textOf: (name: string) => string | undefined): string[] {
  return pairs
    .filter(([one, other]) => (textOf(one) === undefined) !== (textOf(other) === undefined))
    .map(([one, other]) => `${one} and ${other} must be set together or not at all`)
}

/** The provider of the settings `OAUTH_…`, the short form of a list with one. */
function shortForm(values: Values): LoginProvider[] {
  const { oauthIssuer: issuer, oauthClientId: clientId, oauthClientSecret: clientSecret } = values
  if (issuer === undefined) return []
  return [
    {
      id: shortFormId,
      name: values.oauthName,
      issuer,
      clientId,
      clientSecret,
      domains: [],
      trustsAddresses: false,
      groupsClaims: values.oauthGroupsClaims,
      scopes: [],
      passwords: true,
    },
  ]
}

/** With what depends on other settings. */
function complete(values: Values) {
  const isProduction = values.nodeEnv === 'production'
  const baseUrl = values.baseUrl ?? `http://127.0.0.1:${values.port}`
  const openaiApiKey = values.openaiApiKey ?? (values.openaiBaseUrl === undefined ? undefined : noKey)
  const { temporalDeploymentName: deployment, temporalWorkerBuildId: build } = values
  return {
    ...values,
    baseUrl,
    frontendUrl: values.frontendUrl ?? baseUrl,
    mailFrom: values.mailFrom ?? `"${mailNameOf(values.productName)}" <no-reply@localhost>`,
    rateLimitsOn: values.rateLimitsOn ?? isProduction,
    jwtAudience: values.jwtAudience ?? values.jwtIssuer,
    loginProviders: [...shortForm(values), ...values.oauthProviders],
    openaiApiKey,
    /** The model that is asked while nothing else is set. */
    defaultModel: values.defaultModel ?? usualModel,
    models: modelsOf({ ...values, openaiApiKey }),
    embedding: embeddingOf({ ...values, openaiApiKey }),
    /** Deployment and build of this process's workers; without it they are not versioned. */
    workerVersion: deployment !== undefined && build !== undefined ? ([deployment, build] as const) : undefined,
    /**
     * Workflow task timeout of runs: after it, a dead worker's run goes to another worker. While a model step is under
     * way, every four fifths of it cost one transaction of the server, which counts in production.
     */
    runTaskTimeoutSeconds: isProduction ? 5 : 2,
    /** So long a count of requests may delay one; then this process counts for itself. */
    rateCountMs: 250,
  }
}

/** `npm start` names its demo model by these settings. */
function isDemoModel({ demoModel, openaiApiKey }: Values): boolean {
  return demoModel === 'on' && openaiApiKey === 'demo'
}

function modelsOf(values: Values): EnvironmentModels {
  const { openaiApiKey: apiKey, openaiBaseUrl: baseUrl } = values
  return {
    account: apiKey === undefined ? undefined : { apiKey, baseUrl },
    isDemo: isDemoModel(values),
    providers: values.providers,
    defaultModel: values.defaultModel,
    smallModel: values.smallModel,
    prices: values.modelPrices,
    found: values.foundServers,
    search: searchAccountOf({
      provider: values.searchProvider,
      baseUrl: values.searchUrl,
      apiKey: values.searchApiKey,
    }),
  }
}

/** Without what ends or escapes in a quoted name (RFC 5322). */
function mailNameOf(name: string = defaultProductName): string {
  return name.replaceAll(/["\\\r\n]/g, '')
}

/** The server of the embedding model: by default that of the answers. Its key is sent to no other server. */
function embeddingOf(values: Values) {
  const { embeddingBaseUrl: ownUrl, embeddingApiKey: ownKey } = values
  const hasServer =
    ownUrl !== undefined || ownKey !== undefined || (values.openaiApiKey !== undefined && !isDemoModel(values))
  return {
    baseUrl: ownUrl ?? values.openaiBaseUrl,
    /** Undefined: no embedding model is configured. */
    apiKey: ownKey ?? (ownUrl === undefined ? values.openaiApiKey : noKey),
    /** The settings that errors name. */
    names: {
      baseUrl: ownUrl === undefined ? 'OPENAI_BASE_URL' : 'EMBEDDING_BASE_URL',
      apiKey: ownKey === undefined && ownUrl === undefined ? 'OPENAI_API_KEY' : 'EMBEDDING_API_KEY',
    },
    model: values.embeddingModel,
    dimensions: values.embeddingDimensions,
    /** What embeds until a server is set: the file of the built-in model, or words alone. */
    builtIn: hasServer ? undefined : values.builtInEmbeddings,
  }
}

/** More than any certificate bundle needs. */
const maxFileBytes = 1024 * 1024

/**
 * The texts of an environment by name. An empty variable counts as not set; then `NAME_FILE` may name a file with the
 * value, as container engines provide secrets. `problem` gets one message for each file that cannot be used.
 */
function createVariables(env: NodeJS.ProcessEnv, problem: (message: string) => void) {
  const files = new Map<string, string | undefined>()

  return (name: string): string | undefined => env[name]?.trim() || fromFile(`${name}_FILE`)

  function fromFile(variable: string): string | undefined {
    const path = env[variable]?.trim()
    if (!path) return undefined
    if (!files.has(variable)) files.set(variable, contentOf(variable, path))
    return files.get(variable)
  }

  function contentOf(variable: string, path: string): string | undefined {
    try {
      const facts = statSync(path)
      if (!facts.isFile()) throw new Error('not a regular file')
      if (facts.size > maxFileBytes) throw new Error(`larger than ${maxFileBytes} bytes`)
      const value = readFileSync(path, 'utf8').trim()
      if (value === '') throw new Error('empty')
      return value
    } catch (error) {
      problem(`${variable} names a file that cannot be used: ${reasonOf(error)}`)
      return undefined
    }
  }
}
