import { setTimeout as pause } from 'node:timers/promises'
import { ClientOfflineError } from 'redis'
import { within } from '../../services/within.ts'
import type { RedisClient, RedisNode } from './node.ts'
import { redirectionOf } from './redirection.ts'
import type { RedisServers } from './servers.ts'

/** One move, and one more for a failover at the same time. */
const maxRedirections = 5
const tryAgainMs = 50

export type RedisCommands = ReturnType<typeof createCommands>

/** Commands, each on the server that has its keys. `openingMs`: how long a command waits for a new connection. */
export function createCommands(
  { ownerOf, nodeAt, move, refresh }: Pick<RedisServers, 'ownerOf' | 'nodeAt' | 'move' | 'refresh'>,
  openingMs: number,
) {
  /** Learns from an error who has a slot. Returns whether another attempt may succeed. */
  async function learnFrom(error: unknown): Promise<boolean> {
    const redirection = redirectionOf(error)
    switch (redirection?.kind) {
      case 'moved':
        move(redirection.slot, redirection.at)
        return true
      case 'demoted':
        return refresh()
      case 'again':
        await pause(tryAgainMs)
        return true
      default:
        return false
    }
  }

  async function opened(node: RedisNode | undefined): Promise<RedisClient> {
    if (node === undefined) throw new ClientOfflineError()
    if (!node.commands.isReady) await within(openingMs, node.connected)
    return node.commands
  }

  return {
    learnFrom,
    /**
     * Executes one command or script on the server that has its keys. All its keys are in the slot of `key`, and `ask`
     * calls the client once, before it returns.
     */
    async at<T>(key: string, ask: (client: RedisClient) => Promise<T>): Promise<T> {
      let asking: RedisNode | undefined
      for (let attempt = 1; ; attempt++) {
        try {
          if (asking === undefined) return await ask(await opened(ownerOf(key)))
          const client = await opened(asking)
          const [, reply] = await Promise.all([client.sendCommand(['ASKING']), ask(client)])
          return reply
        } catch (error) {
          const redirection = redirectionOf(error)
          asking = redirection?.kind === 'ask' ? nodeAt(redirection.at) : undefined
          const mayRepeat =
            attempt <= maxRedirections && (asking !== undefined || (await learnFrom(error).catch(() => false)))
          if (!mayRepeat) throw error
        }
      }
    },
  }
}
