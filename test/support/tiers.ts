import { globSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { importsOf } from './imports.ts'

/** Packages with which a test starts other programs, a browser or Temporal. */
const packages = ['node:child_process', 'playwright-core', '@temporalio/testing', '@temporalio/worker']

/** How a file takes the shared servers. */
const takesServers = /\binject\(\s*'services'/

const root = path.resolve(import.meta.dirname, '../..')

/** The test files of `npm run test:long`. */
export const longTests = ['test/**/*.long.test.ts']

/**
 * Paths below the project's folder of the test files of `npm run test:quick`: neither the file nor
 * anything of ours that it imports takes the shared servers or starts another program.
 */
export function quickTests(): string[] {
  return globSync('test/**/*.test.ts', { cwd: root, exclude: longTests })
    .filter((file) => everythingOf(file).every((name) => !isNeedy(name)))
    .toSorted()
}

const known = new Map<string, { isNeedy: boolean; imports: string[] }>()

const isNeedy = (file: string) => look(file).isNeedy

/** The file and everything of ours that it imports, directly or not. */
function everythingOf(file: string): string[] {
  const found = new Set([file])
  for (const name of found) for (const target of look(name).imports) found.add(target)
  return [...found]
}

function look(file: string) {
  const before = known.get(file)
  if (before) return before
  const source = readFileSync(path.join(root, file), 'utf8')
  const used = importsOf(source)
    .filter(({ typeOnly }) => !typeOnly)
    .map(({ from }) => from)
  const seen = {
    isNeedy: takesServers.test(source) || used.some((from) => packages.includes(from)),
    imports: used
      .filter((from) => from.startsWith('.'))
      .map((from) => path.join(path.dirname(file), from))
      .filter((target) => /\.(?:ts|tsx|mjs)$/.test(target) && isFile(target)),
  }
  known.set(file, seen)
  return seen
}

const isFile = (file: string) => statSync(path.join(root, file), { throwIfNoEntry: false })?.isFile() ?? false
