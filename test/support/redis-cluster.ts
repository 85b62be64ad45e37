import path from 'node:path'
import { createClient } from 'redis'
import { freePort } from '../../local/services/ports.ts'
import { prepareRedis, startRedis } from '../../local/services/redis.ts'
import { eventually } from './eventually.ts'
import { type ServerTls, argumentsOf, redisTls } from './redis-tls.ts'

const password = 'secret of the cluster'
const primaryCount = 3
const slotCount = 16_384

type Client = Awaited<ReturnType<typeof connectTo>>

/**
 * A cluster on this machine: three primaries, each with a replica, with a password. With a certificate, its nodes and
 * its clients use TLS.
 */
export async function startRedisCluster(dataDir: string, tls?: ServerTls) {
  const { value: server } = await prepareRedis(() => undefined)
  const start = async (number: number) => {
    const [port, busPort, tlsPort] = [await freePort(), await freePort(), await freePort()]
    const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--cluster-port', String(busPort)]
    const secured = ['--requirepass', password, '--masterauth', password]
    const encrypted = argumentsOf(tls && [...(await redisTls(dataDir, tls, tlsPort)), 'tls-cluster yes'])
    const { pid, stop } = await startRedis({
      server,
      dataDir: path.join(dataDir, `node-${number}`),
      port,
      args: [...args, ...secured, ...encrypted],
    })
    const client = await connectTo(port)
    // That under which the nodes, and the service, know it.
    const announced = tls === undefined ? port : tlsPort
    return { port, announced, busPort, pid, stop, client, id: await client.clusterMyId() }
  }
  const nodes = await Promise.all(Array.from({ length: 2 * primaryCount }, (_, number) => start(number)))
  await form(nodes)
  const byPort = (port: number) => nodes.find((node) => node.port === port)
  const alive = () => nodes.filter(({ client }) => client.isReady)

  /** The node that has a slot now, as another node says. */
  async function ownerOf(slot: number) {
    const slots = await alive()[0]?.client.clusterSlots()
    const found = slots?.find(({ from, to }) => from <= slot && slot <= to)
    const owner = found && byPort(found.master.port)
    if (owner === undefined) throw new Error(`no node has slot ${slot}`)
    return owner
  }

  return {
    url: `${tls === undefined ? 'redis' : 'rediss'}+cluster://:${encodeURIComponent(password)}@${nodes.map(({ announced }) => `127.0.0.1:${announced}`).join(',')}`,
    ownerOf,
    keySlot: async (key: string) => alive()[0]?.client.clusterKeySlot(key),
    /** Kills the primary that has a slot. */
    async killOwnerOf(slot: number): Promise<void> {
      const { pid, client } = await ownerOf(slot)
      client.destroy()
      process.kill(pid, 'SIGKILL')
    },
    /** Waits until another node has taken over the slot and all slots are served. */
    async untilServed(slot: number): Promise<void> {
      await eventually('a replica to take over', async () => {
        if (!(await ownerOf(slot)).client.isReady) return false
        const states = await Promise.all(alive().map(({ client }) => client.clusterInfo()))
        return states.every((state) => state.includes('cluster_state:ok'))
      })
    },
    /** Lets the replica of the primary that has a slot take over, as at a planned restart. */
    async promoteReplicaOf(slot: number): Promise<void> {
      const before = await ownerOf(slot)
      const replica = await eventually('a replica', async () => {
        for (const node of alive()) if ((await node.client.role())?.master?.port === before.announced) return node
        return undefined
      })
      await replica.client.sendCommand(['CLUSTER', 'FAILOVER'])
      await eventually('the replica to take over', async () => (await ownerOf(slot)) === replica)
    },
    /**
     * Moves a slot with its keys to another primary, as `redis-cli --cluster reshard` does. `midway` is awaited while
     * keys are on neither or both sides of the move.
     */
    async moveSlot(slot: number, midway: () => Promise<void>): Promise<void> {
      const from = await ownerOf(slot)
      const roles = await Promise.all(alive().map(async (node) => ({ node, role: await node.client.role() })))
      const primaries = roles.filter(({ role }) => role?.role === 'master').map(({ node }) => node)
      const to = primaries.find((node) => node !== from)
      if (to === undefined) throw new Error('there is only one primary')
      const setSlot = ({ client }: { client: Client }, ...args: string[]) =>
        client.sendCommand(['CLUSTER', 'SETSLOT', String(slot), ...args])
      await setSlot(to, 'IMPORTING', from.id)
      await setSlot(from, 'MIGRATING', to.id)
      await midway()
      for (let keys = await from.client.clusterGetKeysInSlot(slot, 100); keys.length > 0;) {
        const target = ['127.0.0.1', String(to.announced), '', '0', '5000']
        await from.client.sendCommand(['MIGRATE', ...target, 'AUTH', password, 'KEYS', ...keys])
        keys = await from.client.clusterGetKeysInSlot(slot, 100)
      }
      await midway()
      await setSlot(to, 'NODE', to.id)
      for (const node of primaries) if (node !== to) await setSlot(node, 'NODE', to.id)
    },
    async stop(): Promise<void> {
      for (const { client } of nodes) client.destroy()
      await Promise.all(nodes.map(({ stop }) => stop()))
    },
  }
}

interface FormedNode {
  announced: number
  busPort: number
  client: Client
  id: string
}

/** Joins the nodes, gives each of the first three a third of the slots, and each of the others a primary. */
async function form(nodes: FormedNode[]): Promise<void> {
  const [first] = nodes
  for (const [index, { client }] of nodes.entries()) {
    await client.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)])
    if (index >= primaryCount) continue
    const [from, next] = [index, index + 1].map((part) => Math.floor((part * slotCount) / primaryCount))
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', String(from), String((next ?? 0) - 1)])
  }
  for (const { client } of nodes)
    await client.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', String(first?.announced), String(first?.busPort)])
  await onAll((state) => state.includes(`cluster_known_nodes:${nodes.length}`))
  for (const [index, { client }] of nodes.entries()) {
    if (index < primaryCount) continue
    const primary = nodes[index - primaryCount]
    // Not every node knows every other yet.
    await eventually('a replica', () => client.sendCommand(['CLUSTER', 'REPLICATE', String(primary?.id)]))
  }
  await onAll((state) => state.includes('cluster_state:ok'))
  await eventually('the replicas', async () => {
    const replicas = await Promise.all(nodes.slice(0, primaryCount).map(({ client }) => client.info('replication')))
    return replicas.every((said) => said.includes('state=online'))
  })

  async function onAll(isSo: (state: string) => boolean): Promise<void> {
    await eventually('the cluster', async () => {
      const states = await Promise.all(nodes.map(({ client }) => client.clusterInfo()))
      return states.every(isSo)
    })
  }
}

async function connectTo(port: number) {
  const client = createClient({ password, socket: { host: '127.0.0.1', port } })
  client.on('error', () => undefined)
  return await client.connect()
}
