import type { ServerAddress } from './address.ts'

type Redirection =
  /** The slot belongs to another server. */
  | { kind: 'moved'; slot: number; at: ServerAddress }
  /** The slot is being moved, and this command is for the server that gets it. */
  | { kind: 'ask'; at: ServerAddress }
  /** The slot is being moved, and its keys are on both servers for a moment. */
  | { kind: 'again' }
  /** The server was the primary, or is cut off from the others. */
  | { kind: 'demoted' }

/**
 * What an error says about where to ask instead; undefined if it says nothing of that.
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#redirection-and-resharding
 */
export function redirectionOf(error: unknown): Redirection | undefined {
  if (!(error instanceof Error)) return undefined
  const [, kind, slot, host = '', port] = /^(MOVED|ASK) (\d+) (\S*):(\d+)$/.exec(error.message) ?? []
  if (kind !== undefined) {
    const at = { host, port: Number(port) }
    // Without a host, only who asks anew learns where it is.
    if (host === '') return { kind: 'demoted' }
    return kind === 'MOVED' ? { kind: 'moved', slot: Number(slot), at } : { kind: 'ask', at }
  }
  if (error.message.startsWith('TRYAGAIN ')) return { kind: 'again' }
  if (/^(READONLY|CLUSTERDOWN|NOREPLICAS) /.test(error.message)) return { kind: 'demoted' }
  return undefined
}

/** The server, or the part of the cluster that has the key, cannot answer now. */
export function isUnavailableReply({ message }: Error): boolean {
  return /^(CLUSTERDOWN|NOREPLICAS|TRYAGAIN|READONLY|LOADING|MASTERDOWN|MOVED|ASK) /.test(message)
}
