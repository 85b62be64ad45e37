import { setTimeout as pause } from 'node:timers/promises'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { parseOwnJson } from '../../domain/json.ts'
import type { AssistantRecord, McpLoginRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import type { Outbound } from '../outbound.ts'
import type { Owner } from '../owner.ts'
import type { SecretBox } from '../secrets.ts'
import { LoginServer, type Tokens } from './login-server.ts'
import { mcpLoginStore } from './store.ts'

interface McpLoginsDeps {
  collections: Pick<Collections, 'assistants'>
  assistants: { readOwn(owner: Owner, assistantId: string): Promise<AssistantRecord> }
  outbound: Pick<Outbound, 'fetchWith' | 'assertReachable'>
  secretBox: SecretBox
  /** The page of the console to which login servers send the browser back. */
  redirectUri: string
}

const attemptLifetimeMs = 600_000
/** Tokens are renewed so long before they end. */
const marginMs = 60_000
/** Longer than a renewal takes: one process renews a login at a time, because servers take a refresh token once. */
const renewalMs = 20_000
const requestTimeoutMs = 10_000
/** Also bounds what is stored of a server. */
const maxAnswerBytes = 64 * 1024
const maxLogins = 50

const Attempt = Type.Object({
  user: Type.String(),
  url: Type.String(),
  state: Type.String(),
  codeVerifier: Type.String(),
  server: LoginServer,
  /** A person has registered the client, now or for the login before. */
  isClientGiven: Type.Boolean(),
  expiresAt: Type.Number(),
})
type Attempt = Static<typeof Attempt>

const Login = Type.Object({
  server: LoginServer,
  accessToken: Type.String(),
  refreshToken: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Type.Number()),
})
type Login = Static<typeof Login>

/** Who begins a login in the browser: only the same person can end it. */
interface Beginner {
  owner: Owner
  user: string
}

export interface Wanted {
  url: string
  /** How the person has registered this service at the login server; undefined: as before, or it registers itself. */
  client?: LoginServer['client'] | undefined
}

export interface Callback {
  attempt: string
  code: string
  state: string
  iss?: string
}

export type McpLogins = ReturnType<typeof createMcpLogins>

/** Loaded when first used, as the client of MCP servers. */
const servers = () => import('./authorization-server.ts')

/**
 * Logins of assistants at MCP servers by OAuth in the browser (MCP 2025-11-25, Authorization). The state of a login that was
 * begun is kept by the browser, sealed. The tokens are kept sealed with the assistant, are renewed before they end, and are
 * sent to no other address than that of the server.
 */
