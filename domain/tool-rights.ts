import { type Acting, type PersonKind, type RunOrigin, kindOf } from './acting.ts'
import type { ToolType } from './tool-types.ts'

/** Who may use a tool, by what started the run. */
type Rights = Readonly<Record<RunOrigin, readonly PersonKind[]>>

const everybody = ['owner', 'member', 'person', 'nameless'] as const satisfies PersonKind[]
const everywhere: Rights = {
  chat: everybody,
  public: everybody,
  asked: everybody,
  scheduled: everybody,
  mcp: everybody,
}
/** A member of the project is not among them: what is kept of him would be kept for the owner. */
const known = ['owner', 'person'] as const satisfies PersonKind[]

/** The tools of an assistant that a run is offered. Each acts for the person of the run, and for nobody else. */
export const toolRights: Readonly<Record<ToolType, Rights>> = {
  retrieval: everywhere,
  http_request: everywhere,
  mcp: everywhere,
  web_search: everywhere,
  assistant: everywhere,
  code: everywhere,
  /** Of somebody without a name, nobody knows whose facts to give. Public callers are never the owner. */
  memory: { chat: known, public: ['person'], asked: known, scheduled: known, mcp: known },
  /**
   * Public callers make no schedules at the owner's cost. A run that a schedule started would multiply them, and nobody
   * sees what an assistant does later that another one asks.
   */
  schedule: { chat: known, public: [], asked: [], scheduled: [], mcp: ['owner'] },
  /** Only who started the run by a request of the account has the client that answers. */
  client: { chat: everybody, public: [], asked: [], scheduled: [], mcp: [] },
}

export function mayUse(type: ToolType, { person, origin }: Acting): boolean {
  return toolRights[type][origin].includes(kindOf(person))
}

/** The runs whose requests can bring functions of their client, and whose clients see the calls. */
const withClient: readonly RunOrigin[] = ['chat', 'public']

export function mayBringFunctions({ origin }: Acting): boolean {
  return withClient.includes(origin)
}

/**
 * Whether a run is told which files there are, and may read them from beginning to end. Callers without an account are
 * given passages only, as the owner expects who has published an assistant.
 */
export function mayReadFiles({ person, origin }: Acting): boolean {
  return origin !== 'public' && person !== 'nameless'
}
