import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { isOwnConnection, listedByLsof, ownerIn } from '../../infra/own-connection.ts'

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const row = (local: string, remote: string, uid: number) =>
  `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000  ${uid}        0 14159 1 0000000000000000 20 4 30 10 -1`
// 8100 is 1FA4, 41732 is A304.
const ports = { clientPort: 41_732, serverPort: 8100 }

it('finds the user of the client in the tables of Linux', () => {
  const server = row('0100007F:1FA4', '0100007F:A304', 7)
  expect(ownerIn([head, server, row('0100007F:A304', '0100007F:1FA4', 1001)].join('\n'), ports)).toBe(1001)
  const six = '00000000000000000000000001000000'
  expect(ownerIn([head, row(`${six}:A304`, `${six}:1FA4`, 12)].join('\n'), ports)).toBe(12)
  const mapped = '0000000000000000FFFF00000100007F'
  expect(ownerIn([head, row(`${mapped}:A304`, `${mapped}:1FA4`, 12)].join('\n'), ports)).toBe(12)
  // The server's own end, another port, and an address of a network say nothing.
  expect(ownerIn([head, server].join('\n'), ports)).toBeUndefined()
  expect(ownerIn([head, row('0100007F:A305', '0100007F:1FA4', 1001)].join('\n'), ports)).toBeUndefined()
  expect(ownerIn([head, row('0A00000A:A304', '0A00000A:1FA4', 1001)].join('\n'), ports)).toBeUndefined()
  expect(ownerIn('', ports)).toBeUndefined()
})

it('finds it in what lsof lists elsewhere', () => {
  const of = (user: number, ...names: string[]) => ['p7568', `u${user}`, ...names.map((name) => `n${name}`)].join('\n')
  const client = '127.0.0.1:41732->127.0.0.1:8100'
  expect(listedByLsof(of(501, '[::1]:1->[::1]:2', client), ports, 501)).toBe(true)
  expect(listedByLsof(of(501, client), ports, 502)).toBe(false)
  expect(listedByLsof([of(501, '127.0.0.1:9->127.0.0.1:10'), of(502, client)].join('\n'), ports, 501)).toBe(false)
  expect(listedByLsof(of(501, '127.0.0.1:8100->127.0.0.1:41732'), ports, 501)).toBe(false)
  expect(listedByLsof('', ports, 501)).toBe(false)
})

it('knows connections of this process, and none that does not exist', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: serverPort } = server.address() as AddressInfo
  const client = connect(serverPort, '127.0.0.1')
  await once(client, 'connect')
  const clientPort = client.localPort ?? 0
  expect(await isOwnConnection({ clientPort, serverPort })).toBe(true)
  expect(await isOwnConnection({ clientPort, serverPort: serverPort + 1 })).toBe(false)
  client.destroy()
  server.close()
})