export function createMcpLogins({ collections, assistants, outbound, secretBox, redirectUri }: McpLoginsDeps) {
  const store = mcpLoginStore(collections)
  const guarded = outbound.fetchWith({ maxBytes: maxAnswerBytes, json: { bytes: maxAnswerBytes } })
  const asking = (signal?: AbortSignal) => ({
    redirectUri,
    fetch: ((input, init) => {
      const limits = [AbortSignal.timeout(requestTimeoutMs), signal, init?.signal].flatMap((one) => one ?? [])
      return guarded(input, { ...init, signal: AbortSignal.any(limits) })
    }) satisfies typeof guarded,
  })
  const sealed = (assistantId: string, url: string, login: Login) =>
    secretBox.seal(JSON.stringify(login), loginContext(assistantId, url))

  function opened(assistantId: string, { url, sealed: text }: McpLoginRecord): Login | undefined {
    if (text === undefined) return undefined
    return Value.Parse(Login, parseOwnJson(secretBox.open(text, loginContext(assistantId, url))))
  }

  const sealedClient = (assistantId: string, url: string, client: LoginServer['client']) =>
    secretBox.seal(JSON.stringify(client), clientContext(assistantId, url))
  const openClient = (assistantId: string, url: string, text: string) =>
    Value.Parse(LoginServer.properties.client, parseOwnJson(secretBox.open(text, clientContext(assistantId, url))))

  return {
    /** The address to which the browser goes, and the sealed state that it brings back. Throws `bad_request`. */
    async begin({ owner, user }: Beginner, assistantId: string, { url, client }: Wanted) {
      const { mcp_logins: logins = [] } = await assistants.readOwn(owner, assistantId)
      await outbound.assertReachable(url, ['body', 'url'])
      const before = logins.find((one) => one.url === url)?.client
      const given = client ?? (before === undefined ? undefined : openClient(assistantId, url, before))
      const { beginLogin } = await servers()
      const { redirectTo, ...begun } = await beginLogin(url, { ...asking(), client: given })
      const isClientGiven = given !== undefined
      const attempt: Attempt = { user, url, ...begun, isClientGiven, expiresAt: Date.now() + attemptLifetimeMs }
      return {
        redirectTo,
        state: begun.state,
        attempt: secretBox.seal(JSON.stringify(attempt), attemptContext(assistantId)),
      }
    },

    /** Keeps the tokens. Throws `bad_request` for an attempt of somebody else, or one that is over. */
    async finish({ owner, user }: Beginner, assistantId: string, callback: Callback): Promise<McpLoginRecord> {
      await assistants.readOwn(owner, assistantId)
      const attempt = openAttempt(assistantId, callback.attempt)
      if (attempt?.user !== user || attempt.state !== callback.state) throw notBegunHere()
      const { url, server, codeVerifier, isClientGiven } = attempt
      const { issuer, authorization_response_iss_parameter_supported: saysIssuer } = server.metadata
      // Else one server could be given the code of another (RFC 9207).
      if (callback.iss === undefined ? saysIssuer === true : callback.iss !== issuer) throw notBegunHere()
      const { tokensFor } = await servers()
      const tokens = await tokensFor(server, { code: callback.code, codeVerifier }, asking())
      const login = {
        id: newId(),
        url,
        user_id: user,
        sealed: sealed(assistantId, url, { server, ...tokens }),
        ...(isClientGiven && { client: sealedClient(assistantId, url, server.client) }),
        connected_at: new Date(),
      }
      if (!(await store.put(owner, assistantId, login, maxLogins)))
        throw new AppError('forbidden', `An assistant has at most ${maxLogins} logins at MCP servers.`)
      return login
    },

    async list(owner: Owner, assistantId: string): Promise<McpLoginRecord[]> {
      return (await assistants.readOwn(owner, assistantId)).mcp_logins ?? []
    },

    async remove(owner: Owner, assistantId: string, loginId: string): Promise<void> {
      await assistants.readOwn(owner, assistantId)
      if (!(await store.remove(owner, assistantId, loginId)))
        throw new AppError('not_found', 'The assistant has no such login.')
    },

    /**
     * What a request to an MCP server carries as `Authorization`; undefined without a login. The record may be as old as the
     * run. `refused`: the server did not accept this one, though its time is not over. Throws, without secrets, if the login
     * has ended.
     */
    async authorizationFor(
      { _id, mcp_logins: logins = [] }: Pick<AssistantRecord, '_id' | 'mcp_logins'>,
      url: string,
      signal: AbortSignal,
      refused?: string,
    ): Promise<string | undefined> {
      if (!logins.some((one) => one.url === url)) return undefined
      const giveUpAt = Date.now() + renewalMs
      for (;;) {
        const record = await store.findOfAny(_id, url)
        if (record === undefined) return undefined
        const login = opened(_id, record)
        if (login === undefined) throw new Error('the login at the MCP server has ended; connect it again')
        const leftMs = (login.expiresAt ?? Infinity) - Date.now()
        const authorization = `Bearer ${login.accessToken}`
        const isRefused = authorization === refused
        const mayRenew = login.refreshToken !== undefined || leftMs <= 0
        if (!isRefused && (leftMs > marginMs || !mayRenew)) return authorization
        if (await store.beginRenewal(_id, record, renewalMs)) {
          const renewed = await renew(_id, record, login, signal)
          if (renewed !== undefined) return `Bearer ${renewed.accessToken}`
          continue
        }
        // Another process renews it.
        if (leftMs > 0 && !isRefused) return authorization
        if (Date.now() > giveUpAt) throw new Error('the login at the MCP server cannot be renewed at the moment')
        await pause(200, undefined, { signal })
      }
    },

    /** Seals what is sealed under a previous `SECRETS_KEY` again, and returns how many there were. Safe to repeat. */
    async reseal(): Promise<number> {
      let count = 0
      for await (const { _id, mcp_logins: logins = [] } of store.openOfAny()) {
        for (const record of logins) {
          const { url, client } = record
          const old = [record.sealed, client].filter((text) => text !== undefined && !secretBox.isCurrent(text))
          if (old.length === 0) continue
          const login = opened(_id, record)
          const fresh = {
            ...record,
            ...(login && { sealed: sealed(_id, url, login) }),
            ...(client && { client: sealedClient(_id, url, openClient(_id, url, client)) }),
          }
          if (await store.replace(_id, record, fresh)) count++
        }
      }
      return count
    },
  }

  /** Undefined if the server does not renew it any more, which is then noted. */
  async function renew(
    assistantId: string,
    record: McpLoginRecord,
    { server, refreshToken }: Login,
    signal: AbortSignal,
  ): Promise<Tokens | undefined> {
    const { renewing_until: _over, sealed: _old, ...kept } = record
    try {
      const { renewedTokens } = await servers()
      const renewed = refreshToken && (await renewedTokens(server, refreshToken, asking(signal).fetch))
      // Servers that send no new refresh token leave the old one valid.
      const tokens = renewed && { refreshToken, ...renewed }
      const text = tokens && sealed(assistantId, record.url, { server, ...tokens })
      await store.replace(assistantId, record, { ...kept, ...(text && { sealed: text }) })
      return tokens || undefined
    } catch (error) {
      await store.replace(assistantId, record, { ...kept, ...(record.sealed && { sealed: record.sealed }) })
      throw error
    }
  }

  function openAttempt(assistantId: string, text: string): Attempt | undefined {
    try {
      const attempt: unknown = parseOwnJson(secretBox.open(text, attemptContext(assistantId)))
      return Value.Check(Attempt, attempt) && attempt.expiresAt > Date.now() ? attempt : undefined
    } catch {
      return undefined
    }
  }
}

const attemptContext = (assistantId: string) => `mcp-login-attempt\n${assistantId}`
const clientContext = (assistantId: string, url: string) => `mcp-client\n${assistantId}\n${url}`
const loginContext = (assistantId: string, url: string) => `mcp-login\n${assistantId}\n${url}`

function notBegunHere(): AppError {
  return new AppError('bad_request', 'The answer does not belong to a login that you have begun here. Connect again.')
}
