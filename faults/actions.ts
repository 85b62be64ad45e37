import { setTimeout as pause } from 'node:timers/promises'
import { isJsonObject } from '../domain/is-json-object.ts'
import { type Answer, type CallOptions, type Caller, GaveUpError } from './caller.ts'
import type { ClientLog, Intention, IntentionKind } from './client-log.ts'
import { documents, formOf } from './documents.ts'
import { type Followed, type createFollow, RefusedError } from './follow.ts'
import type { Random } from './random.ts'
import { prompts } from './stand-ins.ts'

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

export type Actions = ReturnType<typeof createActions>

interface ActionsDeps {
  caller: Caller
  log: ClientLog
  random: Random
  follow: ReturnType<typeof createFollow>
  mails: string[]
}

const password = 'correct horse battery'

/** The actions of clients. Each logs its intention before the request, and the acknowledgement after it. */
export function createActions({ caller, log, random, follow, mails }: ActionsDeps) {
  /**
   * Repeats the request until its answer is definite. Any status other than 200 (or one of `accepted`) is a fault
   * of the service.
   */
  async function want(
    kind: IntentionKind,
    facts: Record<string, string>,
    ask: (intention: Intention) => { method: string; path: string; options: CallOptions; accepted?: number[] },
  ): Promise<{ intention: Intention; answer: Answer } | undefined> {
    const intention = log.intend(kind, facts)
    const { method, path, options, accepted = [] } = ask(intention)
    try {
      const answer = await caller.call(method, path, options)
      if (![200, ...accepted].includes(answer.status)) {
        log.giveUp(intention, `${answer.status} ${JSON.stringify(answer.body)}`)
        log.fault(
          'wrong',
          intention,
          `${method} ${path} was answered ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`,
        )
        return undefined
      }
      return { intention, answer }
    } catch (error) {
      if (!(error instanceof GaveUpError)) throw error
      log.giveUp(intention, error.message)
      log.fault('wrong', intention, `no answer in time: ${error.message}`)
      return undefined
    }
  }

  async function create(
    kind: IntentionKind,
    {
      path,
      token,
      idMember,
      body,
      facts = {},
    }: {
      path: string
      token: string
      idMember: string
      body: (id: string) => object
      facts?: Record<string, string>
    },
  ): Promise<{ intention: Intention; body: Record<string, unknown> } | undefined> {
    const done = await want(kind, facts, ({ id }) => ({
      method: 'POST',
      path,
      options: { token, key: id, body: body(id) },
    }))
    if (done === undefined) return undefined
    log.acknowledge(done.intention, { id: String(done.answer.body[idMember]) })
    return { intention: done.intention, body: done.answer.body }
  }

  /** From sign-up to the first login. */
  async function signUp(): Promise<User | undefined> {
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

  const payload = (prompt: string, threadId: string, assistant: Assistant) => ({
    thread_id: threadId,
    assistant_id: assistant.id,
    input: [{ type: 'human', content: prompt }],
  })

  interface Question {
    prompt: (id: string) => string
    expected: (id: string) => string
    facts: Record<string, string>
  }

  function question(): Question {
    const words = random.between(5, 40)
    return {
      prompt: (id) => prompts.say(id, words),
      expected: (id) => prompts.answer(id, words),
      facts: { words: String(words) },
    }
  }

  function toolQuestion(): Question {
    const calls = random.between(1, 3)
    return {
      prompt: (id) => prompts.callTools(id, calls),
      expected: prompts.answerAfterTools,
      facts: { calls: String(calls) },
    }
  }

  /** Starts a run and follows its stream to the end. */
  async function streamedRun(
    user: User,
    {
      threadId,
      assistant,
      tools = false,
      isSteady = false,
      cancelAfterMs,
    }: {
      threadId: string
      assistant: Assistant
      tools?: boolean
      isSteady?: boolean
      cancelAfterMs?: number
    },
  ): Promise<void> {
    const { prompt, expected, facts } = tools ? toolQuestion() : question()
    const mayBeCancelled = cancelAfterMs !== undefined
    const intention = log.intend('run', { ...facts, thread: threadId, ...(mayBeCancelled && { cancelled: 'asked' }) })
    let cancelling: Promise<unknown> = Promise.resolve()
    const followed = await followed_(intention, {
      intention,
      path: '/runs',
      options: { token: user.token, key: intention.id, body: payload(prompt(intention.id), threadId, assistant) },
      isSteady,
      onMetadata: (runId) => {
        if (!mayBeCancelled) return
        cancelling = pause(cancelAfterMs)
          .then(() => caller.call('POST', `/runs/${runId}/cancel`, { token: user.token }))
          .catch(() => undefined)
      },
    })
    await cancelling
    if (followed !== undefined) checkAnswer(intention, followed, expected(intention.id), { mayBeCancelled })
  }

  /** A run of a public caller on a thread of its own. */
  async function publicRun(assistant: Assistant): Promise<void> {
    const { prompt, expected, facts } = question()
    const intention = log.intend('run', { ...facts, assistant: assistant.id })
    const followed = await followed_(intention, {
      intention,
      path: '/public/runs',
      options: {
        key: intention.id,
        headers: { 'x-public-bot-token': assistant.publicToken },
        body: { assistant_id: assistant.id, input: [{ type: 'human', content: prompt(intention.id) }] },
      },
      isSteady: false,
    })
    if (followed !== undefined) checkAnswer(intention, followed, expected(intention.id), { mayBeCancelled: false })
  }

  async function followed_(intention: Intention, options: Parameters<typeof follow>[0]): Promise<Followed | undefined> {
    try {
      return await follow(options)
    } catch (error) {
      if (!(error instanceof GaveUpError || error instanceof RefusedError)) throw error
      log.giveUp(intention, error.message)
      log.fault('wrong', intention, error.message)
      return undefined
    }
  }

  function checkAnswer(
    intention: Intention,
    { runId, threadId, end, error, messages, connections }: Followed,
    expected: string,
    { mayBeCancelled }: { mayBeCancelled: boolean },
  ): void {
    log.acknowledge(intention, { id: runId, thread: threadId, end, expected, connections: String(connections) })
    const wasCancelled = mayBeCancelled && end === 'error' && error.includes('"cancelled"')
    const answer = messages.findLast(({ type }) => type === 'AIMessage')?.data.content
    if (wasCancelled || (end === 'end' && answer === expected)) return
    const shown = end === 'error' ? error : `the answer is ${JSON.stringify(answer)}`
    log.fault('lost', intention, `run ${runId}: ${shown}`)
  }

  /** Starts several runs on one thread at the same time, and polls until all have ended. */
  async function backgroundRuns(user: User, threadId: string, assistant: Assistant, count: number): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, async () => {
        const { prompt, expected, facts } = question()
        const done = await want('run', { ...facts, thread: threadId }, ({ id }) => ({
          method: 'POST',
          path: '/runs/',
          options: { token: user.token, key: id, body: payload(prompt(id), threadId, assistant) },
        }))
        if (done === undefined) return
        const { intention, answer } = done
        const runId = String(answer.body['run_id'])
        log.acknowledge(intention, { id: runId, thread: threadId, expected: expected(intention.id) })
        await untilOver(user, intention, runId)
      }),
    )
  }

  async function untilOver(user: User, intention: Intention, runId: string): Promise<void> {
    const deadline = Date.now() + caller.patienceMs
    while (Date.now() < deadline) {
      const { status, body } = await caller.call('GET', `/runs/${runId}`, { token: user.token })
      if (status !== 200 || !['pending', 'running'].includes(String(body['status']))) return
      await pause(250)
    }
    log.fault('lost', intention, `run ${runId} is not over in time`)
  }

  /** A chat completion. If its stream breaks, it is requested again under the same key. */
  async function completion(assistant: Assistant, isStreamed: boolean): Promise<void> {
    const { prompt, expected, facts } = question()
    const intention = log.intend('completion', { ...facts, assistant: assistant.id })
    const options = {
      token: assistant.publicToken,
      key: intention.id,
      body: { model: 'any', stream: isStreamed, messages: [{ role: 'user', content: prompt(intention.id) }] },
    }
    const path = '/public/v1/chat/completions'
    const deadline = Date.now() + caller.patienceMs
    let last = ''
    for (let attempts = 0; Date.now() < deadline; attempts++) {
      if (attempts > 0) await pause(Math.min(2_000, 100 * 2 ** attempts))
      try {
        const response = await caller.attempt('POST', path, options, AbortSignal.timeout(60_000))
        const text = await response.text()
        if (!response.ok) {
          last = `${response.status} ${text.slice(0, 200)}`
          if (!caller.isDefinite(response, path, text)) continue
          break
        }
        const content = isStreamed ? streamedText(text) : completedText(text)
        if (content === undefined) {
          last = `an unfinished stream: ${text.slice(-300)}`
          continue
        }
        log.acknowledge(intention, { expected: expected(intention.id) })
        if (content !== expected(intention.id))
          log.fault('lost', intention, `the completion is ${JSON.stringify(content)}`)
        return
      } catch (error) {
        last = String(error)
      }
    }
    log.giveUp(intention, last)
    log.fault('wrong', intention, last)
  }

  /** Uploads a file and polls until it is processed. */
  async function upload(
    user: User,
    assistant: Assistant,
    document = random.pick(documents),
  ): Promise<string | undefined> {
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

  /**
   * Deletes something; afterwards no store may contain any of `ids`. For an account, these are not the ids in its
   * token: if the answer is lost, the request is repeated with this token, which creates an empty user with these
   * ids.
   */
  async function remove(
    user: User,
    path: string,
    ids: string[],
    { body, isAccount = false }: { body?: object; isAccount?: boolean } = {},
  ): Promise<void> {
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

  return {
    signUp,
    newAssistant,
    newThread,
    newProject,
    addMessage,
    streamedRun,
    publicRun,
    backgroundRuns,
    completion,
    upload,
    remove,
  }
}

export const emailOf = (id: string) => `${id}@example.com`

/** Whether an intention created one of these, or something that belongs to one of these. */
function hasAny({ kind, facts, acknowledged }: Intention, ids: string[]): boolean {
  if (kind === 'deletion') return false
  const own = [acknowledged?.['id'], acknowledged?.['thread'], facts['thread'], facts['assistant'], facts['user']]
  return own.some((id) => id !== undefined && ids.includes(id))
}

/** The text of a completion's stream; undefined if the stream is incomplete. */
function streamedText(text: string): string | undefined {
  if (!text.includes('data: [DONE]')) return undefined
  const chunks = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '{}']): unknown => JSON.parse(json))
  if (chunks.some((chunk) => isJsonObject(chunk) && 'error' in chunk)) return undefined
  return chunks.map((chunk) => contentIn(chunk, 'delta')).join('')
}

function completedText(text: string): string | undefined {
  const body: unknown = JSON.parse(text)
  return contentIn(body, 'message')
}

function contentIn(value: unknown, member: 'delta' | 'message'): string {
  const [choice] = listIn(isJsonObject(value) ? value['choices'] : undefined)
  const part: unknown = isJsonObject(choice) ? choice[member] : undefined
  return isJsonObject(part) && typeof part['content'] === 'string' ? part['content'] : ''
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
