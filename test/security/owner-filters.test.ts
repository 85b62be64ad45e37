// Before a change: docs/traps.md, What else changes with a change.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { roleOfOperation } from '../../api/plugins/operation-roles.ts'
import { newId } from '../../domain/ids.ts'
import { joinProject, tokenOf } from '../projects/joined.ts'
import { apiClient } from '../support/api-client.ts'
import { watchEstate } from '../support/estate.ts'
import { type RunningService, type TestService, startService } from '../support/service.ts'
import { insertUser, newEmail } from '../support/users.ts'
import {
  billingKeys,
  type CrossRequest,
  type Operation,
  type Side,
  createSide,
  judge,
  operationsOf,
  requestsOf,
} from './cross-user-requests.ts'
import { type Mutant, type Mutation, mutateStatements } from './mutate-statements.ts'

/**
 * Statements whose owner may be left out, because the same request has checked the owner before, or
 * checks again. A second line of defence is welcome; it cannot be seen from outside.
 */
const secondChecks: [statement: string, why: string][] = [
  [
    'services/assistants/store.ts assistants.find without project_id',
    'finds stores by name: test/assistants/assistant-files.test.ts asks with the name of another project',
  ],
  [
    'services/assistants/store.ts assistants.findOne without user_id',
    'reads which assistants it may ask already; the write that follows names the user',
  ],
  ['services/mcp-logins/store.ts assistants.updateOne without user_id', 'the assistant was read as the own before'],
  ['services/stores/budgets.ts budgets.findById of any user_id', 'the owner of its project or assistant was checked'],
  ['services/stores/assistants.ts assistants.find without user_id', 'the owner of the project was checked'],
  ['services/stores/projects.ts projects.findById of any user_id', 'the owner of the project was checked'],
  [
    'services/stores/runs.ts runs.countDocuments without user_id',
    "of a member's budget, counts the project's; test/projects/oversight.test.ts has two members",
  ],
  ['services/stores/runs.ts runs.find without user_id', 'finds open runs for the same, of which the estate has none'],
  [
    'services/stores/runs.ts runs.find without assistant_id',
    'of what is found, only runs of the own assistants are kept',
  ],
  ['services/stores/vector-stores.ts assistants.findOne of any user_id', 'the assistant was read as the own before'],
  ['services/stores/chunks.ts chunks.find without assistant_id', 'the file was found in the own assistant'],
  ['services/public/store.ts runs.findOne of any user_id', 'the token of the assistant of the run decides'],
  ['services/stores/threads.ts threads.find without user_id', 'lists the project of the token, which is the own'],
  ['services/stores/threads.ts threads.countDocuments without user_id', 'counts the same list'],
  ['services/stores/projects.ts projects.findOne without user_id', 'reads the project of the token, which is the own'],
  ['services/stores/runs.ts runs.find without thread_id', 'assigns each run to its thread by id'],
  ['services/stores/shares.ts shares.findOne without user_id', 'the thread was read as the own before'],
  ['services/stores/shares.ts shares.find without user_id', 'lists the project of the token, which is the own'],
  ['services/stores/shares.ts shares.find without project_id', 'names the user'],
  ['services/stores/files.ts files.exists without assistant_id', 'the file was found in the own store'],
  ['services/stores/folders.ts folders.find without project_id', 'names the user'],
  ['services/stores/folders.ts folders.find without user_id', 'lists the project of the token, which is the own'],
  ['services/stores/folders.ts folders.findOne without project_id', 'names the user'],
  ['services/stores/folders.ts folders.findOne without user_id', 'names the project'],
  ['services/stores/folders.ts folders.findOneAndUpdate without project_id', 'names the user'],
  ['services/stores/folders.ts folders.findOneAndUpdate without user_id', 'names the project'],
  ['services/public/store.ts threads.findOne without project_id', 'whose it is, is checked of what was read'],
  ['services/insights/store.ts runs.find without thread_id', 'is put to the threads of the own assistant'],
  ['services/insights/store.ts checkpoints.find without thread_id', 'names the runs of these threads'],
  ['services/insights/store.ts toolCalls.find without thread_id', 'is put to the runs of these threads'],
  ['services/stores/threads.ts threads.updateOne without user_id', 'locks a thread that the caller may continue'],
  ['services/public/store.ts threads.findOneAndUpdate without project_id', 'names the user'],
  ['services/public/store.ts threads.findOneAndUpdate without user_id', 'names the project'],
  ['services/stores/schedules.ts schedules.find without user_id', 'lists the project of the token'],
  ['services/stores/runs.ts runs.find without thread_id', 'names the runs of the own schedule'],
  ['services/stores/runs.ts runs.find without user_id', 'names the runs of the own schedule'],
  ['services/stores/schedules.ts scheduleRuns.find without user_id', 'the schedule was read as the own before'],
  [
    'services/stores/receipts.ts receipts.exists without user_id',
    'says only that the deletion of a source is under way, whose id nobody else knows',
  ],
  [
    'services/stores/sources.ts sourcePages.countDocuments without user_id',
    'names the source, which was read as the own before',
  ],
  ['services/stores/sources.ts sourcePages.find without user_id', 'names the source, which was read as the own before'],
  [
    'services/stores/attachments.ts attachments.findOne without thread_id',
    'test/v1/code-interpreter.test.ts asks for the file of another container',
  ],
  ['services/v1/store.ts threads.find without project_id', 'names the user'],
  ['services/v1/store.ts threads.find without user_id', 'lists the project of the token, which is the own'],
  ['services/v1/store.ts threads.findOneAndUpdate without project_id', 'names the user'],
  ['services/v1/store.ts threads.findOneAndUpdate without user_id', 'names the project'],
  ['services/stores/runs.ts runs.findOne without thread_id', 'names the user'],
  ['services/stores/runs.ts runs.findOne without user_id', 'names the thread, which was found as the own'],
  ['services/v1/store.ts runs.findOne without project_id', 'the thread of the item is checked too'],
  ['services/v1/store.ts runs.findOne without user_id', 'the thread of the item is checked too'],
  ['services/stores/threads.ts threads.exists without project_id', 'names the user'],
  ['services/stores/threads.ts threads.exists without user_id', 'names the project'],
]

