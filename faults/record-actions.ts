import { setTimeout as pause } from 'node:timers/promises'
import { isJsonObject } from '../domain/json.ts'
import type { Caller } from './caller.ts'
import type { ClientLog, Intention } from './client-log.ts'
import { documents, formOf } from './documents.ts'
import { emailOf } from './email-of.ts'
import { listIn } from './list-in.ts'
import type { Random } from './random.ts'
import type { Requests } from './requests.ts'

export interface User {
  id: string
  email: string
  token: string
  /** Id of the project that the token names. */
  projectId: string
}

export interface Assistant {
  id: string
  publicToken: string
}

interface RecordActionsDeps {
  requests: Requests
  caller: Caller
  log: ClientLog
  random: Random
  mails: string[]
}

const password = 'correct horse battery'

/** Accounts, projects, assistants, threads, messages and files: creation and deletion. */
export function createRecordActions(deps: RecordActionsDeps) {
  return {
    signUp: createSignUp(deps),
    ...createOwnRecords(deps),
    upload: createUpload(deps),
    remove: createRemoval(deps),
  }
}

/** From sign-up to the first login. */
function createSignUp({ requests: { want }, caller, log, mails }: RecordActionsDeps) {
  async function codeTo(email: string): Promise<string | undefined> {
    const deadline = Date.now() + caller.patienceMs
    while (Date.now() < deadline) {
      const mail = mails.find((text) => text.includes(email))
      const code = mail === undefined ? undefined : /^(\d{6})\r?$/m.exec(mail)?.[1]
      if (code !== undefined) return code
      await pause(100)
    }
    return undefined
  }

  return async (): Promise<User | undefined> => {
    const done = await want('account', {}, ({ id }) => ({
      method: 'POST',
      path: '/auth/signup',
      options: { key: id, body: { email: emailOf(id), password } },
    }))
    if (done === undefined) return undefined
    const { id } = done.intention
    const email = emailOf(id)
    const userId = String(done.answer.body['user_id'])
    const code = await codeTo(email)
    if (code === undefined) {
      log.fault('lost', done.intention, 'no mail came in time')
      return undefined
    }
    const verified = await caller.call('POST', '/auth/verify-email', { body: { email, code } })
    // If the answer was lost, the request is repeated, and then the address is already verified.
    if (verified.status !== 200 && !JSON.stringify(verified.body).includes('already verified')) {
      log.fault('wrong', done.intention, `the code was refused: ${JSON.stringify(verified.body)}`)
      return undefined
    }
    const login = await caller.call('POST', '/auth/login', { body: { email, password } })
    if (login.status !== 200) {
      log.fault('wrong', done.intention, `the login was refused: ${login.status} ${JSON.stringify(login.body)}`)
      return undefined
    }
    const token = String(login.body['jwt_token'])
    log.acknowledge(done.intention, { id: userId })
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return { id: userId, email, token, projectId: isJsonObject(claims) ? String(claims['project_id']) : '' }
  }
}

