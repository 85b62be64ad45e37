import { eventually } from '../support/eventually.ts'
import { startHttpServer } from '../support/http-server.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import type { RunningService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

export interface Answer {
  status?: number
  type?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

type Pages = Record<string, string | Answer | ((headers: NodeJS.Dict<string | string[]>) => Answer)>

/** A web site of a test: its pages by path, and what it was asked. Pages can be changed. */
export async function startSite(pages: Pages) {
  const asked: string[] = []
  const agents = new Set<string>()
  let open = 0
  let mostAtOnce = 0
  const server = await startHttpServer((request, response) => {
    const path = request.url ?? '/'
    asked.push(path)
    agents.add(request.headers['user-agent'] ?? '')
    mostAtOnce = Math.max(mostAtOnce, ++open)
    response.once('close', () => open--)
    const found = pages[path]
    const answer =
      typeof found === 'function' ? found(request.headers) : typeof found === 'string' ? { body: found } : found
    if (answer === undefined) {
      response.writeHead(404).end('nothing')
      return
    }
    response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'text/html', ...answer.headers })
    response.end(answer.body ?? '')
  })
  return { ...server, pages, asked, agents, mostAtOnce: () => mostAtOnce }
}

/** A page with a heading, a text that is long enough to be the main part, and links. */
export function page(title: string, text: string, links: string[] = []): string {
  const anchors = links.map((href) => `<li><a href="${href}">${href}</a></li>`).join('')
  return `<!doctype html><html><head><title>${title}</title></head><body>
<nav>Everywhere on the site</nav>
<main><h1>${title}</h1><p>${text}</p><ul>${anchors}</ul></main><footer>All rights reserved</footer></body></html>`
}

/** A user with an assistant, and the words by which the tests make and watch sources. */
export async function webReader(service: RunningService) {
  const client = await knowledgeClient(await insertUser(service))
  const path = `/assistants/${client.assistantId}/sources`
  return {
    ...client,
    path,
    add: (source: object) => client.call('POST', path, source),
    read: async (id: string): Promise<any> => (await client.call('GET', `${path}/${id}`)).body,
    refresh: (id: string) => client.call('POST', `${path}/${id}/refresh`, {}),
    /** A crawl ends with a status, so this waits for as long as a test may take: a busy machine reads slowly. */
    ended: (id: string, limitMs = 150_000) =>
      eventually(
        'the end of the crawl',
        async () => {
          const { body } = await client.call('GET', `${path}/${id}`)
          return (body.status === 'ready' || body.status === 'failed') && body
        },
        limitMs,
      ),
    pages: async (id: string, query = ''): Promise<any[]> =>
      (await client.call('GET', `${path}/${id}/pages?limit=1000${query}`)).body.pages,
    search: async (query: string): Promise<any[]> =>
      (await client.call('POST', `/assistants/${client.assistantId}/files/search`, { query })).body.passages,
  }
}
