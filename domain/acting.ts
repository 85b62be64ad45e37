/**
 * Who uses an assistant: the owner of its account; a member of its project, with an account of his own; somebody else whom
 * the request names, as `personNamed` keeps the name; or somebody whom nobody names.
 */
export type Person = 'owner' | 'nameless' | `member/${string}` | `person/${string}`

export const personKinds = ['owner', 'member', 'person', 'nameless'] as const
export type PersonKind = (typeof personKinds)[number]

/**
 * What starts a run: a request of the account, a caller without an account, a call of another assistant, a schedule, or a
 * program by the Model Context Protocol.
 */
export const runOrigins = ['chat', 'public', 'asked', 'scheduled', 'mcp'] as const
type RunOrigin = (typeof runOrigins)[number]

/** For whom a run works, and what started it. Whatever the run makes takes its rights from both. */
export interface Acting {
  person: Person
  origin: RunOrigin
}

const personPattern = /^(?:owner|nameless|(?:member|person)\/[\w-]{43})$/

export function isPerson(text: string): text is Person {
  return personPattern.test(text)
}

export function kindOf(person: Person): PersonKind {
  if (person === 'owner' || person === 'nameless') return person
  return person.startsWith('member/') ? 'member' : 'person'
}

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

/** The kinds of tools that an assistant can have. */
export const toolTypes = [
  'retrieval',
  'http_request',
  'mcp',
  'web_search',
  'schedule',
  'memory',
  'assistant',
  'code',
  'client',
] as const
export type ToolType = (typeof toolTypes)[number]

/** What a member may do in a project that is shared, from the least to the most. */
export const projectRoles = ['viewer', 'member', 'editor', 'owner'] as const
export type ProjectRole = (typeof projectRoles)[number]

/** What an operation demands: a role, or that the project is held by the caller's own account. */
export type NeededRole = ProjectRole | 'holder'

/** The most that several roles allow; undefined of none. */
export function highestOf(roles: readonly ProjectRole[]): ProjectRole | undefined {
  return projectRoles.findLast((role) => roles.includes(role))
}

/** Whether who has the role may do what demands another. */
export function isEnough(role: ProjectRole, needed: ProjectRole): boolean {
  return projectRoles.indexOf(role) >= projectRoles.indexOf(needed)
}
