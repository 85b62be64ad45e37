import { createClient, unwrap } from '../src/create-client.ts'
import type { Schemas } from '../src/create-client.ts'
import { type Target, targetOf } from './credentials.ts'
import { Failure, exitCodes } from './failure.ts'
import { plainLine } from './terminal.ts'

/** The service as the logged-in user. */
export interface Service extends Target {
  token: string
  api: ReturnType<typeof createClient>
}

export async function openService(url: string | undefined): Promise<Service> {
  const target = await targetOf(url)
  const { token } = target
  if (token === undefined)
    throw new Failure(`You are not logged in to ${target.url}: run "assistant login".`, exitCodes.login)
  return { ...target, token, api: createClient({ baseUrl: target.url, token: () => token }) }
}

const pageSize = 100
const maxPages = 100

/** All assistants of the project of the token. */
export async function listAssistants({ api }: Pick<Service, 'api'>): Promise<Schemas['Assistant'][]> {
  const all: Schemas['Assistant'][] = []
  for (let page = 0; page < maxPages; page++) {
    const call = api.GET('/assistants/', { params: { query: { limit: pageSize, offset: all.length } } })
    const { response } = await call
    all.push(...(await unwrap(call)))
    if (response.headers.get('link') === null) break
  }
  return all
}

/** The assistant with that name or id; without one, the only assistant that there is. */
export async function findAssistant(service: Service, wanted: string | undefined): Promise<Schemas['Assistant']> {
  const all = await listAssistants(service)
  const named =
    wanted === undefined ? all : all.filter(({ name, assistant_id: id }) => name === wanted || id === wanted)
  const [found, second] = named
  if (found !== undefined && second === undefined) return found
  const names = plainLine(
    all
      .slice(0, 10)
      .map(({ name }) => `"${name}"`)
      .join(', '),
  )
  if (wanted === undefined)
    throw new Failure(`Name an assistant with --assistant; there are ${names || 'none yet'}.`, exitCodes.usage)
  if (second !== undefined)
    throw new Failure(`Several assistants are called "${wanted}": use the id ("assistant assistants list").`)
  throw new Failure(`There is no assistant "${wanted}"; there are ${names || 'none yet'}.`)
}
