/** A host name or address, optionally with a port; `*.` before a name matches all subdomains. */
export const hostPattern =
  '^(?:\\*\\.)?(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?$'

const entryParts = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/
const usualPorts: Record<string, number> = { 'http:': 80, 'https:': 443 }

/** What a tool with this list may do. Entries are as `hostPattern` says. */
export function createAllowedHosts(list: string[]) {
  const entries = list.map((entry) => {
    const [, name = '', port] = entryParts.exec(entry.toLowerCase()) ?? []
    return { name, port: port === undefined ? undefined : Number(port) }
  })
  const matching = ({ protocol, hostname, port }: URL) =>
    entries.filter(
      (entry) =>
        (entry.name.startsWith('*.') ? hostname.endsWith(entry.name.slice(1)) : hostname === entry.name) &&
        (entry.port === undefined || entry.port === Number(port || usualPorts[protocol])),
    )

  return {
    mayReach: (url: URL): boolean => matching(url).length > 0,
    /**
     * Over https to its usual port, or to a port that the list names. A server on another port may belong to somebody
     * else, and plain http shows keys to the network.
     */
    mayReceiveKeys: (url: URL): boolean =>
      matching(url).some(({ port }) => port !== undefined || (url.protocol === 'https:' && url.port === '')),
  }
}
