// Before a change: docs/traps.md, What else changes with a change.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { foreignYaml, parseForeignYaml } from '../domain/assistant-file/foreign-yaml.ts'
import { maskSecrets } from '../domain/mask-secrets.ts'
import type { Message } from '../domain/messages.ts'
import { nextTimes } from '../domain/schedules/next-times.ts'
import { findTerms, wantedTerms, wordsOf } from '../domain/search/message-terms.ts'
import { addressFilter } from '../domain/sources/addresses.ts'
import { rulesIn } from '../infra/web/robots.ts'
import { type AttributeFilter, readFilter } from '../services/knowledge/attribute-filter.ts'
import { secretsHider } from '../services/tool-text.ts'
import { watchProcessor } from './support/slowness.ts'
import { dearTexts } from './support/worst-bodies.ts'

/**
 * Every loop over what others have sent that gives others their turn (`services/turns.ts`), by file: what its bounds are,
 * and what they come to. A step between two turns is in the table below.
 */
const inTurns: Record<string, string> = {
  'services/import/item-ids.ts': 'entries of an archive × ids of its messages (20,000)',
  'services/knowledge/search-entries.ts': 'files of a vector store × comparisons of a filter (100)',
  'services/schedules/next-runs.ts': 'schedules of a page (1,000) × times that are shown or skipped (205)',
  'services/sources/discover.ts': 'links of a page (10,000) × globs (20) × stars (4) × parts of an address (60)',
  'services/threads/find-messages.ts': 'entries (2,000) × characters of an entry (300,000), together 2,000,000',
}

const root = path.dirname(import.meta.dirname)

test('each loop that takes turns is listed with its bounds', () => {
  const files = globSync('{activities,api,composition,domain,infra,services,worker}/**/*.ts', { cwd: root })
  expect(files.length).toBeGreaterThan(400)
  const users = files.filter((file) => /\bcreateTurns\(\)/.test(readFileSync(path.join(root, file), 'utf8')))
  expect(users.filter((file) => file !== 'services/turns.ts').toSorted()).toEqual(Object.keys(inTurns).toSorted())
})

const said = (content: string): Message => ({ type: 'HumanMessage', data: { id: 'm', content } })
const longest = 2 * 1024 * 1024
const messages = Object.fromEntries(
  dearTexts.map((text) => [JSON.stringify(text), [said(text.repeat(longest / text.length))]] as const),
)
const thousand = Array.from({ length: 1000 }, () => said('\ufdfa b '.repeat(500)))
const never = { cron: '* 2 8-14 3 0', timezone: 'America/New_York', created_at: new Date('2026-01-01T00:00:00Z') }
const address = `https://a.example/${'a/b'.repeat(9)}?${'a'.repeat(1800)}`
const dearGlobs = Array.from({ length: 10 }, () => `**${'a'.repeat(20)}*${'a'.repeat(20)}*${'a'.repeat(20)}**b`)
const values = Array.from({ length: 100 }, (_, index) => `${'x'.repeat(500)}${index}`)
const comparison: AttributeFilter = { type: 'in', key: 'k', value: values }
const config = (value: unknown) => () => maskSecrets({ value })

/** One step each, with the largest input that is admitted: it may take no longer than what follows. */
const steps: [name: string, bounds: string, work: () => unknown][] = [
  ...Object.entries(messages).map(([text, some]): (typeof steps)[number] => [
    `words of a message of ${text}`,
    'characters of a message (100,000), folded (300,000)',
    () => wordsOf(some),
  ]),
  ...Object.entries(messages).map(([text, some]): (typeof steps)[number] => [
    `search in a message of ${text}`,
    'characters of an entry, folded (300,000), twice',
    () => findTerms(some, wantedTerms('zebra b')),
  ]),
  ['words of 1,000 messages', 'characters of an entry, folded (300,000)', () => wordsOf(thousand)],
  [
    'marks without end',
    'characters of a message (100,000)',
    () => wordsOf([said(`a${'\u0300\u0316'.repeat(1_000_000)}`)]),
  ],
  ['a schedule that is never due', 'skipped times (200)', () => nextTimes(never, new Date('2026-06-01T00:00:00Z'), 5)],
  [
    'a hundred links of a page',
    'links (100) × globs (20) × stars (4) × parts of an address (60)',
    () => {
      const whyLeftOut = addressFilter({ include: dearGlobs, exclude: dearGlobs })
      return Array.from({ length: 100 }, () => whyLeftOut(address))
    },
  ],
  [
    'robots.txt with many names',
    'lines (5,000) × names (3)',
    () => {
      const names = Array.from({ length: 2500 }, (_, index) => `User-agent: ${index}`)
      const rules = Array.from({ length: 2500 }, (_, index) => `Disallow: /${'ü'.repeat(20)}${index}`)
      return rulesIn([...names, 'User-agent: *', ...rules].join('\n'), 'https://a.example/robots.txt', robot)
    },
  ],
  [
    'an address before rules with stars',
    'characters behind stars (8,192) × characters of an address (2,048)',
    () => {
      const rules = Array.from({ length: 1000 }, () => `Disallow: ${'*a'.repeat(200)}b`).join('\n')
      const { refusal } = rulesIn(`User-agent: *\n${rules}`, 'https://a.example/robots.txt', robot)
      return refusal(`https://a.example/${'a'.repeat(2000)}`)
    },
  ],
  [
    'a hundred files before a filter',
    'files (100) × comparisons (100)',
    () => {
      const isWanted = readFilter({ type: 'or', filters: Array.from({ length: 99 }, () => comparison) })
      return Array.from({ length: 100 }, () => isWanted({ k: 'x'.repeat(512) }))
    },
  ],
  ['a URL of many parameters', 'parameters (1,000)', config(`https://a.example/?${'a&'.repeat(400_000)}`)],
  ['many URLs', 'a configuration (1 MB)', config(Array.from({ length: 20_000 }, () => 'https://a.example/?key=b'))],
  ['a name of many words', 'characters of a name (200)', config({ [`${'aA'.repeat(400_000)}`]: 'x' })],
  [
    'headers in an answer of a tool',
    'headers (50) × 3 forms × answer (1 MB)',
    () => {
      const headers = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`h${index}`, `aaaaaaa${index}"`]))
      return secretsHider(headers)('a'.repeat(1024 * 1024))
    },
  ],
  [
    'YAML of many entries',
    'entries',
    () =>
      parseForeignYaml(
        Array.from({ length: foreignYaml.entries / 2 - 10 }, (_, index) => `k${index}: ${'x'.repeat(90)}`).join('\n'),
      ),
  ],
]
const robot = { agent: 'AssistantPlatformBot', pauseMs: 0 }

/** Of processor time, as the event loop of a process may stand (`test/api/worst-bodies.test.ts`). */
const mostMs = 250

describe('the largest step of a loop over foreign data', () => {
  it.each(steps)('%s (%s)', (_name, _bounds, work) => {
    const took = watchProcessor()
    work()
    expect(took()).toBeLessThan(mostMs)
  })
})
