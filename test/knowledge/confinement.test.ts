import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type Server, createServer } from 'node:net'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseOwnJson } from '../../domain/json.ts'
import {
  type Confinement,
  findConfinement,
  giveBackUserId,
  makeFolder,
  makeReadable,
  spawnConfined,
  takeUserId,
} from '../../infra/extract/confinement.ts'

const script = fileURLToPath(new URL('../support/forbidden-attempts.ts', import.meta.url))

interface Seen {
  managed: string[]
  names: string[]
  userId: number
  interfaces: string[]
}

describe('a process that reads files', () => {
  let secrets: string
  let server: Server
  let connections = 0
  beforeAll(async () => {
    secrets = await mkdtemp(join(tmpdir(), 'secrets-'))
    await mkdir(secrets, { recursive: true })
    await writeFile(join(secrets, 'secret'), 'secret', { mode: 0o644 })
    server = createServer((socket) => {
      connections++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(async () => {
    server.close()
    await rm(secrets, { recursive: true, force: true })
  })

  /** What the script managed to do under a confinement, and what it saw of the machine. */
  async function attempts(confinement: Confinement) {
    const userId = confinement.user ? takeUserId() : undefined
    const folder = await makeFolder(userId)
    await writeFile(join(folder, 'file'), 'mine')
    await makeReadable(join(folder, 'file'), 0o440, userId)
    const address = server.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    process.env['A_SECRET_OF_THE_SERVICE'] = 'secret'
    try {
      const args = [join(secrets, 'secret'), port, String(process.pid)]
      const child = spawnConfined(script, args, { confinement, userId, folder, memoryMb: 128 })
      // What people wait for comes first.
      expect(getPriority(child.pid ?? 0)).toBeGreaterThan(getPriority())
      if (!child.stdout || !child.stderr) throw new Error('no pipes')
      const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
      if (said === '') throw new Error(errors)
      const seen = parseOwnJson<Seen>(said)
      return { ...seen, expectedUserId: userId }
    } finally {
      delete process.env['A_SECRET_OF_THE_SERVICE']
      if (userId !== undefined) giveBackUserId(userId)
      await rm(folder, { recursive: true, force: true })
    }
  }

  it('can only read its file, also when only Node confines it', async () => {
    const { managed, names } = await attempts({ network: false, user: false })
    expect(managed).toEqual(['read its own file'])
    expect(names).toEqual(['PATH'])
    expect(connections).toBe(0)
  })

  it('is also confined by the operating system where possible', async () => {
    const confinement = await findConfinement()
    const { managed, userId, expectedUserId, interfaces } = await attempts(confinement)
    expect(managed).toEqual(['read its own file'])
    expect(userId).toBe(expectedUserId ?? process.getuid?.())
    expect(confinement.network ? interfaces : []).toEqual([])
    expect(connections).toBe(0)
  })

  it('runs under a separate user id when the service is root and other users can read its code', async () => {
    const isPossible = process.getuid?.() === 0 && canOthersRun(script)
    expect((await findConfinement()).user).toBe(isPossible)
  })
})

/** Whether another user can start this Node and read a file of the code. */
function canOthersRun(path: string): boolean {
  const asOther = ['--reuid=60000', '--regid=60000', '--clear-groups', '--']
  const readIt = ['-e', 'require("node:fs").readFileSync(process.argv[1])', path]
  const program = 'setpriv'
  return spawnSync(program, [...asOther, process.execPath, ...readIt], { cwd: '/' }).status === 0
}
