import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { newId } from '../../domain/ids.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import { type MemoryScope, memorySpace, memorySpaces } from '../../domain/memory/memory-scope.ts'
import { chunkId, toGroups } from '../../domain/records/chunk-group.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import { loginFailureKey } from '../../services/accounts/login-guard.ts'
import { countVectors } from '../../services/knowledge/vector-spaces.ts'
import { scopeFieldsOf } from '../../services/memory/store-fact.ts'
import { apiClient } from './api-client.ts'
import type { RunningService } from './service.ts'
import type { TestUser } from './users.ts'

/** Something in every store, for one user: what a deletion has to find. */
export async function fillEstate(service: RunningService, user: TestUser, { projects = 2 } = {}) {
  const { call, userId, email } = user
  // With a key, so that the answer is stored.
  const { body: project } = await call(
    'POST',
    '/projects/',
    { name: projects === 1 ? 'third' : 'second' },
    { 'idempotency-key': newId() },
  )
  const ids: string[] = [userId, user.projectId, project.project_id]
  const places = [
    { projectId: user.projectId, call },
    { projectId: String(project.project_id), call: await pinnedTo(service, user, project.project_id) },
  ]
  const assistants: string[] = []
  const stores: string[] = []
  const projectFiles: string[] = []
  const threads: string[] = []
  const runs: string[] = []
  const schedules: string[] = []
  const sources: string[] = []
  for (const place of places.slice(0, projects)) {
    const { body: assistant } = await place.call('POST', '/assistants/', { name: 'A', config: { note: 'x' } })
    assistants.push(assistant.assistant_id)
    await place.call('PUT', `/assistants/${assistant.assistant_id}/budget`, { runs: 5 })
    await addFile(service, { userId, assistantId: assistant.assistant_id })
    const { body: schedule } = await place.call('POST', '/schedules/', {
      assistant_id: assistant.assistant_id,
      input: [{ type: 'human', content: 'hi' }],
      cron: '0 0 1 1 *',
    })
    schedules.push(schedule.schedule_id)
    await service.collections.scheduleRuns.create({
      _id: `${schedule.schedule_id}/x`,
      schedule_id: schedule.schedule_id,
      user_id: userId,
      project_id: place.projectId,
      assistant_id: assistant.assistant_id,
      thread_id: newId(),
      run_id: newId(),
      due_at: new Date(),
      triggered: false,
      outcome: 'gone',
      created_at: new Date(),
      finished_at: new Date(),
    })
    sources.push(await addSource(service, { userId, assistantId: assistant.assistant_id }))
    const { body: store } = await place.call('POST', '/v1/vector_stores', { name: 'S' })
    stores.push(store.id)
    projectFiles.push(await addProjectFile(service, { userId, projectId: place.projectId, storeId: store.id }))
    await addFacts(service, { userId, projectId: place.projectId, assistantId: assistant.assistant_id })
    for (const isPublic of [false, true]) {
      const thread = await service.api.services.createThread({
        id: newId(),
        userId,
        projectId: place.projectId,
        name: 'T',
        metadataJson: '{}',
        assistantId: assistant.assistant_id,
        public: isPublic,
      })
      threads.push(thread._id)
      await place.call('POST', `/threads/${thread._id}/state`, { values: [{ type: 'human', content: 'hi' }] })
      runs.push(
        await addRun(service, {
          userId,
          threadId: thread._id,
          assistantId: assistant.assistant_id,
          projectId: place.projectId,
        }),
      )
    }
  }
  const later = new Date(Date.now() + 3_600_000)
  const { loginFailures, passwordResets, pendingPasswords, purchases } = service.collections
  await loginFailures.create({ _id: loginFailureKey(email), count: 1, window_ends: later })
  await passwordResets.create({ _id: newId(), user_id: userId, token_id: newId(), remove_at: later })
  await purchases.create({
    _id: `cs_${newId().replaceAll('-', '')}`,
    user_id: userId,
    request_id: newId(),
    price_id: 'price_1',
    thread_max: 1,
    status: 'ended',
    looks: 0,
    created_at: later,
    updated_at: later,
  })
  await service.collections.auditEntries.create({
    _id: newId(),
    key: newId(),
    user_id: userId,
    actor: 'user',
    action: 'assistants.create',
    outcome: 'done',
    subjects: [],
    count: 1,
    created_at: later,
    last_at: later,
    remove_at: later,
  })
  await pendingPasswords.create({ _id: newId(), user_id: userId, password_hash: 'x', remove_at: later })
  const loginId = newId()
  await service.collections.programLogins.create({
    _id: loginId,
    name: 'a program',
    status: 'used',
    user_id: userId,
    project_id: user.projectId,
    created_at: new Date(),
    last_used_at: new Date(),
    remove_at: later,
  })
  await service.collections.projects.create(projectThatInvites(userId))
  const documentId = `kept-${threads[0]}`
  await call('PUT', `/threads/${threads[0]}/documents/${documentId}`, { name: 'kept', content: 'kept', base: 0 })
  const { body: share } = await call('POST', `/threads/${threads[0]}/share`)
  await call('PUT', `/assistants/${assistants[0]}/evaluation`, { questions: [{ question: 'kept?', file_name: 'a' }] })
  const { body: prompt } = await call('POST', '/user/prompts', { name: 'kept', text: 'kept' })
  const { body: folder } = await call('POST', '/folders/', { name: 'kept', instructions: 'kept' })
  const { body: fact } = await call('POST', '/memory/', { text: 'kept' })
  return {
    ...user,
    loginId,
    documentId,
    folderId: String(folder.folder_id),
    promptId: String(prompt.prompt_id),
    memoryId: String(fact.memory_id),
    shareToken: String(share.token),
    secondProjectId: String(project.project_id),
    assistants,
    stores,
    projectFiles,
    threads,
    runs,
    schedules,
    sources,
    ids: [...ids, ...schedules, ...assistants, ...stores, ...projectFiles, ...threads, ...runs],
  }
}

