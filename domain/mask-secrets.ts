/** Replaces a secret; it does not even show the secret's length. */
export const maskedValue = '***'

/**
 * A copy of a free-form configuration in which secrets are masked: the values of members whose name suggests a
 * secret (`api_key`, `type==agent/public_token`, `password`), all values within members that hold credentials
 * (`headers`, `env`), and in URLs the password and parameters with such names. The shape and all other values are
 * kept. `value` is JSON of limited depth; keys such as `__proto__` stay plain data.
 */
export function maskSecrets(value: unknown): unknown {
  if (typeof value === 'string') return maskUrl(value)
  if (Array.isArray(value)) return value.map(maskSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskMember(name, member)]))
}

function maskMember(name: string, value: unknown): unknown {
  const words = wordsOf(name)
  if (words.some((word) => containers.has(word))) return maskAll(value)
  if (!isSecretName(words)) return maskSecrets(value)
  // `max_tokens: 100` is a limit, not a secret: the name of a number with such a word is not masked.
  if (typeof value === 'number' && words.some((word) => measures.has(word))) return value
  return maskAll(value)
}

/** Members whose values are all masked, whatever their names. */
const containers = new Set(['header', 'headers', 'env', 'cookie', 'cookies', 'credential', 'credentials', 'auth'])
const secretWords = new Set(
  'secret secrets password passwords passwd pwd passphrase token tokens authorization bearer apikey jwt'.split(' '),
)
const measures = new Set('max min limit limits count budget size length total per'.split(' '))

function isSecretName(words: string[]): boolean {
  const last = words.at(-1)
  return last === 'key' || last === 'keys' || words.some((word) => secretWords.has(word))
}

/** `X-API-Key`, `apiKey` and `type==agent/public_token` as words in lower case. */
function wordsOf(name: string): string[] {
  return name
    .slice(-200)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
}

/** Masks every text and number beneath; keys, booleans and null reveal nothing. */
function maskAll(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? value : maskedValue
  if (typeof value === 'number') return maskedValue
  if (Array.isArray(value)) return value.map(maskAll)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskAll(member)]))
}

/** Of a URL with more, all are masked together. */
const maxParameters = 1000

/** URLs may contain keys too: `https://user:password@host/`, `https://host/mcp?api_key=…`. */
function maskUrl(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text
  const url = new URL(text)
  const isLong = url.search.split('&', maxParameters + 1).length > maxParameters
  const parameters = isLong
    ? []
    : [...url.searchParams].map(([name, value]) => [name, isSecretName(wordsOf(name)) ? maskedValue : value] as const)
  const containsSecret = isLong || parameters.some(([, value]) => value === maskedValue)
  if (!containsSecret && url.username === '' && url.password === '') return text
  if (url.username !== '') url.username = maskedValue
  if (url.password !== '') url.password = maskedValue
  if (isLong) url.search = maskedValue
  else if (containsSecret)
    url.search = parameters
      .map(
        ([name, value]) => `${encodeURIComponent(name)}=${value === maskedValue ? value : encodeURIComponent(value)}`,
      )
      .join('&')
  return url.href
}