/** As `secondChecks`, where somebody who uses the project asks for what is private to another. */
const secondChecksOfMembers: [statement: string, why: string][] = [
  ['services/stores/shares.ts shares.findOne without user_id', 'the thread was read as the own before'],
  ['services/stores/named.ts threads.find without user_id', 'names threads of the own links'],
  ['services/stores/runs.ts runs.findOne without thread_id', 'the thread was read as the own before'],
  ['services/stores/runs.ts runs.find without thread_id', 'is put to the threads of the own list'],
  ['services/stores/projects.ts projects.findOne without user_id', 'only leaves a thread out of the own list'],
  ['services/stores/threads.ts threads.updateOne without user_id', 'locks a thread that the caller may continue'],
  ['services/v1/store.ts runs.findOne without user_id', 'the thread of the item is checked too'],
  ['services/stores/threads.ts threads.findOne as if it were shared', 'names the user'],
  ['services/stores/schedules.ts schedules.findOne without user_id', 'the schedule was read as the own before'],
  ['services/stores/schedules.ts scheduleRuns.find without user_id', 'the schedule was read as the own before'],
  ['services/stores/runs.ts runs.find without thread_id', 'names the runs of the own schedule'],
  ['services/stores/runs.ts runs.find without user_id', 'names the runs of the own schedule'],
  ['services/public/store.ts threads.findOne as if it were shared', 'names the user'],
  ['services/v1/store.ts threads.find without user_id', 'the estate has no container of code'],
]