/** Of somebody else. */
function projectThatInvites(userId: string) {
  const now = new Date()
  const invitation = { send: 1, sent_at: now, expires_at: new Date(now.getTime() + 3_600_000), for_user: userId }
  const members = [{ id: newId(), role: 'viewer' as const, email: '', invitation, created_at: now }]
  return { _id: newId(), user_id: newId(), name: 'shared', members, created_at: now, updated_at: now }
}

export type Estate = Awaited<ReturnType<typeof fillEstate>>

/** Ids of these that any store still holds, and where; receipts may name what is gone. */
export async function tracesOf(
  service: RunningService,
  { ids, assistants, runs }: Pick<Estate, 'ids' | 'assistants' | 'runs'>,
): Promise<string[]> {
  const { connection } = service.api.infra.database
  const traces: string[] = []
  for (const { name } of (await connection.db?.listCollections().toArray()) ?? []) {
    if (name === 'receipts') continue
    for await (const document of connection.collection(name).find({})) {
      // What happened to an account's parts is told until the account itself is deleted.
      const text = name === 'audit_entries' ? String(document['user_id']) : JSON.stringify(document)
      for (const id of ids) if (text.includes(id)) traces.push(`${name}: ${id}`)
    }
  }
  for (const id of assistants) {
    if ((await service.api.infra.knowledge.vectors.count(id)) > 0) traces.push(`vectors: ${id}`)
  }
  for (const owner of ids.flatMap(memoryOwners))
    if ((await countVectors(service.api.infra.knowledge.vectors, owner)) > 0) traces.push(`vectors: ${owner}`)
  const streams = await service.api.platform.core.stream.count(runs)
  if (streams > 0) traces.push(`redis: ${streams} keys`)
  return traces
}

/** The owners of the spaces of facts that an id may have. */
function memoryOwners(id: string): string[] {
  return (['user', 'project', 'assistant', 'caller'] as const).map((kind) => memorySpaces({ kind, id }))
}

/** A digest of all that a user has, to show that it did not change. */
export async function fingerprint(service: RunningService, estate: WithIds): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await collectionsOf(service)).toSorted())
    hash.update(name).update(await recordsOf(service, name, estate))
  return hash.update(await beside(service, estate)).digest('hex')
}

/**
 * Of all that a user has, whether it changed since the last question. Only collections that somebody wrote to are read
 * again, so it can be asked hundreds of times.
 */
