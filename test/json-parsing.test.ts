import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { importsOf } from './support/imports.ts'

/**
 * Every call that parses JSON, by file, with the reason why its text may be parsed. Text from outside belongs into
 * `parseForeignJson`, text that the service wrote into `parseOwnJson`.
 */
const calls: Record<string, string[]> = {
  'api/openapi/reading-pages.ts': ['runs in the browser, on the description of the API'],
  'api/plugins/responses.ts': ['text that JSON.stringify has just made'],
  'domain/foreign-json.ts': ['after the scan: the door itself', 'the same, in turns'],
  'domain/json.ts': [
    'stored text, scanned when it came in',
    'the same text, with its signs of zero',
    'the same text, with the digits of its numbers',
    'text that this service wrote',
  ],
  'domain/model-prices.ts': ["the operator's setting MODEL_PRICES"],
  'domain/canonical-arguments.ts': ['a string, a number or a word: nothing nests in it'],
  'infra/backup/manifest.ts': ["the operator's own backup, in a script"],
  'infra/backup/read-backup.ts': ["the operator's own backup, in a script"],
  'infra/identity/id-tokens.ts': ['the answer passed scanningFetch'],
  'infra/identity/login-providers.ts': ["the operator's setting OAUTH_PROVIDERS"],
  'infra/model/foreign-values.ts': [
    'an event that scanEvents has scanned',
    'another such event',
    'arguments of a call, as the service stored them',
  ],
  'infra/model/provider-settings.ts': ["the operator's setting MODELS"],
  'services/insights/index.ts': ['the value of a feedback, which was scanned with its request'],
}

/** Packages that parse what other servers send, by the files that use them, and what is done about it. */
const parsers: Record<string, string> = {
  'infra/billing/stripe.ts → stripe': 'its fetch is a scanningFetch; events are scanned by services/billing/webhook.ts',
  'infra/identity/id-tokens.ts → jose': 'its fetch is a scanningFetch; a token is a header of at most 16 KB',
  'infra/identity/social-provider.ts → openid-client': 'its fetch is a scanningFetch',
  'infra/model/embeddings.ts → openai/core/error': 'classes of errors only',
  'infra/model/failures.ts → openai/core/error': 'classes of errors only',
  ...Object.fromEntries(
    ['amazon-bedrock', 'anthropic', 'azure', 'deepseek', 'google', 'mistral', 'openai', 'xai'].map((name) => [
      `infra/model/native/native-model.ts → @ai-sdk/${name}`,
      'its fetch is that of guardFetch, which scans',
    ]),
  ),
  'infra/model/guarded-fetch.ts → openai': 'its fetch is that of guardFetch, which scans',
  'infra/vectors/pinecone.ts → @pinecone-database/pinecone': 'its fetch is a scanningFetch',
  'infra/vectors/qdrant.ts → @qdrant/js-client-rest': "the operator's own database, as MongoDB is",
  'services/mcp-logins/authorization-server.ts → @modelcontextprotocol/sdk/client/auth.js':
    'its fetch is made with the option json, which scans',
  'services/mcp-logins/authorization-server.ts → @modelcontextprotocol/sdk/server/auth/errors.js': 'parses nothing',
  'services/mcp-logins/authorization-server.ts → @modelcontextprotocol/sdk/shared/auth-utils.js': 'parses nothing',
  'services/tools/mcp-client.ts → @modelcontextprotocol/sdk/client/index.js': 'parses nothing by itself',
  'services/tools/mcp-client.ts → @modelcontextprotocol/sdk/client/streamableHttp.js':
    'its fetch is made with the option json, which scans',
  'services/tools/mcp-client.ts → @modelcontextprotocol/sdk/types.js': 'schemas only',
  'services/accounts/exchange.ts → jose': 'signs only',
  'services/auth/tokens.ts → jose': 'a token is a header of at most 16 KB',
  'api/plugins/audit.ts → jose': 'reads a token that this service has just made',
  'api/routes/mcp/message-routes.ts → @modelcontextprotocol/sdk/types.js': 'schemas only',
  'api/routes/mcp/server.ts → @modelcontextprotocol/sdk/server/index.js': 'is given messages that the API has parsed',
  'api/routes/mcp/server.ts → @modelcontextprotocol/sdk/types.js': 'is given messages that the API has parsed',
}

const root = path.dirname(import.meta.dirname)
const folders = '{activities,api,composition,domain,infra,services,worker,workflows}'
const sources = globSync(`${folders}/**/*.ts`, { cwd: root }).map((file) => ({
  file,
  text: readFileSync(path.join(root, file), 'utf8'),
}))
const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')

test('each call that parses JSON is listed with its reason', () => {
  const found = sources.flatMap(({ file, text }) => {
    const count = [...withoutComments(text).matchAll(/\bE?JSON\s*\.\s*parse\b|\.json\(\)/g)].length
    return count === 0 ? [] : [[file, count] as const]
  })
  expect(sources.length).toBeGreaterThan(400)
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(calls).map(([file, reasons]) => [file, reasons.length])),
  )
})

test('each package that parses answers of other servers is listed with what scans them', () => {
  const packages =
    /^(?:@modelcontextprotocol|@pinecone-database|@qdrant|@ai-sdk|axios|got|jose|openai|openid-client|stripe)(?:\/|$)/
  const found = sources.flatMap(({ file, text }) =>
    importsOf(text)
      .filter(({ from, typeOnly }) => !typeOnly && packages.test(from))
      .map(({ from }) => `${file} → ${from}`),
  )
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(parsers).toSorted())
})
