import { setTimeout as pause } from 'node:timers/promises'
import { ClientClosedError, ClientOfflineError } from 'redis'
import { backOffMs } from '../../domain/back-off.ts'
import { within } from '../../services/within.ts'
import type { RedisClient, RedisNode, Subscriber } from './node.ts'
import { redirectionOf } from './redirection.ts'
import type { RedisServers } from './servers.ts'

/** One move, and one more for a failover at the same time. */
const maxRedirections = 5
const tryAgainMs = 50

type RedisCommands = ReturnType<typeof createCommands>

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

interface Listener {
  receive(text: string): void
  /** The subscription is broken: from now on, messages are missed. */
  lost(): void
  /** The subscription works again, and the server answers commands. */
  back(): void
}

interface Subscription {
  channel: string
  isSharded: boolean
  listener: Listener
  receive(text: string): void
  /** Where it is subscribed now, or is being subscribed. */
  at: Subscriber | undefined
  isAttaching: boolean
  isEnded: boolean
}

/**
 * The subscriptions of this process, each on the server that has the slot of its channel. One that breaks, because its
 * connection is lost or its slot has moved, is made anew until it succeeds.
 */
export function createChannels(
  servers: Pick<RedisServers, 'ownerOf'> & Pick<RedisCommands, 'learnFrom'>,
  isSharded: boolean,
  onError: (error: unknown) => void,
) {
  const subscriptions = new Set<Subscription>()
  const watched = new WeakSet<Subscriber>()
  let isClosed = false

  async function attach(subscription: Subscription): Promise<void> {
    subscription.isAttaching = true
    for (let failures = 1; !subscription.isEnded && !isClosed; failures++) {
      try {
        const subscriber = await subscriberOf(servers.ownerOf(subscription.channel))
        watch(subscriber)
        await attachTo(subscription, subscriber)
        subscription.isAttaching = false
        if (subscription.isEnded) await detach(subscription)
        return
      } catch (error) {
        subscription.at = undefined
        await servers.learnFrom(error).catch(onError)
        await pause(backOffMs(failures, { firstMs: 50, longestMs: 500 }))
      }
    }
    if (isClosed) throw new ClientClosedError()
  }

  /** Whoever hears nothing more from this connection subscribes anew. */
  function watch(subscriber: Subscriber): void {
    if (watched.has(subscriber)) return
    watched.add(subscriber)
    const lose = (isConcerned: (subscription: Subscription) => boolean) => {
      for (const subscription of subscriptions) {
        if (subscription.at !== subscriber || !isConcerned(subscription)) continue
        subscription.at = undefined
        if (!subscription.isAttaching) renew(subscription)
      }
    }
    subscriber.lost.addEventListener('abort', () => lose(() => true))
    // Its server has given away the slot.
    subscriber.client.on('sharded-channel-moved', (moved: string) => lose(({ channel }) => channel === moved))
  }

  function renew(subscription: Subscription): void {
    subscription.listener.lost()
    attach(subscription)
      .then(() => {
        if (!subscription.isEnded) subscription.listener.back()
      })
      .catch((error: unknown) => {
        if (!isClosed) onError(error)
      })
  }

  return {
    /**
     * Hears what is published on a channel, until the returned function is called; with `isOfSlot`, only what a server
     * that has the slot of the channel publishes. Resolves when it hears.
     */
    async subscribe(channel: string, listener: Listener, { isOfSlot = false } = {}): Promise<() => Promise<void>> {
      const subscription: Subscription = {
        channel,
        isSharded: isSharded && isOfSlot,
        listener,
        receive: (text) => listener.receive(text),
        at: undefined,
        isAttaching: true,
        isEnded: false,
      }
      subscriptions.add(subscription)
      await attach(subscription)
      return async () => {
        subscription.isEnded = true
        subscriptions.delete(subscription)
        await detach(subscription)
      }
    },
    /** Slots may have other owners: whoever is subscribed elsewhere subscribes there. */
    follow(): void {
      for (const subscription of subscriptions) {
        const { at, channel, isAttaching } = subscription
        if (isAttaching || at === undefined || at.node === servers.ownerOf(channel)) continue
        detach(subscription).catch(() => undefined)
        renew(subscription)
      }
    },
    close(): void {
      isClosed = true
    },
  }
}

async function subscriberOf(node: RedisNode | undefined): Promise<Subscriber> {
  if (node === undefined || !node.commands.isReady) throw new ClientOfflineError()
  return node.subscriber()
}

async function attachTo(subscription: Subscription, subscriber: Subscriber): Promise<void> {
  const { channel, receive } = subscription
  subscription.at = subscriber
  const { client } = subscriber
  await (subscription.isSharded ? client.sSubscribe(channel, receive) : client.subscribe(channel, receive))
  // The slot may have moved, or the connection may be lost, with the answer.
  if (subscription.at !== subscriber || subscriber.lost.aborted) throw new ClientOfflineError()
}

async function detach(subscription: Subscription): Promise<void> {
  const { at, channel, receive } = subscription
  subscription.at = undefined
  if (at === undefined || at.lost.aborted) return
  await (subscription.isSharded ? at.client.sUnsubscribe(channel, receive) : at.client.unsubscribe(channel, receive))
}