function createOwnRecords({ requests: { want, create }, caller, log }: RecordActionsDeps) {
  async function newAssistant(user: User): Promise<Assistant | undefined> {
    const made = await create('assistant', {
      path: '/assistants/',
      token: user.token,
      idMember: 'assistant_id',
      facts: { user: user.id },
      body: (id) => ({
        name: id,
        config: {
          'type==agent/access_mode': 'public_token',
          'type==agent/public_token': `public-token-of-${id}`,
          'type==agent/tools': [{ type: 'http_request' }],
        },
      }),
    })
    return made && { id: String(made.body['assistant_id']), publicToken: `public-token-of-${made.intention.id}` }
  }

  async function newThread(user: User): Promise<string | undefined> {
    const made = await create('thread', {
      path: '/threads/',
      token: user.token,
      idMember: 'thread_id',
      facts: { user: user.id },
      body: (id) => ({ name: id }),
    })
    return made && String(made.body['thread_id'])
  }

  async function newProject(user: User): Promise<User | undefined> {
    const made = await create('project', {
      path: '/projects/',
      token: user.token,
      idMember: 'project_id',
      facts: { user: user.id },
      body: (id) => ({ name: id }),
    })
    if (made === undefined) return undefined
    const projectId = String(made.body['project_id'])
    const pinned = await caller.call('GET', `/projects/${projectId}`, { token: user.token })
    return { ...user, projectId, token: String(pinned.body['jwt_token']) }
  }

  /** A message that is added to a thread without a run. */
  async function addMessage(user: User, threadId: string): Promise<void> {
    const done = await want('message', { thread: threadId }, ({ id }) => ({
      method: 'POST',
      path: `/threads/${threadId}/state`,
      options: { token: user.token, key: id, body: { values: [{ type: 'human', content: `Noted as ${id}` }] } },
    }))
    if (done !== undefined) log.acknowledge(done.intention)
  }

  return { newAssistant, newThread, newProject, addMessage }
}

/** Uploads a file and polls until it is processed. */
function createUpload({ requests: { want }, caller, log, random }: RecordActionsDeps) {
  return async (user: User, assistant: Assistant, document = random.pick(documents)): Promise<string | undefined> => {
    const done = await want('upload', { assistant: assistant.id, document: document.name }, ({ id }) => ({
      method: 'POST',
      path: `/assistants/${assistant.id}/files?wait=false`,
      options: { token: user.token, key: id, form: () => formOf(document, id) },
    }))
    if (done === undefined) return undefined
    const { intention, answer } = done
    const [file] = listIn(answer.body['files'])
    const fileId = isJsonObject(file) ? String(file['id']) : ''
    log.acknowledge(intention, { id: fileId })
    const deadline = Date.now() + caller.patienceMs
    while (Date.now() < deadline) {
      const { body } = await caller.call('GET', `/assistants/${assistant.id}/files?limit=1000`, { token: user.token })
      const files = listIn(body['files']).filter(isJsonObject)
      const status = files
        .map((one) => (one['id'] === fileId && isJsonObject(one['metadata']) ? one['metadata']['status'] : ''))
        .join('')
      if (status === 'ready') return fileId
      if (status === 'failed' || status === '') {
        log.fault('lost', intention, `file ${fileId} is ${status || 'not listed'}`)
        return undefined
      }
      await pause(250)
    }
    log.fault('lost', intention, `file ${fileId} is not ready in time`)
    return undefined
  }
}

/**
 * Deletes something; afterwards no store may contain any of `ids`. For an account, these are not the ids in its
 * token: if the answer is lost, the request is repeated with this token, which creates an empty user with these
 * ids.
 */
function createRemoval({ requests: { want }, log }: RecordActionsDeps) {
  return async (
    user: User,
    path: string,
    ids: string[],
    { body, isAccount = false }: { body?: object; isAccount?: boolean } = {},
  ): Promise<void> => {
    // Such a repetition is answered 404 because the target is gone, or 400 because the new user has no such e-mail
    // address.
    const done = await want('deletion', { ids: ids.join(' '), path }, () => ({
      method: 'DELETE',
      path,
      options: { token: user.token, ...(body === undefined ? {} : { body }) },
      accepted: isAccount ? [202, 400] : [202, 404],
    }))
    if (done === undefined) return
    log.acknowledge(done.intention, { status: String(done.answer.status) })
    for (const intention of log.intentions.values())
      if (hasAny(intention, isAccount ? [...ids, user.id] : ids)) intention.withdrawn = true
  }
}

/** Whether an intention created one of these, or something that belongs to one of these. */
function hasAny({ kind, facts, acknowledged }: Intention, ids: string[]): boolean {
  if (kind === 'deletion') return false
  const own = [acknowledged?.['id'], acknowledged?.['thread'], facts['thread'], facts['assistant'], facts['user']]
  return own.some((id) => id !== undefined && ids.includes(id))
}