/** As `secondChecks`, where an editor of one project asks for what the same account has in another. */
const secondChecksOfProjects: [statement: string, why: string][] = [
  [
    'services/assistants/store.ts assistants.findOne without project_id',
    'reads which assistants it may ask already; the write that follows names the project',
  ],
  ['services/public/store.ts threads.findOne without project_id', 'whose it is, is checked of what was read'],
  ['services/public/store.ts threads.findOneAndUpdate without project_id', 'names the user'],
  ['services/runs/store.ts runs.findOne of any project_id', 'whose it is, its user and its thread say'],
  ['services/stores/files.ts files.exists without assistant_id', 'the file was found in the own store'],
  ['services/mcp-logins/store.ts assistants.updateOne without project_id', 'the assistant was read as the own before'],
  ['services/stores/folders.ts folders.findOne without project_id', 'names the user'],
  ['services/stores/folders.ts folders.findOneAndUpdate without project_id', 'names the user'],
  ['services/public/store.ts threads.findOne without project_id', 'names the user'],
  ['services/v1/store.ts threads.findOneAndUpdate without project_id', 'names the user'],
  ['services/v1/store.ts runs.findOne without project_id', 'names the user'],
  ['services/stores/threads.ts threads.exists without project_id', 'names the user'],
  ['services/v1/store.ts runs.findOne without project_id', 'names the user'],
]

/** So long a stream is read that should not have been opened. */
const streamMs = 1_500

/** A request, by whom, and in which project by the token. */
interface Asked extends CrossRequest {
  by: Side
  projectId: string
}

/** Whose things are asked for, and by which requests. */
interface Scene {
  other: Side
  requests: Asked[]
}

type IsMeant = (mutant: Mutant) => boolean

/** What is private to whoever has made it, also among those who use one project. */
const personal = new RegExp(
  String.raw`^(?:threads|folders|schedules|v1\.(?:threads|responses|conversations|containers|chat\.completions))\.|^runs\.(?:stream|create|read|join|cancel|resume|feedback)$`,
)

describe('a statement without its owner filter', () => {
  let service: TestService
  let mutation: Mutation
  let operations: Operation[]

  beforeAll(async () => {
    service = await startService({
      worker: false,
      env: {
        OPENAI_API_KEY: 'sk-test',
        OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
        DELETION_WAIT_SECONDS: '1',
        ...billingKeys,
      },
    })
    operations = await operationsOf(service)
    mutation = mutateStatements(service.collections)
  })
  afterAll(async () => {
    mutation.restore()
    // Some have lost the key of the shards as well.
    expect(() => service.checkShardKeys()).toThrow('without thread_id')
    await service.close()
  })

  it('is detected by the requests with the ids of another user', { timeout: 600_000 }, async () => {
    const isMeant: IsMeant = ({ of, member }) =>
      of === 'filter' ? member !== 'visibility' : of === 'result' && member === 'user_id'
    const unnoticed = await unnoticedIn(() => ofStrangers(service, operations), isMeant)
    expect(unnoticed).toEqual(secondChecks.map(([name]) => name).toSorted())
  })

  it('is detected by those who use the project of the other, for what is private', { timeout: 600_000 }, async () => {
    // The project is theirs, too.
    const isMeant: IsMeant = ({ member }) => ['user_id', 'thread_id', 'visibility'].includes(member)
    const unnoticed = await unnoticedIn(() => ofMembers(service, operations), isMeant)
    expect(unnoticed).toEqual(secondChecksOfMembers.map(([name]) => name).toSorted())
  })

  it('is detected by an editor, for another project of the same account', { timeout: 600_000 }, async () => {
    // The account is that of the project.
    const isMeant: IsMeant = ({ member }) => ['project_id', 'assistant_id'].includes(member)
    const unnoticed = await unnoticedIn(() => ofTwoProjects(service, operations), isMeant)
    expect(unnoticed).toEqual(secondChecksOfProjects.map(([name]) => name).toSorted())
  })

  /** What can be left out without an answer that differs, or a change of what is the other's. */
  async function unnoticedIn(make: () => Promise<Scene>, isMeant: IsMeant): Promise<string[]> {
    let { other, requests } = await make()
    let watched = await watchEstate(service, other.estate)
    const changing: string[] = []
    const answers = new Map<string, string>()
    const requestsOfMutant = new Map<string, { mutant: Mutant; labels: Set<string> }>()
    for (const request of requests) {
      const { answer, mutants } = await mutation.record(() => judge(service, request, request.by, other))
      expect(answer.wrong).toEqual([])
      const changed = await watched.changedIn()
      if (changed.length > 0) {
        changing.push(`${request.label}: ${changed.join()}`)
        continue
      }
      answers.set(request.label, plain(answer.text, request.by))
      for (const mutant of mutants.filter(isMeant)) {
        const entry = requestsOfMutant.get(mutant.name) ?? { mutant, labels: new Set() }
        entry.labels.add(request.label)
        requestsOfMutant.set(mutant.name, entry)
      }
    }
    expect(requestsOfMutant.size).toBeGreaterThan(20)
    if (changing.length > 0) console.log(changing.join('\n'))

    const unnoticed: string[] = []
    for (const { mutant, labels } of requestsOfMutant.values()) {
      const noticed = await firstAsync(readingFirst(requests.filter(({ label }) => labels.has(label))), (request) =>
        isNoticed(mutant, request),
      )
      const changed = await watched.hasChanged()
      if (!noticed && !changed) unnoticed.push(mutant.name)
      if (!changed) continue
      watched.end()
      ;({ other, requests } = await make())
      watched = await watchEstate(service, other.estate)
    }
    watched.end()
    if (unnoticed.length > 0) console.log(unnoticed.join('\n'))
    // Otherwise a change says nothing.
    expect(changing).toEqual([])
    return unnoticed.map((name) => name.replace(/:\d+ /, ' ')).toSorted()

    async function isNoticed(mutant: Mutant, request: Asked): Promise<boolean> {
      const caller = { userId: request.by.estate.userId, projectId: request.projectId }
      const { wrong, text } = await mutation.with({ ...mutant, caller }, () =>
        judge(service, request, request.by, other, streamMs),
      )
      return wrong.length > 0 || plain(text, request.by) !== answers.get(request.label)
    }
  }
})

