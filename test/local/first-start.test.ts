import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { installEmbedded, requirementsOf, supportedVersions } from '../../local/embedded-database/index.ts'
import { run } from '../../local/services/command.ts'
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

async function bootstrap(
  script: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; output: string }> {
  const options = { cwd: folder, env: { ...plainEnv(), ...env } }
  const child = spawn(process.execPath, ['local/bootstrap.mjs', script], options)
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
})

test('a script without servers does not install Temporal', async () => {
  project({ 'local/install-temporal.ts': fromBeginToEnd, 'scripts/other.ts': `console.log('it runs')` })
  const { code, output } = await bootstrap('scripts/other.ts')
  expect(output).toContain('it runs')
  expect(code).toBe(0)
  expect(existsSync(path.join(folder, 'beside'))).toBe(false)
})

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
})

test('nothing is installed of which the lock file has no checksum', async () => {
  project({ 'scripts/other.ts': `console.log('it runs')` })
  const file = path.join(folder, 'package-lock.json')
  const lock: { packages: object } = JSON.parse(readFileSync(file, 'utf8'))
  const elsewhere = { version: '1.0.0', os: ['none'], optional: true }
  const packages = { ...lock.packages, 'node_modules/@a/elsewhere': elsewhere }
  writeFileSync(file, JSON.stringify({ ...lock, packages }))
  expect(await bootstrap('scripts/other.ts')).toMatchObject({ code: 0 })

  writeFileSync(
    file,
    JSON.stringify({ ...lock, packages: { ...packages, 'node_modules/@a/here': { version: '1.0.0' } } }),
  )
  const { code, output } = await bootstrap('scripts/other.ts')
  expect(output).toMatch(/no checksum of node_modules\/@a\/here: run node scripts\/complete-lockfile\.ts/)
  expect(output).not.toContain('it runs')
  expect(code).toBe(1)
})

test('an older Node fetches its own, and runs it only if it has its checksum', async () => {
  const packed = path.join(folder, 'packed/package')
  mkdirSync(path.join(packed, 'bin'), { recursive: true })
  const program = `#!/bin/sh\n[ "$1" = --version ] && echo v99.1.0 && exit\necho "ours:"\nexec '${process.execPath}' "$@"\n`
  writeFileSync(path.join(packed, 'bin/node'), program, { mode: 0o755 })
  await run('tar', ['-czf', path.join(folder, 'packed.tgz'), '-C', path.dirname(packed), 'package'])
  // The npm of this test has one package.
  const npm = path.join(folder, 'npm-cli.js')
  writeFileSync(
    npm,
    `import { copyFileSync } from 'node:fs'
    const [what, spec, , into] = process.argv.slice(2)
    if (what !== 'pack') process.exit(1)
    copyFileSync('${folder}/packed.tgz', into + '/' + spec.replace('@', '-') + '.tgz')`,
  )
  project({ 'scripts/other.ts': `console.log('it runs')` })
  mkdirSync(path.join(folder, 'node_modules'))
  const script = path.join(folder, 'local/bootstrap.mjs')
  const text = readFileSync(script, 'utf8').replace(/oldestVersion = '[\d.]+'/, "oldestVersion = '99.0'")
  const lockText = readFileSync(path.join(folder, 'package-lock.json'))
  const stamp = createHash('sha256').update(lockText).digest('hex')
  writeFileSync(path.join(folder, 'node_modules/.install-stamp'), stamp)
  const env = { ASSISTANT_CACHE_DIR: path.join(folder, 'cache'), npm_execpath: npm }

  writeFileSync(script, text)
  const refused = await bootstrap('scripts/other.ts', env)
  expect(refused.output).toMatch(/was not installed: its checksum is sha512-\S+ instead of sha512-/)
  expect(refused.code).toBe(1)

  const sum = createHash('sha512')
    .update(readFileSync(path.join(folder, 'packed.tgz')))
    .digest('base64')
  writeFileSync(script, text.replaceAll(/'sha512-[^']+'/g, `'sha512-${sum}'`))
  const { code, output } = await bootstrap('scripts/other.ts', env)
  expect(output).toMatch(/fetching Node [^]*ours:\nit runs/)
  expect(code).toBe(0)
  expect((await bootstrap('scripts/other.ts', env)).output).toBe('ours:\nit runs\n')
})

test('the embedded database is installed from files with known checksums only', async () => {
  const python = path.join(folder, 'python3')
  const fake = `#!/bin/sh\nmkdir -p "$3/bin"\nprintf '#!/bin/sh\\necho "$*" > "%s/pip"\\n' '${folder}' > "$3/bin/python"\nchmod +x "$3/bin/python"\n`
  writeFileSync(python, fake, { mode: 0o755 })
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`)
  await installEmbedded(path.join(folder, 'venv'), () => {})
  const pip = readFileSync(path.join(folder, 'pip'), 'utf8').trim()
  expect(pip).toContain('--require-hashes --only-binary :all: --no-deps')

  const [version = ''] = (await supportedVersions()).slice(-1)
  const file = requirementsOf(version)
  expect(pip.endsWith(` --requirement ${file}`)).toBe(true)
  const requirements = readFileSync(file, 'utf8')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(requirements.find((line) => line.startsWith('secantusdb'))).toContain(`secantusdb==${version} `)
  expect(requirements.filter((line) => !/^[\w-]+==\S+ .*--hash=sha256:[0-9a-f]{64}/.test(line))).toEqual([])
})

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

test('a build with Go takes only the sources with its checksum, says how many packages it has to build', async () => {
  const go = path.join(folder, 'go')
  writeFileSync(
    go,
    `#!/bin/sh
pwd >> "${folder}/places"
case "$*" in
  'mod download -json example.org/program@v1.0.0') echo '{"Dir":"${folder}","Sum":"h1:sources"}' ;;
  *'-mod=readonly'*' -n ./cmd/program') printf '/go/compile -o $WORK/b1/_pkg_.a -p a\\n# a\\n/go/compile -o $WORK/b2/_pkg_.a -p b\\n/go/link -o x\\n' ;;
  *'-mod=readonly'*' -v ./cmd/program') printf 'a\\nb\\n' >&2; touch "$GOBIN/program" ;;
  *) echo "unknown: $*"; exit 1 ;;
esac
`,
  )
  chmodSync(go, 0o755)
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`)
  const lines: string[] = []
  const program = { module: 'example.org/program', version: '1.0.0', folder: './cmd/program' }
  const log = (line: string) => void lines.push(line)
  await expect(goInstall({ ...program, sum: 'h1:others' }, folder, log)).rejects.toThrow(
    'example.org/program 1.0.0 has the checksum h1:sources instead of h1:others',
  )
  expect(existsSync(path.join(folder, 'program'))).toBe(false)
  lines.length = 0

  await goInstall({ ...program, sum: 'h1:sources' }, folder, log)
  expect(lines).toEqual([
    'fetching the sources of example.org/program/cmd/program 1.0.0',
    expect.stringContaining('example.org/program/cmd/program 1.0.0 with Go: 2 packages'),
  ])
  expect(existsSync(path.join(folder, 'program'))).toBe(true)
  // It is built in its own folder, whose go.sum counts.
  expect(readFileSync(path.join(folder, 'places'), 'utf8').trim().split('\n').slice(-2)).toEqual([folder, folder])
})
