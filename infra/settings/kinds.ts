import Type, { type TSchema, type TUnsafe } from 'typebox'
import { isOcrLanguage } from '../../domain/knowledge/scan.ts'
import { type ObjectLocation, parseLocation } from '../objects/location.ts'
import { isAddressOrRange, isHostOrRange } from '../outbound/address-policy.ts'
import { parseRedisUrl, redisUrlForms } from '../redis/address.ts'

interface Facts<V> {
  default?: V
  /** How people write the default, if it is not a plain value. */
  defaultText?: string
  isRequired?: true
  /** Never printed. */
  isSecret?: true
}

type NoFacts = Record<never, never>
type Process = 'API' | 'worker' | 'npm start'

/** A schema of the value, and what reads it from a variable. `.env.example` and docs/settings.md are made of these. */
export interface Setting<V = unknown> extends TUnsafe<V>, Facts<unknown> {
  env: string
  /** One plain sentence. */
  description: string
  /** Completes "must be …". */
  expected: string
  /** What comes of the text, which the schema then checks; undefined if it is wrong. */
  parse(text: string, reading: Reading): unknown
  /** The length by which a secret counts as strong or weak. */
  strengthOf?(text: string): number
  /** Without it: API and worker. */
  readBy?: Process
}

export interface Reading {
  /** Reports a problem, without the value. */
  problem(message: string): void
  /** The text of another variable. */
  textOf(env: string): string | undefined
}

type ValueOf<V, F> = F extends { default: V } | { isRequired: true } ? V : V | undefined

/** Makes settings of one kind. One without a default that is not required may be undefined. */
export function kind<V>(
  expected: string,
  parse: Setting['parse'],
  schema: TSchema,
  ofAll: Pick<Setting, 'isSecret' | 'strengthOf'> = {},
) {
  return <F extends Facts<V> = NoFacts>(env: string, description: string, facts?: F): Setting<ValueOf<V, F>> => {
    const isAlwaysSet = facts?.isRequired ?? facts?.default !== undefined
    const value = Type.Unsafe<ValueOf<V, F>>(isAlwaysSet ? schema : Type.Union([schema, Type.Undefined()]))
    return Object.assign(value, { env, description, expected, parse }, ofAll, facts)
  }
}

/** Marks settings that only one process reads. */
export function readBy<T extends Record<string, Setting>>(process: Process, settings: T): T {
  for (const setting of Object.values(settings)) setting.readBy = process
  return settings
}

const asItIs = (text: string) => text
const lengthOf = ({ length }: string) => length

export const text = kind<string>('text', asItIs, Type.String())

export const color = kind<string>('a colour, such as #3f5bd9', asItIs, Type.String({ pattern: '^#[0-9a-fA-F]{6}$' }))

export const credential = kind<string>('text', asItIs, Type.String(), { isSecret: true })

export const redisUrl = kind<string>(
  `such as ${redisUrlForms}`,
  asItIs,
  Type.Refine(Type.String(), (given) => parseRedisUrl(given) !== undefined),
  { isSecret: true },
)

/** A secret that could be guessed is a warning, and in production a problem. */
export const secret = kind<string>('text', asItIs, Type.String(), { isSecret: true, strengthOf: lengthOf })

export const signingSecret = kind<string>('at least 16 characters long', asItIs, Type.String({ minLength: 16 }), {
  isSecret: true,
  strengthOf: lengthOf,
})

/** In base64: a public key in PEM form, or a secret, which must be as strong as the others. */
export const decodeKey = kind<string>('text', asItIs, Type.String(), {
  isSecret: true,
  strengthOf(given) {
    const bytes = Buffer.from(given, 'base64')
    return bytes.includes('-----BEGIN') ? Number.POSITIVE_INFINITY : bytes.length
  },
})

const Key = Type.Refine(Type.Unknown(), (value) => Buffer.isBuffer(value) && value.length === 32)
const keyOf = (given: string) => Buffer.from(given, 'base64')
const keysOf = (given: string) => entriesOf(given)?.map(keyOf)

export const key = kind<Buffer>('32 bytes in base64', keyOf, Key, { isSecret: true })

export const keys = kind<Buffer[]>('a comma-separated list of keys of 32 bytes in base64', keysOf, Type.Array(Key), {
  isSecret: true,
})

