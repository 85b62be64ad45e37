import { createHmac, generateKeyPairSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationsWithRoles, roleOfOperation } from '../../api/plugins/operation-roles.ts'
import { isEnough, projectRoles } from '../../domain/acting.ts'
import { newId } from '../../domain/ids.ts'
import { joinProject, tokenOf } from '../projects/joined.ts'
import { type RunningService, type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'
import { type Access, access } from './access-table.ts'
import { createSide, documentOf } from './cross-user-requests.ts'

interface Operation {
  method: string
  path: string
  name: string
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const codecToken = `codec-${newId()}-${newId()}`

/** What a request may present, by name. The last five are valid for somebody. */
type Credential =
  | 'nothing'
  | 'garbage'
  | 'an expired token'
  | 'an unsigned token'
  | 'a token signed with the public key as secret'
  | 'a token of another issuer'
  | 'a token for another audience'
  | 'a token of another secret'
  | 'a token of a project that is gone'
  | 'a service token'
  | 'a public token'
  | 'the admin token'
  | 'the token of the codec'

/** What opens a kind of route. Everything else must be answered 401, and opens nothing. */
const opens: Record<Exclude<Access, 'none'>, Credential[]> = {
  user: ['a service token', 'a token of a project that is gone'],
  project: ['a service token'],
  token: ['a service token', 'a token of a project that is gone'],
  'optional-user': ['a service token', 'a token of a project that is gone', 'nothing'],
  public: ['a public token'],
  'public or project': ['a public token', 'a service token'],
  codec: ['the token of the codec'],
  admin: ['the admin token'],
  // Not in the description: test/groups/scim.test.ts.
  scim: [],
}

describe('every operation with every credential', () => {
  let service: TestService
  let credentials: Record<Credential, string | undefined>
  let operations: Operation[]
  let ids: Record<string, string>

  beforeAll(async () => {
    service = await startService({
      worker: false,
      env: {
        JWT_ALGORITHM: 'HS256,RS256',
        JWT_DECODE_KEY_BASE64: Buffer.from(publicPem).toString('base64'),
        TEMPORAL_CODEC_KEY: Buffer.alloc(32, 7).toString('base64'),
        TEMPORAL_CODEC_TOKEN: codecToken,
        DELETION_WAIT_SECONDS: '1',
        // More wrong admin tokens than anybody may try.
        RATE_LIMIT_TABLE: 'admin_guesses=off',
      },
    })
    const prepared = await prepare(service)
    credentials = prepared.credentials
    ids = prepared.ids
    operations = (await documentOf(service)).filter(({ method }) => method !== 'OPTIONS')
  })
  afterAll(() => service.close())

  it('is listed with its allowed credentials, and nothing else is listed', () => {
    expect(operations.map(({ name }) => name).toSorted()).toEqual(Object.keys(access).toSorted())
    expect(operations.length).toBeGreaterThan(90)
  })

  it('is refused with every credential that it does not accept', { timeout: 240_000 }, async () => {
    const wrong: string[] = []
    let sent = 0
    for (const operation of operations) {
      const kind = access[operation.name]
      if (kind === undefined || kind === 'none') continue
      for (const [credential, token] of entriesOf(credentials)) {
        if (opens[kind].includes(credential)) continue
        const { status, text } = await send(operation, token)
        sent += 1
        const isOfProject = kind === 'project' || kind === 'public or project'
        const expected = isOfProject && credential === 'a token of a project that is gone' ? 403 : 401
        if (status !== expected) wrong.push(`${operation.name} with ${credential}: ${status} ${text.slice(0, 200)}`)
      }
    }
    expect(wrong).toEqual([])
    expect(sent).toBeGreaterThan(800)
  })

  it('is accepted with its credentials', async () => {
    const wrong: string[] = []
    let sent = 0
    for (const operation of operations) {
      const kind = access[operation.name]
      if (kind === undefined || kind === 'none') continue
      for (const credential of opens[kind]) {
        // An account that is deleted here is one of its own.
        const isLast = operation.name === 'auth.deleteUser'
        const token = isLast ? (await insertUser(service)).token : credentials[credential]
        const { status, text } = await send(operation, token, { unknownIds: true })
        sent += 1
        if ([401, 403].includes(status))
          wrong.push(`${operation.name} with ${credential}: ${status} ${text.slice(0, 200)}`)
      }
    }
    expect(wrong).toEqual([])
    expect(sent).toBeGreaterThan(80)
  })

  it('ignores credentials if it requires none', async () => {
    const wrong: string[] = []
    const open = operations.filter(({ name }) => access[name] === 'none')
    for (const operation of open) {
      const { status } = await send(operation, undefined)
      for (const [credential, token] of entriesOf(credentials)) {
        const answer = await send(operation, token)
        if (answer.status !== status)
          wrong.push(`${operation.name} with ${credential}: ${answer.status}, not ${status}`)
      }
    }
    expect(wrong).toEqual([])
    expect(open.length).toBeGreaterThan(8)
  })

  describe('by the members of a project', () => {
    const ofProjects = () =>
      operations.filter(({ name }) => ['project', 'public or project'].includes(access[name] ?? '') || isInPath(name))
    const isInPath = (name: string) => name.startsWith('projects.') && roleOfOperation(name) !== undefined

    it('has a role for each operation of projects, and for no other', () => {
      expect(ofProjects().filter(({ name }) => roleOfOperation(name) === undefined)).toEqual([])
      const known = new Set([...ofProjects().map(({ name }) => name), 'assistants.read'])
      expect([...operationsWithRoles].filter((name) => !known.has(name))).toEqual([])
    })

    it('is refused and accepted as its role says', { timeout: 240_000 }, async () => {
      const wrong: string[] = []
      for (const role of projectRoles) {
        const owner = await insertUser(service)
        const member = await joinProject(service, owner.projectId, role)
        for (const operation of ofProjects()) {
          const needed = roleOfOperation(operation.name) ?? 'holder'
          const mayDo = needed !== 'holder' && isEnough(role, needed)
          // What a member may delete is not there, so that the project stays.
          const isLast = ['projects.delete', 'users.loginCodes.decide'].includes(operation.name)
          if (isLast && mayDo) continue
          const { status, text } = await send(operation, member.token, { unknownIds: true, projectId: owner.projectId })
          const isRefused = status === 403 && text.includes(`Your role in this project is ${role}`)
          if (isRefused === mayDo) wrong.push(`${operation.name} as ${role}: ${status} ${text.slice(0, 200)}`)
        }
      }
      expect(wrong).toEqual([])
    })

    it('is refused to whoever is removed, and to strangers', { timeout: 120_000 }, async () => {
      const wrong: string[] = []
      const owner = await insertUser(service)
      const removed = await joinProject(service, owner.projectId, 'owner')
      await owner.delete(`/projects/${owner.projectId}/members/${removed.memberId}`)
      const stranger = await insertUser(service)
      const token = await tokenOf(service, stranger.userId, owner.projectId)
      for (const [who, foreign] of [
        ['removed', removed.token],
        ['a stranger', token],
      ] as const)
        for (const operation of ofProjects()) {
          const { status, text } = await send(operation, foreign, { unknownIds: true, projectId: owner.projectId })
          if (status !== 403) wrong.push(`${operation.name} as ${who}: ${status} ${text.slice(0, 200)}`)
        }
      expect(wrong).toEqual([])
    })
  })

  async function send(
    { method, path, name }: Operation,
    token: string | undefined,
    { unknownIds = false, projectId = '' } = {},
  ) {
    const filled = path.replace(/\{(\w+)\}/g, (_whole, parameter: string) => {
      if (parameter === 'token') return encodeURIComponent(token ?? 'nothing')
      if (parameter === 'project_id' && projectId !== '') return projectId
      return unknownIds ? newId() : (ids[parameter] ?? newId())
    })
    const isInPath = path.includes('{token}')
    const hasBody = method !== 'GET' && method !== 'DELETE'
    const response = await fetch(`${service.url}${filled}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === undefined || isInPath ? {} : { authorization: `Bearer ${token}` }),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
      },
      ...(hasBody ? { body: JSON.stringify(name === 'public.runs.stream' ? publicRun() : (bodies[name] ?? {})) } : {}),
      signal: AbortSignal.timeout(30_000),
    })
    return { status: response.status, text: await response.text() }
  }

  /** Refused before the project is looked at if they are wrong. */
  const bodies: Record<string, object> = {
    'public.runs.feedback': { score: 1 },
    'projects.members.add': { email: 'ada@example.com', role: 'viewer' },
    'projects.members.update': { role: 'viewer' },
    'projects.setHolder': { member_id: newId() },
  }

  /** Its token stands beside the assistant's id, and `type` makes it invalid once it is let in. */
  const publicRun = () => ({ assistant_id: ids['assistant_id'], input: [{ type: 'none' }] })
})

const entriesOf = (credentials: Record<Credential, string | undefined>) =>
  Object.entries(credentials) as [Credential, string | undefined][]

/** One user with an assistant that is open by token, its threads and runs, and every kind of credential. */
async function prepare(service: RunningService) {
  const side = await createSide(service, `public-${newId()}`)
  const { jwtSecret, jwtIssuer, jwtAudience } = service.settings
  const secret = Buffer.from(jwtSecret)
  const claims = { user_id: side.estate.userId, project_id: side.estate.projectId }
  const signed = (changes: {
    issuer?: string
    audience?: string
    expires?: string
    key?: Uint8Array
    project?: string
  }) =>
    new SignJWT({ ...claims, ...(changes.project === undefined ? {} : { project_id: changes.project }) })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(changes.issuer ?? jwtIssuer)
      .setAudience(changes.audience ?? jwtAudience)
      .setExpirationTime(changes.expires ?? '1h')
      .sign(changes.key ?? secret)
  const good = await signed({})
  const [, payload = ''] = good.split('.')
  const encode = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url')
  const confused = `${encode({ alg: 'HS256', typ: 'JWT' })}.${payload}`
  const credentials: Record<Credential, string | undefined> = {
    nothing: undefined,
    garbage: 'not.a.token',
    'an expired token': await signed({ expires: '-1m' }),
    'an unsigned token': `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`,
    'a token signed with the public key as secret': `${confused}.${createHmac('sha256', publicPem).update(confused).digest('base64url')}`,
    'a token of another issuer': await signed({ issuer: 'somebody else' }),
    'a token for another audience': await signed({ audience: 'somebody else' }),
    'a token of another secret': await signed({ key: Buffer.from('another secret of another service, long enough') }),
    'a token of a project that is gone': await signed({ project: newId() }),
    'a service token': good,
    'a public token': side.publicToken,
    'the admin token': service.env['ADMIN_TOKEN'],
    'the token of the codec': codecToken,
  }
  // The run of the public thread is one for both families.
  const ids = { ...side.ids, run_id: side.ids.step_id, email: side.estate.email }
  return { credentials, ids }
}
