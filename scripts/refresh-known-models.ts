import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseForeignJson } from '../domain/foreign-json.ts'
import { isJsonObject } from '../domain/json.ts'

/**
 * `npm run known-models -- LIST`: writes `infra/model/known-models.json` from the list of models that the Python package
 * LiteLLM ships (`litellm/model_prices_and_context_window_backup.json`): models of providers with their own interface.
 */
const providers = new Set(['anthropic', 'azure', 'bedrock_converse', 'deepseek', 'gemini', 'mistral', 'openai', 'xai'])
const target = path.resolve(import.meta.dirname, '../infra/model/known-models.json')

const [list] = process.argv.slice(2)
if (list === undefined) throw new Error('name the file with the list')
const given = parseForeignJson(await readFile(list, 'utf8'), {
  bytes: 20 * 1024 * 1024,
  containers: 1_000_000,
  members: 5_000_000,
})
if (!isJsonObject(given)) throw new Error('the list is not an object')
const known = new Map<string, unknown[]>()
for (const [key, facts] of Object.entries(given)) {
  if (!isJsonObject(facts) || !providers.has(String(facts['litellm_provider']))) continue
  if (facts['mode'] !== 'chat' && facts['mode'] !== 'responses') continue
  // Models at Azure are deployments with names of their own; at Bedrock they are listed with and without region.
  const name = key.replace(/^[a-z_]+\//, '')
  if (name.includes('/') || known.has(name)) continue
  known.set(name, [windowIn(facts), abilitiesIn(facts), ...pricesIn(facts)])
}
const lines = [...known]
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map((entry) => entry.map((part) => JSON.stringify(part)).join(': '))
await writeFile(target, `{\n${lines.map((line) => `  ${line}`).join(',\n')}\n}\n`)
console.log(`${known.size} models`)

function windowIn({ max_input_tokens: input, max_tokens: all }: Record<string, unknown>): number {
  return Number(input ?? all ?? 0)
}

/** p: pictures, t: tools, j: JSON by schema, r: reasoning. */
function abilitiesIn(facts: Record<string, unknown>): string {
  const names = {
    p: 'supports_vision',
    t: 'supports_function_calling',
    j: 'supports_response_schema',
    r: 'supports_reasoning',
  }
  return Object.entries(names)
    .flatMap(([letter, name]) => (facts[name] === true ? [letter] : []))
    .join('')
}

/** For a million tokens of the question and of the answer, of those read from a cache and written to one, in US dollars. */
function pricesIn(facts: Record<string, unknown>): (number | null)[] {
  const price = (name: string) => {
    const value = facts[`${name}_token_cost`] ?? facts[`${name}_cost_per_token`]
    return typeof value === 'number' ? perMillion(value) : null
  }
  const prices = [price('input'), price('output'), price('cache_read_input'), price('cache_creation_input')]
  if (prices[0] === null || prices[1] === null) return []
  while (prices.at(-1) === null) prices.pop()
  return prices
}

function perMillion(price: number): number {
  return Number((price * 1_000_000).toFixed(4))
}
