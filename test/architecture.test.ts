import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Import, importsOf } from './support/imports.ts'

/**
 * The arrows of the layout: what each folder may import of ours. `types` may be imported as types
 * only; an entry names a folder or one file. This is the one place that holds these rules; it fails when it saw no files.
 */
const arrows: Record<string, { may: string[]; types?: string[] }> = {
  domain: { may: [] },
  services: { may: ['domain'] },
  infra: { may: ['domain', 'services/within.ts'], types: ['services'] },
  workflows: { may: ['domain'], types: ['activities'] },
  activities: { may: ['services', 'domain'] },
  composition: { may: ['infra', 'services', 'domain'] },
  api: { may: ['services', 'domain'], types: ['composition'] },
  client: { may: [] },
  web: { may: ['client', 'domain/back-off.ts'] },
  worker: { may: ['composition', 'infra', 'services', 'activities', 'domain'] },
}

/** The same for the programs of developers and operators, which the product never needs. */
const tools: typeof arrows = {
  local: { may: ['scripts/process-bundle.ts', 'api', 'worker', 'composition', 'infra', 'services', 'domain'] },
  scripts: { may: ['composition', 'infra', 'services', 'worker', 'domain'] },
  bench: { may: ['scripts/process-bundle.ts', 'local', 'infra', 'services', 'domain', 'client', 'test/support'] },
  faults: {
    may: ['scripts/process-bundle.ts', 'local', 'bench', 'infra', 'services', 'domain', 'client', 'test/support'],
  },
}

/** Where the API is put together. */
const apiEntries = ['api/server.ts', 'api/start-api.ts']

const outside = [...Object.keys(tools), 'test', 'examples']

const root = path.dirname(import.meta.dirname)

test.each([...Object.keys(arrows), ...Object.keys(tools)])('%s imports only what the layout allows', (folder) => {
  const files = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })
  expect(files.length, `files seen in ${folder}`).toBeGreaterThan(0)
  const imports = files.flatMap((file) => ours(file, importsOf(readFileSync(path.join(root, file), 'utf8'))))
  const wrong = imports.filter((entry) => !isAllowed(folder, entry)).map((entry) => `${entry.file} → ${entry.target}`)
  expect(wrong).toEqual([])
  expect(imports.length, `imports of ours seen in ${folder}`).toBeGreaterThan(0)
})

test('the product imports nothing from folders for developers', () => {
  const files = globSync(`{${Object.keys(arrows).join(',')}}/**/*.{ts,tsx}`, { cwd: root })
  const imports = files.flatMap((file) => ours(file, importsOf(readFileSync(path.join(root, file), 'utf8'))))
  expect(imports.filter((entry) => outside.includes(entry.folder))).toEqual([])
  expect(imports.length).toBeGreaterThan(50)
})

test('there are no circular imports, not even of types', () => {
  const folders = [...Object.keys(arrows), ...outside].join(',')
  const files = globSync(`{${folders}}/**/*.{ts,tsx}`, { cwd: root, exclude: ['**/node_modules/**'] })
  const targetsOf = new Map(
    files.map((file) => [
      file,
      ours(file, importsOf(readFileSync(path.join(root, file), 'utf8'))).map(({ target }) => target),
    ]),
  )
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, way: string[]) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' → '))
    if (way.includes(file) || done.has(file)) return
    for (const target of targetsOf.get(file) ?? []) visit(target, [...way, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  expect(files.length).toBeGreaterThan(200)
  expect(circles).toEqual([])
})

test('the folders of services form no circle: what one needs of another, the other does not need of it', () => {
  const files = globSync('services/**/*.ts', { cwd: root })
  const folderOf = (file: string) => file.split(path.sep).slice(1, -1)[0]
  const targetsOf = new Map<string, Set<string>>()
  for (const file of files) {
    const from = folderOf(file)
    if (from === undefined) continue
    const targets = ours(file, importsOf(readFileSync(path.join(root, file), 'utf8')))
      .filter(({ folder }) => folder === 'services')
      .map(({ target }) => folderOf(target))
    const others = targets.filter((to): to is string => to !== undefined && to !== from)
    targetsOf.set(from, new Set([...(targetsOf.get(from) ?? []), ...others]))
  }
  const reachedFrom = (start: string) => {
    const reached = new Set(targetsOf.get(start))
    for (const folder of reached) for (const next of targetsOf.get(folder) ?? []) reached.add(next)
    return reached
  }
  expect(targetsOf.size).toBeGreaterThan(20)
  expect([...targetsOf.keys()].filter((folder) => reachedFrom(folder).has(folder))).toEqual([])
})

/** What may be imported of `services/runs` from outside: its doors, and as types what it asks of `infra`. */
const doorsOfRuns: Record<string, string[]> = {
  api: ['index.ts'],
  services: ['index.ts', 'chat-model.ts', 'run-stream.ts'],
  activities: ['steps.ts', 'tool-calls.ts'],
  worker: ['upkeep.ts'],
  infra: ['chat-model.ts', 'run-stream.ts'],
}

test.each(Object.entries(doorsOfRuns))('%s enters the module of runs by its doors', (folder, doors) => {
  const house = 'services/runs/'
  const files = globSync(`${folder}/**/*.ts`, { cwd: root }).filter((file) => !file.startsWith(house))
  const imports = files.flatMap((file) => ours(file, importsOf(readFileSync(path.join(root, file), 'utf8'))))
  const entered = imports.filter(({ target }) => target.startsWith(house))
  expect(entered.filter(({ target }) => !doors.includes(target.slice(house.length)))).toEqual([])
  // A worker is given its door by the composition.
  expect(entered.length > 0).toBe(folder !== 'worker')
})

test.each(['api/server.ts', 'worker/main.ts'])('%s loads large packages only when they are used', (entry) => {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string) => {
    if (files.has(file)) return
    files.add(file)
    const loadedAtOnce = readFileSync(path.join(root, file), 'utf8').replaceAll(/\bimport\(/g, 'later(')
    const imports = importsOf(loadedAtOnce).filter(({ typeOnly }) => !typeOnly)
    for (const { from } of imports) if (!from.startsWith('.')) packages.add(from)
    for (const { target } of ours(file, imports)) visit(target)
  }
  visit(entry)
  expect(files.size).toBeGreaterThan(100)
  const large =
    /^(?:gpt-tokenizer\/encoding|@lancedb|apache-arrow|@pinecone|@qdrant|@opentelemetry\/sdk|@modelcontextprotocol|openai$)/
  expect([...packages].filter((name) => large.test(name))).toEqual([])
  expect(packages.has('@temporalio/worker')).toBe(entry.startsWith('worker/'))
})

type OwnImport = { file: string; target: string; folder: string; typeOnly: boolean }

/** Imports of files of ours, as paths from the root. */
function ours(file: string, imports: Import[]): OwnImport[] {
  return imports
    .filter((entry) => entry.from.startsWith('.'))
    .map(({ from, typeOnly }) => {
      const target = path.join(path.dirname(file), from)
      return { file, target, folder: target.split(path.sep)[0] ?? '', typeOnly }
    })
}

function isAllowed(folder: string, { file, target, folder: to, typeOnly }: OwnImport): boolean {
  const arrow = arrows[folder] ?? tools[folder]
  const names = (entry: string) => entry === to || entry === target || target.startsWith(`${entry}/`)
  if (to === folder || target === 'package.json' || arrow?.may.some(names)) return true
  if (apiEntries.includes(file) && ['infra', 'composition', 'worker'].includes(to)) return true
  return typeOnly && Boolean(arrow?.types?.some(names))
}
