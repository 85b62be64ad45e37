import fs from 'node:fs'
import { createRequire } from 'node:module'

/** Run as a reader of files is: tries everything that a reader may not do, and says what it managed. */
const [secretPath = '', port = '', parent = ''] = process.argv.slice(2)
const require = createRequire(import.meta.url)

const attempts: Record<string, () => unknown> = {
  'read its own file': () => fs.readFileSync('file', 'utf8'),
  'read another file': () => fs.readFileSync(secretPath, 'utf8'),
  'read another file by a promise': () => fs.promises.readFile(secretPath),
  'list a folder': () => fs.readdirSync('/'),
  'read the environment of the service': () => fs.readFileSync(`/proc/${parent}/environ`),
  'write a file': () => fs.writeFileSync('written', 'x'),
  'change its file': () => fs.appendFileSync('file', 'x'),
  'make a link': () => fs.symlinkSync(secretPath, 'link'),
  'become root': () => process.setuid?.(0),
  'open a database': () => new (require('node:sqlite').DatabaseSync)(`${process.cwd()}/new.db`),
  'open a database by another way': () => process.getBuiltinModule('node:sqlite'),
  'import a database': () => import('node:sqlite'),
  'start a program': () => startError(),
  'start a thread': () => new (require('node:worker_threads').Worker)('1', { eval: true }),
  'load an addon': () => process.dlopen({ exports: {} }, secretPath),
  'open the inspector': () => require('node:inspector').open(0),
  'use internal bindings': () => Reflect.get(process, 'binding').call(process, 'tcp_wrap'),
  'send a signal': () => process.kill(Number(parent), 0),
  connect: () => connected(() => require('node:net').connect(Number(port), '127.0.0.1')),
  'connect by HTTP': () => connected(() => require('node:http').get(`http://127.0.0.1:${port}/`)),
  'connect by TLS': () => connected(() => require('node:tls').connect(Number(port), '127.0.0.1')),
  'connect to a local socket': () => connected(() => require('node:net').connect('/var/run/docker.sock')),
  fetch: () => fetch(`http://127.0.0.1:${port}/`),
  'open a web socket': () => opened(new WebSocket(`ws://127.0.0.1:${port}/`)),
  listen: () => require('node:net').createServer().listen(0),
  'send a datagram': () => require('node:dgram').createSocket('udp4').send('x', Number(port), '127.0.0.1'),
  'ask for a name': () => require('node:dns').lookup('localhost', () => undefined),
  'ask a name server': () => new (require('node:dns').Resolver)().resolve4('localhost', () => undefined),
  'ask for a name by a promise': () => require('node:dns').promises.lookup('localhost'),
}

function startError(): void {
  const { error } = require('node:child_process').spawnSync('true')
  if (error) throw new Error('not started', { cause: error })
}

function connected(open: () => { on(event: string, done: (value: unknown) => void): unknown }): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const opened = open()
    opened.on('connect', resolve)
    opened.on('response', resolve)
    opened.on('error', reject)
  })
}

function opened(socket: WebSocket): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error('refused')))
  })
}

const managed: string[] = []
for (const [what, attempt] of Object.entries(attempts)) {
  try {
    await attempt()
    managed.push(what)
  } catch {
    // As it should be.
  }
}
const names = Object.keys(process.env)
process.stdout.write(JSON.stringify({ managed, names, userId: process.getuid?.(), interfaces: networks() }))

function networks(): string[] {
  return Object.keys(require('node:os').networkInterfaces())
}
