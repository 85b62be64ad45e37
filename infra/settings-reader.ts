import { readFileSync, statSync } from 'node:fs'
import { type ProviderSettings, noProviders } from '../domain/provided-models.ts'
import { reasonOf } from '../domain/reason-of.ts'
import { readProviders } from './model/provider-settings.ts'
import { type Rate, parseRates } from '../domain/rate.ts'
import { isAddressOrRange, isHostOrRange } from './outbound/address-policy.ts'

/** All problems of the environment together. */
export class SettingsError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'SettingsError'
    this.problems = problems
  }
}

export type Reader = ReturnType<typeof createReader>

/** More than any certificate bundle needs. */
const maxFileBytes = 1024 * 1024

/** A shorter secret could be guessed: 32 random characters have at least 128 bits. */
const strongSecretLength = 32

/**
 * Reads typed values from an environment and collects every problem, so that `finish` can name them all. An empty
 * variable counts as not set; then `NAME_FILE` may name a file with the value, as container engines provide
 * secrets. Problems never contain the value, because it may be a secret.
 */
export function createReader(env: NodeJS.ProcessEnv) {
  const problems: string[] = []
  const warnings: string[] = []
  const fromFiles = new Map<string, string | undefined>()
  const raw = (name: string) => env[name]?.trim() || fromFile(name)
  const isProduction = raw('NODE_ENV') === 'production'

  /** Each file is read once, and an unreadable file is one problem. */
  function fromFile(name: string): string | undefined {
    const path = env[`${name}_FILE`]?.trim()
    if (!path) return undefined
    if (!fromFiles.has(name)) fromFiles.set(name, readSettingFile(`${name}_FILE`, path))
    return fromFiles.get(name)
  }

  function readSettingFile(variable: string, path: string): string | undefined {
    try {
      const facts = statSync(path)
      if (!facts.isFile()) throw new Error('not a regular file')
      if (facts.size > maxFileBytes) throw new Error(`larger than ${maxFileBytes} bytes`)
      const value = readFileSync(path, 'utf8').trim()
      if (value === '') throw new Error('empty')
      return value
    } catch (error) {
      problems.push(`${variable} names a file that cannot be used: ${reasonOf(error)}`)
      return undefined
    }
  }

  function checked<T>(name: string, fallback: T, parse: (value: string) => T | undefined, expectation: string): T {
    const value = raw(name)
    if (value === undefined) return fallback
    const parsed = parse(value)
    if (parsed !== undefined) return parsed
    problems.push(`${name} must be ${expectation}`)
    return fallback
  }

  function requireStrength(name: string, length: number): void {
    if (length >= strongSecretLength) return
    const expectation = `must have at least ${strongSecretLength} characters with NODE_ENV=production`
    if (isProduction) problems.push(`${name} ${expectation}`)
    else warnings.push(`${name} is weak: it ${expectation}`)
  }

  const parseUrl = (value: string) => (URL.canParse(value) ? value.replace(/\/+$/, '') : undefined)
  const parseList = (value: string) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean)
  const parseKey = (bytes: number) => (value: string) => {
    const key = Buffer.from(value, 'base64')
    return key.length === bytes ? key : undefined
  }

  const parseInteger = (min: number, max: number) => (value: string) => {
    const number = Number(value)
    return Number.isInteger(number) && number >= min && number <= max ? number : undefined
  }

  return {
    isProduction,
    text: (name: string, { fallback }: { fallback: string }) => raw(name) ?? fallback,
    optionalText: (name: string) => raw(name),
    url: (name: string, { fallback }: { fallback: string }) => checked(name, fallback, parseUrl, 'an absolute URL'),
    optionalUrl: (name: string) => checked<string | undefined>(name, undefined, parseUrl, 'an absolute URL'),
    /** An issuer is compared exactly, so a trailing slash is kept. */
    optionalIssuer: (name: string) =>
      checked<string | undefined>(
        name,
        undefined,
        (value) => (URL.canParse(value) ? value : undefined),
        'an absolute URL',
      ),
    list: (name: string, fallback: string[]) => checked(name, fallback, parseList, 'a comma-separated list'),
    integer: (name: string, { fallback, min, max }: { fallback: number; min: number; max: number }) =>
      checked(name, fallback, parseInteger(min, max), `a whole number from ${min} to ${max}`),
    optionalInteger: (name: string, { min, max }: { min: number; max: number }) =>
      checked<number | undefined>(name, undefined, parseInteger(min, max), `a whole number from ${min} to ${max}`),
    /** A value of a form of its own. */
    parsed: checked,
    boolean: (name: string, fallback: boolean) =>
      checked(
        name,
        fallback,
        (value) => (/^(true|1|yes|on)$/i.test(value) ? true : /^(false|0|no|off)$/i.test(value) ? false : undefined),
        'true or false',
      ),
    oneOf: <const T extends string>(name: string, values: readonly T[], fallback: T) =>
      checked<T>(
        name,
        fallback,
        (value) => values.find((candidate) => candidate === value),
        `one of ${values.join(', ')}`,
      ),
    optionalOneOf: <const T extends string>(name: string, values: readonly T[]) =>
      checked<T | undefined>(
        name,
        undefined,
        (value) => values.find((candidate) => candidate === value),
        `one of ${values.join(', ')}`,
      ),
    /**
     * Origins as browsers send them: scheme, host and port, no path. A wildcard is refused, because calls carry
     * credentials.
     */
    origins: (name: string) =>
      checked<string[]>(
        name,
        [],
        (value) => {
          const origins = parseList(value)
          return origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
            ? origins
            : undefined
        },
        'a comma-separated list of origins such as https://app.example.com (no path, no wildcard)',
      ),
    hostsAndRanges: (name: string) =>
      checked<string[]>(
        name,
        [],
        (value) => (parseList(value).every(isHostOrRange) ? parseList(value) : undefined),
        'a comma-separated list of host names, addresses and CIDR ranges such as 10.0.0.0/8',
      ),
    /**
     * A number of hops is not accepted: a client that reaches the service without the proxy could then choose its
     * address.
     */
    trustedProxies: (name: string) =>
      checked<string[]>(
        name,
        [],
        (value) => (parseList(value).every(isProxy) ? parseList(value) : undefined),
        'a comma-separated list of addresses, CIDR ranges such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
      ),
    rates: (name: string, fallback: string) =>
      checked<Rate[]>(
        name,
        parseRates(fallback) ?? [],
        parseRates,
        'a number and a window such as 20/1h (s, m, h or d), several separated by commas, or off',
      ),
    /** Five fields of a cron expression; Temporal checks their contents. */
    optionalCron: (name: string) =>
      checked<string | undefined>(
        name,
        undefined,
        (value) => (/^(?:[\d*/,a-zA-Z-]+ +){4}[\d*/,a-zA-Z-]+$/.test(value) ? value : undefined),
        'a cron expression of five fields such as 0 3 * * *',
      ),
    algorithms: (name: string, fallback: ('HS256' | 'RS256')[]) =>
      checked<('HS256' | 'RS256')[]>(
        name,
        fallback,
        (value) => {
          const known = parseList(value).map((entry) => (entry === 'HS256' || entry === 'RS256' ? entry : undefined))
          return known.length > 0 && !known.includes(undefined)
            ? known.filter((entry) => entry !== undefined)
            : undefined
        },
        'HS256, RS256, or both separated by a comma',
      ),
    /**
     * A required secret. A weak one is a warning, in production a problem; below `minLength` it is always a
     * problem.
     */
    secret(name: string, minLength: number) {
      const value = raw(name)
      if (value === undefined) problems.push(`${name} is missing`)
      else if (value.length < minLength && !isProduction)
        problems.push(`${name} must have at least ${minLength} characters`)
      else requireStrength(name, value.length)
      return value ?? ''
    },
    optionalSecret(name: string) {
      const value = raw(name)
      if (value !== undefined) requireStrength(name, value.length)
      return value
    },
    /**
     * A CA, and a certificate with its key, as PEM text (line ends may be written as \\n). A certificate needs its
     * key.
     */
    tls(prefix: string) {
      const pem = (name: string) =>
        checked<string | undefined>(
          name,
          undefined,
          (value) => (/^-----BEGIN [A-Z0-9 ]+-----/.test(value) ? `${value.replaceAll('\\n', '\n')}\n` : undefined),
          'in PEM form (-----BEGIN …)',
        )
      const [ca, cert, key] = [pem(`${prefix}_CA`), pem(`${prefix}_CERT`), pem(`${prefix}_KEY`)]
      if ((cert === undefined) !== (key === undefined))
        problems.push(`${prefix}_CERT and ${prefix}_KEY must be set together or not at all`)
      return { ca, cert, key }
    },
    /** Model providers as JSON, most conveniently in a file. */
    providers(name: string): ProviderSettings {
      const text = raw(name)
      if (text === undefined) return noProviders
      return readProviders(text, { keyOf: raw, problem: (message) => problems.push(`${name} ${message}`) })
    },
    /** Two settings of which each needs the other. */
    optionalPair(first: string, second: string): readonly [string, string] | undefined {
      const [one, other] = [raw(first), raw(second)]
      if (one !== undefined && other !== undefined) return [one, other]
      if (one !== other) problems.push(`${first} and ${second} must be set together or not at all`)
      return undefined
    },
    /**
     * A key that verifies tokens, in base64: a public key in PEM form, or a secret, which must be as strong as the
     * others.
     */
    optionalDecodeKey(name: string) {
      const value = raw(name)
      const bytes = Buffer.from(value ?? '', 'base64')
      if (value !== undefined && !bytes.includes('-----BEGIN')) requireStrength(name, bytes.length)
      return value
    },
    key(name: string, bytes: number) {
      if (raw(name) === undefined) problems.push(`${name} is missing: ${bytes} bytes in base64`)
      return checked(name, Buffer.alloc(bytes), parseKey(bytes), `${bytes} bytes in base64`)
    },
    optionalKey: (name: string, bytes: number) =>
      checked<Buffer | undefined>(name, undefined, parseKey(bytes), `${bytes} bytes in base64`),
    keys: (name: string, bytes: number) =>
      checked<Buffer[]>(
        name,
        [],
        (value) => {
          const keys = parseList(value).map(parseKey(bytes))
          return keys.every((key) => key !== undefined) ? keys : undefined
        },
        `a comma-separated list of keys of ${bytes} bytes in base64`,
      ),
    /** Throws a `SettingsError` if there are problems. Returns the warnings. */
    finish(): string[] {
      if (problems.length > 0) throw new SettingsError(problems)
      return warnings
    },
  }
}

function isProxy(entry: string): boolean {
  return ['loopback', 'linklocal', 'uniquelocal'].includes(entry) || isAddressOrRange(entry)
}
