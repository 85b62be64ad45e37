import dgram from 'node:dgram'
import dns from 'node:dns'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

/**
 * Loaded before the first parser. Node's permission model denies files, processes, threads and addons, but not the
 * network, signals and `node:sqlite` (which opens files by itself). This module removes those in JavaScript; where
 * the operating system allows it, a network namespace and a user id do so reliably.
 */
function refuse(): never {
  throw new Error('The process that reads files may not do this.')
}

/** Replaces functions of an object, by name or all. */
function close(target: object, names: string[] = Object.getOwnPropertyNames(target)): void {
  for (const name of names) {
    const known = Object.getOwnPropertyDescriptor(target, name)
    if (name === 'constructor' || typeof known?.value !== 'function') continue
    lock(target, name, refuse)
  }
}

function lock(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: false, configurable: false })
}

close(net.Socket.prototype, ['connect'])
close(net.Server.prototype, ['listen'])
close(dgram.Socket.prototype, ['bind', 'connect', 'send', 'sendto'])
close(dns.promises)
close(dns.promises.Resolver.prototype)
close(dns.Resolver.prototype)
close(dns)
for (const name of ['fetch', 'WebSocket', 'EventSource']) {
  // To look at one, or to change it, loads the library behind it, which takes a quarter of the time of a start.
  Reflect.deleteProperty(globalThis, name)
  lock(globalThis, name, refuse)
}
close(process, ['kill', '_kill', '_debugProcess', 'abort', 'setuid', 'seteuid', 'setgid', 'setegid', 'setgroups'])
syncBuiltinESMExports()

const isClosed = (specifier: string) => /^(node:)?sqlite$/.test(specifier)
registerHooks({
  resolve: (specifier, context, next) => (isClosed(specifier) ? refuse() : next(specifier, context)),
})
const getBuiltinModule = process.getBuiltinModule.bind(process)
lock(process, 'getBuiltinModule', (name: string) => (isClosed(name) ? refuse() : getBuiltinModule(name)))
