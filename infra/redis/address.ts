export interface ServerAddress {
  host: string
  port: number
}

/** What `REDIS_URL` says. */
export interface RedisAddress {
  /** One server, a cluster of which some nodes are named, or a primary that Sentinels know. */
  kind: 'single' | 'cluster' | 'sentinel'
  servers: ServerAddress[]
  /** The primary's name at its Sentinels; empty for the other kinds. */
  name: string
  isTls: boolean
  username: string
  password: string
  database: number
}

export const redisUrlForms =
  'redis://host:6379, redis+cluster://host:6379,host:6379 or redis+sentinel://host:26379,host:26379/NAME (rediss for TLS)'

const defaultPorts = { single: 6379, cluster: 6379, sentinel: 26_379 }

/**
 * Reads `redis://[user:password@]host[:port][/database]`, `redis+cluster://…host,host` and
 * `redis+sentinel://…host,host/NAME`; with `rediss` in place of `redis` connections use TLS. Undefined if it is none of
 * these.
 */
export function parseRedisUrl(text: string): RedisAddress | undefined {
  const [, scheme, form, authority = '', path = ''] =
    /^(rediss?)(?:\+(cluster|sentinel))?:\/\/([^/?#]+)(?:\/([^?#]*))?/.exec(text) ?? []
  if (scheme === undefined) return undefined
  const kind = form === 'cluster' || form === 'sentinel' ? form : 'single'
  const credentials = authority.slice(0, authority.lastIndexOf('@') + 1)
  const hosts = authority.slice(credentials.length).split(',')
  const urls = hosts.flatMap((host) => {
    const one = `redis://${credentials}${host}`
    return host !== '' && URL.canParse(one) ? new URL(one) : []
  })
  const [first] = urls
  if (first === undefined || urls.length < hosts.length || (kind === 'single' && hosts.length > 1)) return undefined
  const [name, username, password] = [path, first.username, first.password].map(decoded)
  if (name === undefined || username === undefined || password === undefined) return undefined
  if (kind === 'sentinel' ? name === '' : !/^\d*$/.test(name)) return undefined
  const database = kind === 'sentinel' ? 0 : Number(name)
  // A cluster has only this one.
  if (kind === 'cluster' && database !== 0) return undefined
  return {
    kind,
    servers: urls.map(({ hostname, port }) => ({
      host: hostname.replaceAll(/^\[|\]$/g, ''),
      port: port === '' ? defaultPorts[kind] : Number(port),
    })),
    name: kind === 'sentinel' ? name : '',
    isTls: scheme === 'rediss',
    username,
    password,
    database,
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
