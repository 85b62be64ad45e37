import { api, queryClient, unwrap } from './api.ts'

/** A login at an MCP server that this tab has begun. */
interface Begun {
  attempt: string
  assistantId: string
  url: string
}

/** What a login server adds to the address when it sends the browser back. */
export interface Returned {
  code: string
  state: string
  iss?: string
}

const keyOf = (state: string) => `assistant-platform.mcp-login.${state}`

export const mcpLoginsKey = (assistantId: string) => ['mcp-logins', assistantId]

export const mcpRedirectUri = () => `${window.location.origin}/console/connected`

/** Leads the browser to the login server of an MCP server; empty `client`: the service registers itself there. */
export async function beginMcpLogin(
  assistantId: string,
  url: string,
  client: { id: string; secret: string },
): Promise<void> {
  const path = { params: { path: { aid: assistantId } } }
  const secret = client.secret === '' ? {} : { client_secret: client.secret }
  const given = client.id === '' ? {} : { client_id: client.id, ...secret }
  const begun = await unwrap(api.POST('/assistants/{aid}/mcp-logins', { ...path, body: { url, ...given } }))
  const kept: Begun = { attempt: begun.attempt, assistantId, url }
  sessionStorage.setItem(keyOf(begun.state), JSON.stringify(kept))
  window.location.assign(begun.redirect_to)
}

/** The login that the browser comes back from; undefined if this tab has begun none with that state. */
export function begunLogin(state: string): Begun | undefined {
  const kept = sessionStorage.getItem(keyOf(state))
  return kept === null ? undefined : (JSON.parse(kept) as Begun)
}

/** Takes what came back to the service, once. */
export async function finishMcpLogin({ attempt, assistantId }: Begun, returned: Returned): Promise<void> {
  sessionStorage.removeItem(keyOf(returned.state))
  await unwrap(
    api.PUT('/assistants/{aid}/mcp-logins', { params: { path: { aid: assistantId } }, body: { attempt, ...returned } }),
  )
  await queryClient.invalidateQueries({ queryKey: mcpLoginsKey(assistantId) })
}