/** What a reading request notices has changed nothing, so that the scene need not be made anew. */
const readingFirst = (requests: Asked[]) =>
  requests.toSorted((a, b) => Number(a.operation.method !== 'GET') - Number(b.operation.method !== 'GET'))

async function newSides(service: RunningService): Promise<{ own: Side; other: Side }> {
  return {
    own: await createSide(service, `mine-${newId()}`),
    other: await createSide(service, `only-for-the-owner-${newId()}`, { hasOpenRun: true }),
  }
}

async function ofStrangers(service: RunningService, operations: Operation[]): Promise<Scene> {
  const { own, other } = await newSides(service)
  const requests = requestsOf(operations, own, other)
  return { other, requests: requests.map((request) => ({ ...request, by: own, projectId: own.estate.projectId })) }
}

/**
 * Several who use a project, each in another way, for the private threads, runs and schedules of its holder in it; and for
 * all of the project somebody who was removed, and a stranger with a token that names it.
 */
async function ofMembers(service: RunningService, operations: Operation[]): Promise<Scene> {
  const { own, other: whole } = await newSides(service)
  const { tid, run_id: runId } = whole.ids
  // His private thread on /v1, too.
  const other: Side = { ...whole, ids: { ...whole.ids, thread_id: tid, message_id: `message-${tid}`, step_id: runId } }
  const { projectId } = other.estate
  const members = { $each: [asMember(own.estate.userId, 'owner')] as object[] }
  const [viewer, stranger] = [await insertUser(service), await insertUser(service)]
  const inGroup = await insertUser(service)
  const group = newId()
  await service.collections.users.updateOne({ _id: inGroup.userId }, { $set: { group_ids: [group] } })
  members.$each.push(asMember(viewer.userId, 'viewer'))
  members.$each.push({ id: newId(), group_id: group, role: 'member', email: '', created_at: new Date() })
  await service.collections.projects.updateOne({ _id: projectId }, { $push: { members } })
  const gone = await joinProject(service, projectId, 'owner')
  await apiClient(service.url, other.token).delete(`/projects/${projectId}/members/${gone.memberId}`)

  const named = [
    other.ids.tid,
    other.ids.thread_id,
    other.ids.run_id,
    other.ids.conversation_id,
    other.ids.response_id,
    other.ids.item_id,
  ]
  // What they may use of the project, for requests that name something private beside it.
  const { aid, assistant_id, model } = other.ids
  const asks = (body: unknown) => named.some((id) => JSON.stringify(body)?.includes(id))
  const ofPersons = operations.filter(({ name, isPublic }) => !isPublic && personal.test(name))
  const ofProject = operations.filter(({ name, isPublic }) => !isPublic && roleOfOperation(name) !== undefined)
  const requests: Asked[] = []
  const ask = async (who: string, userId: string, asked: Operation[], isMeant: (request: CrossRequest) => boolean) => {
    const token = await tokenOf(service, userId, projectId)
    const by: Side = { ...own, token, estate: { ...own.estate, userId }, ids: { ...own.ids, aid, assistant_id, model } }
    for (const request of requestsOf(asked, by, other).filter(isMeant))
      requests.push({
        ...request,
        label: `${who}: ${request.label}`,
        // Some lack the role for it.
        expected: [...request.expected, 403, 404],
        by,
        projectId,
      })
  }
  const isPrivate = ({ label, body }: CrossRequest) => !label.includes('in the body') || asks(body)
  for (const [who, userId] of [
    ['another owner', own.estate.userId],
    ['a member by a group', inGroup.userId],
    ['a viewer', viewer.userId],
  ] as const)
    await ask(who, userId, ofPersons, isPrivate)
  for (const [who, userId] of [
    ['somebody who was removed', gone.userId],
    ['a stranger', stranger.userId],
  ] as const)
    await ask(who, userId, ofProject, ({ label }) => label.includes('all ids'))
  return { other, requests }
}