export async function watchEstate(service: RunningService, estate: WithIds) {
  const written = new Set<string>()
  const hear = ({ commandName, command }: { commandName: string; command: Record<string, unknown> }) => {
    if (writing.has(commandName)) written.add(String(command[commandName]))
  }
  for (const database of service.databases) database.getClient().on('commandStarted', hear)
  const known = new Map<string, string>()

  async function changedIn(names: string[]): Promise<string[]> {
    written.clear()
    const found = new Map<string, string>()
    for (const name of names) found.set(name, await recordsOf(service, name, estate))
    found.set('beside', await beside(service, estate))
    const changed = [...found].filter(([name, text]) => known.get(name) !== text).map(([name]) => name)
    for (const [name, text] of found) known.set(name, text)
    return changed
  }

  await changedIn(await collectionsOf(service))
  return {
    /** The collections in which it did. */
    changedIn: () => changedIn([...written]),
    hasChanged: async () => (await changedIn([...written])).length > 0,
    end: () => {
      for (const database of service.databases) database.getClient().off('commandStarted', hear)
    },
  }
}

type WithIds = Pick<Estate, 'ids' | 'assistants' | 'runs'>

const writing = new Set(['insert', 'update', 'delete', 'findAndModify', 'bulkWrite'])

async function collectionsOf(service: RunningService): Promise<string[]> {
  const collections = (await service.api.infra.database.connection.db?.listCollections().toArray()) ?? []
  return collections.map(({ name }) => name)
}

/** The records of a collection that name something of the user. */
async function recordsOf(service: RunningService, name: string, { ids }: WithIds): Promise<string> {
  const documents = await service.api.infra.database.connection.collection(name).find({}).toArray()
  return documents
    .map((document) => JSON.stringify({ ...document, last_active_at: 0 }))
    .filter((text) => ids.some((id) => text.includes(id)))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join()
}

/** What the user has beside the database. */
async function beside(service: RunningService, { assistants, runs }: WithIds): Promise<string> {
  const { vectors } = service.api.infra.knowledge
  const counts = await Promise.all(assistants.map((id) => vectors.count(id)))
  return [...counts, await service.api.platform.core.stream.count(runs)].join()
}

async function pinnedTo(service: RunningService, user: TestUser, projectId: string) {
  const token = await service.api.services.tokens.sign({ user_id: user.userId, project_id: projectId })
  return apiClient(service.url, token).call
}

/** A file of a project, and its entry in a vector store. */
async function addProjectFile(
  service: RunningService,
  { userId, projectId, storeId }: { userId: string; projectId: string; storeId: string },
): Promise<string> {
  const { blobs } = service.api.infra.knowledge
  const owner = projectOwner(projectId)
  const blobId = blobs.newBlobId()
  const stored = await blobs.write(blobId, owner, Readable.from([Buffer.from('some text')]))
  const fileId = newId()
  await service.collections.files.create({
    ...fileRecord({ _id: fileId, assistant_id: owner, user_id: userId, blob_id: blobId, ...stored }),
    purpose: 'assistants',
    chunks: 0,
    embedded: 0,
  })
  await addFile(service, { userId, assistantId: storeId, sourceId: fileId, blobId })
  return fileId
}

function fileRecord(members: Pick<FileRecord, '_id' | 'assistant_id' | 'user_id' | 'blob_id' | 'size' | 'sha256'>) {
  const now = new Date()
  const { _id, assistant_id, user_id, blob_id, size, sha256 } = members
  return {
    _id,
    assistant_id,
    user_id,
    blob_id,
    size,
    sha256,
    ingestion_id: newId(),
    order: 0,
    name: 'a.txt',
    content_type: 'text/plain',
    status: 'ready' as const,
    chunks: 1,
    characters: 9,
    extracted: true,
    embedded: 1,
    created_at: now,
    updated_at: now,
  }
}

async function addFile(
  service: RunningService,
  given: { userId: string; assistantId: string; sourceId?: string; blobId?: string },
) {
  const { userId, assistantId, sourceId } = given
  const { blobs, vectors } = service.api.infra.knowledge
  const blobId = given.blobId ?? blobs.newBlobId()
  const stored =
    given.blobId === undefined
      ? await blobs.write(blobId, assistantId, Readable.from([Buffer.from('some text')]))
      : { size: 9, sha256: '' }
  const fileId = newId()
  await service.collections.files.create({
    ...fileRecord({ _id: fileId, assistant_id: assistantId, user_id: userId, blob_id: blobId, ...stored }),
    ...(sourceId === undefined ? {} : { source_id: sourceId }),
  })
  if (sourceId !== undefined)
    await service.collections.fileBatches.create({
      _id: `batch-${fileId}`,
      assistant_id: assistantId,
      user_id: userId,
      entry_ids: [fileId],
      created_at: new Date(),
      remove_at: new Date(Date.now() + 86_400_000),
    })
  const chunk = chunkId(fileId, 0)
  const groups = toGroups({ _id: fileId, assistant_id: assistantId }, 0, [{ text: 'some text', tokens: 2 }])
  await service.collections.chunks.create(groups)
  await vectors.upsert(assistantId, [
    { id: chunk, fileId, position: 0, text: 'some text', vector: Array.from({ length: 8 }, () => 0.5) },
  ])
}

