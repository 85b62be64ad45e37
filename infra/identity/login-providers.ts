import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { type LoginProvider, shortFormId } from '../../domain/login-providers.ts'
import { isLoopback } from './loopback.ts'

const text = (maxLength = 500) => Type.String({ minLength: 1, maxLength })
const names = (maxItems: number) => Type.Array(text(200), { maxItems })

const Provider = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }),
    name: text(60),
    issuer: text(2000),
    client_id: text(),
    /** The setting with the secret, which may be read from a file (`NAME_FILE`). */
    client_secret_env: Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,99}$' }),
    domains: Type.Optional(names(200)),
    trust_addresses: Type.Optional(Type.Boolean()),
    groups_claims: Type.Optional(names(5)),
    scopes: Type.Optional(names(20)),
    passwords: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
const List = Type.Array(Provider, { minItems: 1, maxItems: 50 })

/** Reads the text of the setting `OAUTH_PROVIDERS`. `problem` gets each fault, with its place and without values. */
export function readLoginProviders(
  given: string,
  { textOf, problem }: { textOf(variable: string): string | undefined; problem(message: string): void },
): LoginProvider[] {
  const list = parse(given)
  if (!Value.Check(List, list)) {
    const [error] = list === undefined ? [] : Value.Errors(List, list)
    problem(error ? `is wrong at ${error.instancePath || 'its top'}: ${error.message}` : 'is not JSON')
    return []
  }
  const providers = list.map((one) => {
    const secret = textOf(one.client_secret_env)
    if (secret === undefined) problem(`names the secret ${one.client_secret_env} of ${one.id}, which is not set`)
    return providerOf(one, secret)
  })
  for (const fault of faultsOf(providers)) problem(fault)
  return providers
}

function providerOf(one: Static<typeof Provider>, clientSecret: string | undefined): LoginProvider {
  return {
    id: one.id,
    name: one.name,
    issuer: one.issuer,
    clientId: one.client_id,
    clientSecret,
    domains: (one.domains ?? []).map((domain) => domain.trim().toLowerCase().replace(/^@/, '')),
    trustsAddresses: one.trust_addresses ?? false,
    groupsClaims: one.groups_claims ?? [],
    scopes: one.scopes ?? [],
    passwords: one.passwords ?? true,
  }
}

function faultsOf(providers: LoginProvider[]): string[] {
  const twice = (values: string[]) => values.filter((value, index) => values.indexOf(value) !== index)
  return [
    ...providers
      .filter(({ id }) => id === shortFormId)
      .map(() => `uses the id ${shortFormId}, which is that of OAUTH_ISSUER`),
    ...twice(providers.map(({ id }) => id)).map((id) => `has two providers with the id ${id}`),
    ...twice(providers.flatMap(({ domains }) => domains)).map((domain) => `gives ${domain} to two providers`),
    ...providers.flatMap(({ id, issuer = '', domains, passwords }) => [
      ...(isIssuer(issuer) ? [] : [`gives an issuer for ${id} that is no https address`]),
      ...(passwords || domains.length > 0 ? [] : [`turns passwords off for ${id}, which has no domains`]),
    ]),
  ]
}

function isIssuer(issuer: string): boolean {
  const url = URL.parse(issuer)
  return url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url)))
}

function parse(given: string): unknown {
  try {
    return JSON.parse(given)
  } catch {
    return undefined
  }
}