function asMember(userId: string, role: 'owner' | 'viewer') {
  return { id: newId(), user_id: userId, role, email: '', created_at: new Date() }
}

/** An editor of one project of an account, for what the account has in another one. */
async function ofTwoProjects(service: RunningService, operations: Operation[]): Promise<Scene> {
  const holder = await insertUser(service)
  const member = await joinProject(service, holder.projectId, 'editor')
  const inside = await createSide(service, `inside-${newId()}`, { user: holder })
  const { project_id: id } = await holder.post('/projects/', { name: 'outside' })
  const projectId = String(id)
  const token = await tokenOf(service, holder.userId, projectId)
  const user = { ...holder, ...apiClient(service.url, token), token, projectId, email: newEmail() }
  const { estate, ...other } = await createSide(service, `outside-${newId()}`, { user, projects: 1 })
  const by: Side = { ...inside, token: member.token, estate: { ...inside.estate, userId: member.userId } }
  // What that project sees, and what waits for its editors, this one sees as little.
  const { threads, schedules } = service.collections
  await threads.updateMany({ project_id: projectId }, { $set: { visibility: 'project', project_access: 'continue' } })
  await schedules.updateMany({ project_id: projectId }, { $set: { awaits_takeover: true } })
  // What is of the holder himself is of both.
  const outside = { ...estate, ids: estate.ids.filter((one) => one !== holder.userId) }
  const requests = requestsOf(operations, by, { ...other, estate: outside })
    .filter(
      ({ operation: { isPublic, name }, label }) =>
        !isPublic && roleOfOperation(name) !== undefined && !label.includes('own ids') && !label.includes('as it is'),
    )
    .map((request) => ({
      ...request,
      expected: [...request.expected, 403, 404],
      by,
      projectId: holder.projectId,
    }))
  return { other: { ...other, estate: outside }, requests }
}

/** An answer without what differs between two equal requests of two equal users. */
function plain(text: string, { marker }: Side): string {
  return text
    .replaceAll(marker, 'mine')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/eyJ[\w.-]+/g, 'token')
}

async function firstAsync<T>(items: T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await test(item)) return true
  return false
}
