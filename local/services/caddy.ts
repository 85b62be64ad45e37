import { existsSync } from 'node:fs'
import path from 'node:path'
import { cached, installInCache } from './cache.ts'
import { findOnPath } from './command.ts'
import { unpackDebian } from './debian.ts'
import { accepts } from './ports.ts'
import type { Watch } from './keep-running.ts'
import { startServer } from './server-process.ts'
import { type Log, firstThatWorks } from './ways.ts'

const cacheName = 'caddy-debian'

/** Finds or installs Caddy, the proxy of docker-compose.yml; returns the path of the program. */
export async function prepareCaddy(log: Log) {
  return firstThatWorks<string>('Caddy', 'PATH', [
    { name: 'PATH', attempt: () => findOnPath('caddy') },
    { name: 'cache', attempt: async () => programIn(cached(cacheName)) },
    {
      name: 'Debian package',
      attempt: async () =>
        programIn(await installInCache(cacheName, log, (folder) => unpackDebian(folder, async () => ['caddy']))),
    },
  ])
}

function programIn(folder: string | undefined): string | undefined {
  const program = folder && path.join(folder, 'usr', 'bin', 'caddy')
  return program && existsSync(program) ? program : undefined
}

/** Starts Caddy with a Caddyfile on a loopback port; it writes only to `folder`. */
export async function startCaddy(options: {
  command: string
  caddyfile: string
  folder: string
  port: number
  watch?: Watch
}) {
  const { command, caddyfile, folder, port } = options
  return startServer(
    {
      name: 'Caddy',
      command,
      args: ['run', '--adapter', 'caddyfile', '--config', caddyfile],
      env: {
        ...process.env,
        SITE_ADDRESS: `:${port}`,
        HOME: folder,
        XDG_DATA_HOME: path.join(folder, 'data'),
        XDG_CONFIG_HOME: path.join(folder, 'config'),
      },
      cwd: folder,
      logFile: path.join(folder, 'logs/caddy.log'),
      ready: () => accepts(port),
    },
    options.watch,
  )
}

/**
 * A Caddyfile for this machine: it listens on 127.0.0.1 only, and its upstreams, which it finds by a name of the
 * containers' network, are these addresses (host:port). Everything else stays.
 */
export function localCaddyfile(text: string, upstreams: string[]): string {
  const local = text
    .replace(/^\tadmin off$/m, '\tadmin off\n\tdefault_bind 127.0.0.1')
    .replace(/^\t\tdynamic a \{[^}]*\}$/m, `\t\tto ${upstreams.join(' ')}`)
  if (!local.includes('default_bind') || local.includes('dynamic'))
    throw new Error('the Caddyfile has another shape than is known here')
  return local
}
