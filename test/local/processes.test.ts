import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startServer } from '../../local/services/server-process.ts'
import { supervise } from '../../local/supervise.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'assistant-processes-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A process that says its id and stays until it is told to end. */
const stayingScript = `process.on('SIGTERM', () => { console.log('bye'); process.exit(0) })
setInterval(() => {}, 1000)
console.log('here ' + process.pid)
`

test('a killed process is restarted with a message; a stopped one is not', async () => {
  const script = path.join(folder, 'staying.mjs')
  await writeFile(script, stayingScript)
  const lines: string[] = []
  const said: string[] = []
  const logFile = path.join(folder, 'logs', 'worker.log')
  const onLine = (line: string) => void lines.push(line)
  const child = supervise(
    { name: 'worker', script: () => script, env: process.env, logFile, onLine },
    { say: (line) => said.push(line) },
  )
  const first = await vi.waitUntil(() => lines.includes(`here ${child.pid()}`) && child.pid(), { timeout: 20_000 })
  process.kill(first, 'SIGKILL')
  await vi.waitUntil(() => child.pid() !== first && lines.includes(`here ${child.pid()}`), { timeout: 20_000 })
  expect(await child.firstEnd).toBe('SIGKILL')
  expect(said).toEqual([`The worker ended (SIGKILL); started again as process ${child.pid()}`])
  await child.stop(10_000)
  await vi.waitUntil(() => lines.includes('bye'), { timeout: 20_000 })
  expect(said).toHaveLength(1)
  expect(await readFile(logFile, 'utf8')).toContain(`here ${first}\n`)
})

test('a process that waits for the go-ahead gets it once, and another one after its kill at once', async () => {
  const script = path.join(folder, 'waiting.ts')
  const goAhead = path.join(import.meta.dirname, '../../local/go-ahead.ts')
  await writeFile(
    script,
    `import { goAhead } from ${JSON.stringify(goAhead)}
console.log('waits ' + process.pid)
await goAhead()
console.log('works ' + process.pid)
setInterval(() => {}, 1000)
`,
  )
  const ready = Promise.withResolvers<void>()
  const lines: string[] = []
  const child = supervise(
    {
      name: 'api',
      script: () => script,
      env: process.env,
      logFile: path.join(folder, 'api.log'),
      onLine: (line) => void lines.push(line),
      goAheadAfter: ready.promise,
    },
    { say: () => undefined },
  )
  const said = (word: string) => vi.waitUntil(() => lines.includes(`${word} ${child.pid()}`), { timeout: 20_000 })
  await said('waits')
  const killedWhileItWaited = child.pid() ?? 0
  process.kill(killedWhileItWaited, 'SIGKILL')
  await vi.waitUntil(() => child.pid() !== killedWhileItWaited, { timeout: 20_000 })
  await said('waits')
  expect(lines.filter((line) => line.startsWith('works'))).toEqual([])
  ready.resolve()
  await said('works')
  const killedAtWork = child.pid() ?? 0
  process.kill(killedAtWork, 'SIGKILL')
  await vi.waitUntil(() => child.pid() !== killedAtWork, { timeout: 20_000 })
  await said('works')
  await child.stop()
})

test('no process is left when the process that started servers is killed', async () => {
  const script = path.join(folder, 'parent.ts')
  const serverProcess = path.join(import.meta.dirname, '../../local/services/server-process.ts')
  const staying = path.join(folder, 'staying.mjs')
  await writeFile(staying, stayingScript)
  await writeFile(
    script,
    `import { startServerProcess } from ${JSON.stringify(serverProcess)}
const server = await startServerProcess({
  name: 'Test', command: process.execPath, args: [${JSON.stringify(staying)}],
  cwd: ${JSON.stringify(folder)}, logFile: ${JSON.stringify(path.join(folder, 'server.log'))}, ready: async () => true,
})
console.log(server.pid)
setInterval(() => {}, 1000)
`,
  )
  const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [data]: Buffer[] = await once(parent.stdout, 'data')
  const pid = Number(data?.toString())
  expect(isRunning(pid)).toBe(true)
  parent.kill('SIGKILL')
  await vi.waitUntil(() => !isRunning(pid), { timeout: 20_000 })
})

test('a server that keeps exiting is given up with a message; one that is killed later is restarted', async () => {
  const script = path.join(folder, 'server.mjs')
  const broken = path.join(folder, 'broken')
  await writeFile(
    script,
    `import { existsSync } from 'node:fs'
if (existsSync(${JSON.stringify(broken)})) { console.log('the file is broken'); process.exit(7) }
setInterval(() => {}, 1000)
`,
  )
  const pids: (number | undefined)[] = []
  const said: string[] = []
  const server = await startServer(
    {
      name: 'Test server',
      command: process.execPath,
      args: [script],
      cwd: folder,
      logFile: path.join(folder, 'server.log'),
      ready: async () => true,
    },
    { say: (line) => said.push(line), onStart: (_name, pid) => pids.push(pid) },
  )
  const latest = () => pids.at(-1) ?? 0
  process.kill(latest(), 'SIGKILL')
  await vi.waitUntil(() => pids.length === 2, { timeout: 20_000 })
  expect(said).toEqual([`Test server ended (SIGKILL); started again as process ${latest()}`])
  expect(isRunning(latest())).toBe(true)
  await writeFile(broken, '')
  process.kill(latest(), 'SIGKILL')
  await vi.waitUntil(() => said.some((line) => line.includes('is not started again')), { timeout: 50_000 })
  expect(said.at(-1)).toMatch(
    /^Test server ended 7 times in a row \(.*7.*\) and is not started again\. .*server\.log says why\./,
  )
  await server.stop()
  expect(isRunning(latest())).toBe(false)
})
