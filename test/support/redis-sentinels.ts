import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createClient } from 'redis'
import { accepts, freePort } from '../../local/services/ports.ts'
import { prepareRedis, startRedis } from '../../local/services/redis.ts'
import { startServer } from '../../local/services/server-process.ts'
import { eventually } from './eventually.ts'
import { type ServerTls, argumentsOf, redisTls } from './redis-tls.ts'

const password = 'secret of the servers'
const name = 'main'

/**
 * A primary with two replicas, with a password, and three Sentinels that watch them, on this machine. With a
 * certificate, all of them and their clients use TLS.
 */
export async function startRedisSentinels(dataDir: string, tls?: ServerTls) {
  const { value: server } = await prepareRedis(() => undefined)
  const primaryPort = await freePort()
  /** `port` takes the connections of the others, of the Sentinels and of the service. */
  const start = async (folder: string, port: number, ...args: string[]) => {
    const secured = ['--requirepass', password, '--masterauth', password]
    const encrypted = argumentsOf(tls && (await redisTls(dataDir, tls, port)))
    return startRedis({
      server,
      dataDir: path.join(dataDir, folder),
      port: tls === undefined ? port : await freePort(),
      args: [...secured, ...encrypted, ...args],
    })
  }
  const primary = await start('primary', primaryPort)
  const replicas = await Promise.all(
    ['replica-1', 'replica-2'].map(async (folder) =>
      start(folder, await freePort(), '--replicaof', `127.0.0.1 ${primaryPort}`),
    ),
  )
  const sentinels = await Promise.all([1, 2, 3].map((number) => startSentinel(number)))
  const [first] = sentinels
  const socket = tls === undefined ? {} : { tls: true as const, ca: tls.ca }
  const client = createClient({ socket: { host: '127.0.0.1', port: Number(first?.port), ...socket } })
  client.on('error', () => undefined)
  await client.connect()
  const known = async (): Promise<string> => JSON.stringify(await client.sendCommand(['SENTINEL', 'MASTER', name]))
  await eventually('the Sentinels to know all servers', async () => {
    const said = await known()
    return said.includes('"num-slaves":"2"') && said.includes('"num-other-sentinels":"2"')
  })

  async function startSentinel(number: number) {
    const port = await freePort()
    const encrypted = tls && ['port 0', ...(await redisTls(dataDir, tls, port))]
    const home = path.join(dataDir, `sentinel-${number}`)
    await mkdir(home, { recursive: true })
    const config = path.join(home, 'sentinel.conf')
    const settings = [
      ...(encrypted ?? [`port ${port}`]),
      'bind 127.0.0.1',
      `dir ${home}`,
      `sentinel monitor ${name} 127.0.0.1 ${primaryPort} 2`,
      `sentinel auth-pass ${name} "${password}"`,
      `sentinel down-after-milliseconds ${name} 1000`,
      `sentinel failover-timeout ${name} 5000`,
    ]
    await writeFile(config, `${settings.join('\n')}\n`)
    const { libraryPath } = server
    const running = await startServer(
      {
        name: `Sentinel ${number}`,
        command: server.command,
        args: [config, '--sentinel'],
        env: libraryPath ? { ...process.env, LD_LIBRARY_PATH: libraryPath } : process.env,
        cwd: home,
        logFile: path.join(home, 'sentinel.log'),
        ready: async () => accepts(port),
      },
      undefined,
    )
    return { ...running, port }
  }

  return {
    url: `${tls === undefined ? 'redis' : 'rediss'}+sentinel://:${encodeURIComponent(password)}@${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${name}`,
    /** Kills the primary, and waits until the Sentinels name another. */
    async killPrimary(): Promise<void> {
      process.kill(primary.pid, 'SIGKILL')
      await eventually('another primary', async () => !(await known()).includes(`"port":"${primaryPort}"`))
    },
    /** Starts the killed server again: the Sentinels make it a replica. */
    async startAgain(): Promise<void> {
      const again = await start('primary', primaryPort)
      replicas.push(again)
    },
    async stop(): Promise<void> {
      client.destroy()
      await Promise.all([...sentinels, ...replicas, primary].map(({ stop }) => stop()))
    },
  }
}
