import path from 'node:path'
import { cached, installInCache } from './cache.ts'
import { goInstall } from './go-install.ts'
import type { Watch } from './keep-running.ts'
import { accepts } from './ports.ts'
import { startServer } from './server-process.ts'
import type { Log } from './ways.ts'

/** The checksums of the versions that are built. */
const sums: Record<string, string> = { '2.11.9': 'h1:bhZtcRKQOq0fuLvEgCdPYvUxXyGn9kzjG4lh2332DTE=' }

/**
 * Builds Caddy, the proxy of docker-compose.yml, in the version of its image, once; returns the path of the program.
 * Debian's package is too old: before 2.11.2 a request with a body is answered 502 when a connection is refused.
 */
export async function prepareCaddy(version: string, log: Log): Promise<string> {
  const name = `caddy-${version}`
  const sum = sums[version]
  if (sum === undefined) throw new Error(`no checksum is known of Caddy ${version}`)
  const program = { module: 'github.com/caddyserver/caddy/v2', version, sum, folder: './cmd/caddy' }
  const folder = cached(name) ?? (await installInCache(name, log, (into) => goInstall(program, into, log)))
  return path.join(folder, 'caddy')
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