/** A fact of the project, of the assistant, and about a caller of the assistant, each with its vector. */
async function addFacts(
  service: RunningService,
  { userId, projectId, assistantId }: { userId: string; projectId: string; assistantId: string },
) {
  const { memories } = service.collections
  const scopes: MemoryScope[] = [
    { kind: 'project', id: projectId },
    { kind: 'assistant', id: assistantId },
    { kind: 'caller', id: assistantId, caller: 'a hash' },
  ]
  for (const scope of scopes) {
    const id = newId()
    const now = new Date()
    await memories.create({
      _id: id,
      user_id: userId,
      ...scopeFieldsOf(scope),
      text: 'some fact',
      text_hash: id,
      made_by: 'assistant',
      created_at: now,
      updated_at: now,
    })
    const vector = Array.from({ length: 8 }, () => 0.5)
    const record = { id: chunkId(id, 0), fileId: id, position: 0, text: 'some fact', vector }
    await service.api.infra.knowledge.vectors.upsert(memorySpace(scope, 1), [record])
  }
}

async function addRun(
  service: RunningService,
  ref: { userId: string; threadId: string; assistantId: string; projectId: string },
): Promise<string> {
  const id = newId()
  await service.collections.runs.create({
    _id: id,
    thread_id: ref.threadId,
    user_id: ref.userId,
    project_id: ref.projectId,
    assistant_id: ref.assistantId,
    public: false,
    acting: { person: 'owner', origin: 'chat' },
    status: 'success',
    input_json: '[]',
    overrides: {},
    fence: 1,
    created_at: new Date(),
    finished_at: new Date(),
  })
  await service.collections.toolCalls.create({
    _id: `${id}/0/0`,
    run_id: id,
    thread_id: ref.threadId,
    step: 0,
    index: 0,
    call_id: 'c',
    name: 'retrieval',
    args_json: '{}',
    status: 'done',
    created_at: new Date(),
  })
  await service.collections.attachments.create({
    _id: newId(),
    thread_id: ref.threadId,
    user_id: ref.userId,
    name: 'notes.txt',
    content_type: 'text/plain',
    size: 5,
    sha256: 'not counted',
    bytes: Buffer.from('notes'),
    created_at: new Date(),
  })
  await service.collections.feedback.create({
    _id: newId(),
    run_id: id,
    thread_id: ref.threadId,
    user_id: ref.userId,
    key: 'helpful',
    score: 1,
    status: 'stored',
    created_at: new Date(),
  })
  await service.api.platform.core.stream.publish(id, 1, [{ type: 'open' }, { type: 'end' }])
  return id
}

/** A source of the web that nothing crawls, and one page of it. */
async function addSource(
  { collections: { sources, sourcePages } }: RunningService,
  { userId, assistantId }: { userId: string; assistantId: string },
): Promise<string> {
  const id = newId()
  const now = new Date()
  const owners = { user_id: userId, assistant_id: assistantId }
  await sources.create({
    _id: id,
    ...owners,
    type: 'page',
    url: `https://example.com/${id}`,
    max_depth: 0,
    max_pages: 1,
    include: [],
    exclude: [],
    status: 'ready',
    round: 1,
    bytes: 0,
    ignored: 0,
    revision: 1,
    check_at: new Date('2090-01-01'),
    created_at: now,
    updated_at: now,
  })
  await sourcePages.create({
    _id: `${id}:x`,
    source_id: id,
    ...owners,
    url: `https://example.com/${id}`,
    kind: 'page',
    depth: 0,
    order: 0,
    round: 1,
    status: 'left_out',
    reason: 'There is no such page (404).',
    tries: 0,
    taken: 0,
  })
  return id
}
