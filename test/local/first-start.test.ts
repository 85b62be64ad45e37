import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { goInstall } from '../../local/services/go-install.ts'
import { eventually } from '../support/eventually.ts'
import { importsOf } from '../support/imports.ts'
import { plainEnv } from '../support/plain-env.ts'

const root = path.join(import.meta.dirname, '../..')
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'assistant-first-start-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

/** A project with one package of its own, whose scripts are these. */
function project(scripts: Record<string, string>): void {
  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  const about = {
    name: 'project',
    version: '1.0.0',
    dependencies: { part: 'file:part' },
    devDependencies: { tool: 'file:tool' },
  }
  const link = { link: true, version: '1.0.0' }
  const packages = {
    '': about,
    part: { version: '1.0.0' },
    tool: { version: '1.0.0', dev: true },
    'node_modules/part': { resolved: 'part', ...link },
    'node_modules/tool': { resolved: 'tool', ...link, dev: true },
  }
  write('package.json', JSON.stringify({ ...about, type: 'module' }))
  write('package-lock.json', JSON.stringify({ ...about, lockfileVersion: 3, packages }))
  for (const name of ['part', 'tool']) write(`${name}/package.json`, JSON.stringify({ name, version: '1.0.0' }))
  write('scripts/prune-packages.ts', `console.log('pruned')`)
  for (const [name, text] of Object.entries(scripts)) write(name, text)
  cpSync(path.join(root, 'local/bootstrap.mjs'), path.join(folder, 'local/bootstrap.mjs'))
}

const fromBeginToEnd = `
  import { writeFileSync } from 'node:fs'
  process.on('disconnect', () => process.exit(1))
  writeFileSync('beside', String(process.pid))
  setInterval(() => {}, 1000)`

const waitsForIt = `
  import { existsSync } from 'node:fs'
  while (!existsSync('beside')) await new Promise((resolve) => setTimeout(resolve, 20))
  console.log('both run')`

async function bootstrap(script: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['local/bootstrap.mjs', script], { cwd: folder, env: plainEnv() })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code]: unknown[] = await once(child, 'exit')
  return { code: typeof code === 'number' ? code : null, output }
}

test('Temporal is installed beside the packages, until the script ends', async () => {
  project({ 'local/install-temporal.ts': fromBeginToEnd, 'local/start.ts': waitsForIt })
  const { code, output } = await bootstrap('local/start.ts')
  expect(output).toMatch(/installing packages with npm ci[^]*both run/)
  expect(code).toBe(0)
  const pid = Number(readFileSync(path.join(folder, 'beside'), 'utf8'))
  await eventually('its end', async () => {
    try {
      return process.kill(pid, 0) ? undefined : true
    } catch {
      return true
    }
  })
}, 60_000)

test('a script without servers does not install Temporal', async () => {
  project({ 'local/install-temporal.ts': fromBeginToEnd, 'scripts/other.ts': `console.log('it runs')` })
  const { code, output } = await bootstrap('scripts/other.ts')
  expect(output).toContain('it runs')
  expect(code).toBe(0)
  expect(existsSync(path.join(folder, 'beside'))).toBe(false)
}, 60_000)

test('the tools of tests are installed with the tests', async () => {
  const script = `console.log('it runs')`
  project({ 'local/install-temporal.ts': '', 'local/start.ts': script, 'test/run.ts': script })
  const tool = path.join(folder, 'node_modules/tool')
  const started = await bootstrap('local/start.ts')
  expect(started.output).toMatch(/npm ci[^]*pruned[^]*it runs/)
  expect(existsSync(path.join(folder, 'node_modules/part'))).toBe(true)
  expect(existsSync(tool)).toBe(false)
  expect((await bootstrap('local/start.ts')).output).not.toContain('npm ci')

  const tested = await bootstrap('test/run.ts')
  expect(tested.output).toMatch(/npm ci[^]*it runs/)
  expect(tested.output).not.toContain('pruned')
  expect(existsSync(tool)).toBe(true)
  // What is there for the tests is enough for the start, and stays.
  expect((await bootstrap('local/start.ts')).output).toBe('it runs\n')
  expect(existsSync(tool)).toBe(true)
}, 60_000)

test('the installation of Temporal loads no packages', () => {
  const seen = new Set<string>()
  const packages: string[] = []
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    for (const { from, typeOnly } of importsOf(readFileSync(file, 'utf8'))) {
      if (typeOnly || from.startsWith('node:')) continue
      if (from.startsWith('.')) visit(path.resolve(path.dirname(file), from))
      else packages.push(`${path.relative(root, file)}: ${from}`)
    }
  }
  visit(path.join(root, 'local/install-temporal.ts'))
  expect([...seen].map((file) => path.basename(file))).toContain('go-install.ts')
  expect(packages).toEqual([])
})

test('a build with Go says how many packages it has to build, and leaves the program in the folder', async () => {
  const go = path.join(folder, 'go')
  writeFileSync(
    go,
    `#!/bin/sh
case "$*" in
  *' -n '*) printf '/go/compile -o $WORK/b1/_pkg_.a -p a\\n# a\\n/go/compile -o $WORK/b2/_pkg_.a -p b\\n/go/link -o x\\n' ;;
  *) printf 'a\\nb\\n' >&2; touch "$GOBIN/program" ;;
esac
`,
  )
  chmodSync(go, 0o755)
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`)
  const lines: string[] = []
  await goInstall('example.org/program@v1.0.0', folder, (line) => lines.push(line))
  expect(lines).toEqual([
    'fetching the sources of example.org/program@v1.0.0',
    expect.stringContaining('example.org/program@v1.0.0 with Go: 2 packages'),
  ])
  expect(existsSync(path.join(folder, 'program'))).toBe(true)
})