/** Line ends may be written as \n. */
const pem = kind<string>(
  'in PEM form (-----BEGIN …)',
  (given) => `${given.replaceAll(String.raw`\n`, '\n')}\n`,
  Type.String({ pattern: /^-----BEGIN [A-Z0-9 ]+-----/ }),
)

/** The CA of a server, and the certificate of this service with its key. */
export function tls(prefix: string, server: string) {
  return Type.Object({
    ca: pem(`${prefix}_CA`, `Authority of ${server}'s certificate (PEM).`, {
      defaultText: "the system's",
    }),
    cert: pem(`${prefix}_CERT`, `Certificate shown to ${server} (PEM).`),
    key: pem(`${prefix}_KEY`, 'Its key (PEM).', { isSecret: true }),
  })
}

/** A trailing slash is removed. */
export const url = kind<string>(
  'an absolute URL',
  (given) => (URL.canParse(given) ? given.replace(/\/+$/, '') : undefined),
  Type.String(),
)

/** A bucket and what is needed to reach it. */
export const objectLocation = kind<ObjectLocation>(
  'such as s3://bucket/prefix?region=eu-central-1&endpoint=https://s3.example.com',
  (given, { problem }) => {
    const location = parseLocation(given)
    if (typeof location !== 'string') return location
    problem(location)
    return undefined
  },
  Type.Object({}),
)

/** An issuer is compared exactly, so a trailing slash is kept. */
export const issuer = kind<string>(
  'an absolute URL',
  (given) => (URL.canParse(given) ? given : undefined),
  Type.String(),
)

export function integer<F extends Facts<number> = NoFacts>(
  env: string,
  [minimum, maximum]: [number, number],
  description: string,
  facts?: F,
) {
  const schema = Type.Integer({ minimum, maximum })
  return kind<number>(`a whole number from ${minimum} to ${maximum}`, Number, schema)(env, description, facts)
}

export const onOff = kind<boolean>(
  'true or false',
  (given) => (/^(true|1|yes|on)$/i.test(given) ? true : /^(false|0|no|off)$/i.test(given) ? false : undefined),
  Type.Boolean(),
)

export function oneOf<const T extends string, F extends Facts<NoInfer<T>> = NoFacts>(
  env: string,
  values: T[],
  description: string,
  facts?: F,
) {
  return kind<T>(`one of ${values.join(', ')}`, asItIs, Type.Enum(values))(env, description, facts)
}

/** Five fields; Temporal checks their contents. */
export const cron = kind<string>(
  'a cron expression of five fields such as 0 3 * * *',
  asItIs,
  Type.String({ pattern: /^(?:[\d*/,a-zA-Z-]+ +){4}[\d*/,a-zA-Z-]+$/ }),
)

const listOf = <T extends string = string>(expected: string, isEntry: (entry: string) => boolean) =>
  kind<T[]>(expected, entriesOf, Type.Array(Type.Refine(Type.String(), isEntry)))

export const list = listOf('a comma-separated list', () => true)

export const ocrLanguages = listOf(
  'off, or a comma-separated list of language codes of Tesseract such as eng,deu',
  (entry) => entry === 'off' || isOcrLanguage(entry),
)

export const algorithms = listOf<'HS256' | 'RS256'>('HS256, RS256, or both separated by a comma', (entry) =>
  ['HS256', 'RS256'].includes(entry),
)

export const issuers = listOf('a comma-separated list of absolute URLs', (entry) => URL.canParse(entry))

/** As browsers send them. A wildcard is refused, because calls carry credentials. */
export const origins = listOf(
  'a comma-separated list of origins such as https://app.example.com (no path, no wildcard)',
  (entry) => URL.canParse(entry) && new URL(entry).origin === entry,
)

export const hostsAndRanges = listOf(
  'a comma-separated list of host names, addresses and CIDR ranges such as 10.0.0.0/8',
  isHostOrRange,
)

/** No number of hops: a client that reaches the service without the proxy could then choose its address. */
export const proxies = listOf(
  'a comma-separated list of addresses, CIDR ranges such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
  (entry) => ['loopback', 'linklocal', 'uniquelocal'].includes(entry) || isAddressOrRange(entry),
)

/** A list without any entry is wrong: it was meant to have some. */
function entriesOf(given: string): string[] | undefined {
  const entries = given.split(',').flatMap((entry) => entry.trim() || [])
  return entries.length > 0 ? entries : undefined
}
