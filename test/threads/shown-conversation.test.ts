import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { foldMessages } from '../../domain/conversation.ts'
import { newId } from '../../domain/ids.ts'
import { type Message, messagesFromJson, messagesToJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { parentsOfRun } from '../../services/parents.ts'
import type { ChatModel, ChatRequest } from '../../services/runs/chat-model.ts'
import { promptOf } from '../../services/runs/chat-request.ts'
import { createLiveRuns } from '../../services/runs/live-runs.ts'
import type { StepDeps } from '../../services/runs/step-deps.ts'
import { createSteps } from '../../services/runs/steps.ts'
import { createConversations } from '../../services/threads/conversations.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

/** What happens on one thread, one after the other. `process` is one of two. */
type Event =
  | { what: 'add'; replaces: boolean }
  | { what: 'evict'; process: 0 | 1 }
  | {
      what: 'run'
      process: 0 | 1
      /** The process that executes the steps after the first one. */
      next: 0 | 1
      tools: number
      /** Whether the first step begins before the workflow asks for it. */
      early: boolean
      /** What others add: between the reading of the thread and the first step, and while the model answers. */
      before: boolean
      during: boolean[]
      /** Whether the process forgets the conversation while tools are called. */
      evicts: boolean
    }

const processes = fc.constantFrom<0 | 1>(0, 1)
const events = fc.array(
  fc.oneof(
    fc.record({ what: fc.constant('add' as const), replaces: fc.boolean() }),
    fc.record({ what: fc.constant('evict' as const), process: processes }),
    fc.record({
      what: fc.constant('run' as const),
      process: processes,
      next: processes,
      tools: fc.nat(2),
      early: fc.boolean(),
      before: fc.boolean(),
      during: fc.array(fc.boolean(), { maxLength: 4 }),
      evicts: fc.boolean(),
    }),
  ),
  { minLength: 2, maxLength: 7 },
)

const plain = {
  what: 'run' as const,
  process: 0 as const,
  next: 0 as const,
  tools: 0,
  early: true,
  before: false,
  during: [],
  evicts: false,
}
/** Somebody adds a message while the model answers a step that was shown results of tools. */
const addedBehindResults: Event[] = [{ ...plain, tools: 1, during: [false, false, true], evicts: true }, plain]

async function found<T>(reading: PromiseLike<T | null>): Promise<T> {
  const record = await reading
  if (record === null) throw new Error('there is no such record')
  return record
}

describe('what a model is shown', () => {
  let service: TestService
  let assistant: AssistantRecord
  beforeAll(async () => {
    service = await startService({ worker: false, env: { OPENAI_API_KEY: 'unused' } })
    const user = await insertUser(service)
    const { assistant_id: id } = await user.post('/assistants/', { name: 'A', config: {} })
    assistant = await found(service.collections.assistants.findById(id).lean<AssistantRecord>())
  })
  afterAll(() => service.close())

  it('is the fold of the stored log, whatever two processes and others do', async () => {
    const seen = { answers: 0, fromMemory: 0 }
    await fc.assert(
      fc.asyncProperty(events, async (list) => {
        const world = await newWorld()
        for (const event of list) await world.apply(event)
        seen.answers += world.answers.length
        seen.fromMemory += world.reads.fromMemory
        for (const { text, shown, expected } of world.answers)
          expect({ text, shown }).toEqual({ text, shown: expected })
      }),
      { numRuns: 40, examples: [[addedBehindResults]] },
    )
    expect(seen.answers).toBeGreaterThan(15)
    // Otherwise nothing was tried.
    expect(seen.fromMemory).toBeGreaterThan(5)
  }, 180_000)

  /** A thread, and two processes that execute its runs. `answers`: those that were stored. */
  async function newWorld() {
    const { core, runs } = service.api.platform
    const { collections } = service
    const { user_id: userId, project_id: projectId } = assistant
    const thread = await core.createThread({
      id: newId(),
      userId,
      projectId,
      name: '',
      metadataJson: '{}',
      public: true,
      assistantId: assistant._id,
    })
    const answers: { text: string; shown?: unknown; expected?: unknown }[] = []
    const shown = new Map<string, { shown: unknown; expected: unknown }>()
    const reads = { fromMemory: 0 }
    let counter = 0
    let tools = 0
    let onQuestion = async () => {}
    let asked = Promise.withResolvers<void>()
    const human = (text: string, id = newId()): Message => ({ type: 'HumanMessage', data: { id, content: text } })
    const logged = async () =>
      (await collections.checkpoints.find({ thread_id: thread._id }).sort({ seq: 1 }).lean()).flatMap((entry) =>
        messagesFromJson(entry.messages_json),
      )
    const add = async (replaces: boolean) => {
      const known = foldMessages([], await logged()).filter(({ type }) => type === 'HumanMessage')
      const id = replaces ? known.at(counter % Math.max(known.length, 1))?.data.id : undefined
      await core.log.append(thread._id, { messages: [human(`added ${++counter}`, id)], source: 'update' })
    }

    let run: RunRecord | undefined
    const model: ChatModel = {
      async *stream({ messages }: ChatRequest) {
        const stored = await logged()
        const calls = run ? await collections.toolCalls.find({ run_id: run._id }).lean() : []
        const results = calls.map((call): Message => ({
          type: 'ToolMessage',
          data: { id: call._id, content: call.result ?? '', tool_call_id: call.call_id, name: call.name },
        }))
        const input = run ? messagesFromJson(run.input_json) : []
        const text = `answer ${++counter}`
        const expected = promptOf(foldMessages([], [...stored, ...input, ...results]), [])
        shown.set(text, { shown: messages, expected })
        await onQuestion()
        asked.resolve()
        if (tools > 0) {
          tools -= 1
          yield { type: 'text', text }
          yield { type: 'call', index: 0, id: `call ${counter}`, name: 'look', args: '{}' }
          return
        }
        yield { type: 'text', text }
      },
    } as ChatModel
    const newProcess = () => {
      const conversations = createConversations(service.api.platform.core)
      const read: typeof conversations.read = async (id, maxBytes, known) => {
        const result = await conversations.read(id, maxBytes, known)
        if (known?.thread?.last_entry_id !== undefined) reads.fromMemory += 1
        return result
      }
      const stepDeps: StepDeps = {
        ...runs.stepDeps,
        conversations: { ...conversations, read },
        liveRuns: createLiveRuns({ taskTimeoutMs: 60_000 }),
        model,
        toolsOf: async () => [
          {
            type: 'look',
            name: 'look',
            description: '',
            parameters: { type: 'object' },
            safeToRepeat: true,
            timeoutMs: 1000,
            execute: async () => ({ content: 'seen' }),
          } as never,
        ],
      }
      const slots = { tryAcquire: () => () => {}, inSlot: async (_run: object, _o: object, work: () => any) => work() }
      return { stepDeps, conversations, steps: createSteps(stepDeps, slots) }
    }
    const all = [newProcess(), newProcess()] as const
    const { signal } = new AbortController()

    async function execute(event: Extract<Event, { what: 'run' }>): Promise<void> {
      const during = [...event.during]
      tools = event.tools
      onQuestion = async () => {
        if (during.shift()) await add(false)
      }
      const { stepDeps, steps } = all[event.process]
      const read = await found(collections.threads.findById(thread._id).lean<ThreadRecord>())
      const runId = newId()
      const stored: RunRecord = {
        _id: runId,
        thread_id: thread._id,
        user_id: userId,
        project_id: projectId,
        assistant_id: assistant._id,
        public: true,
        acting: { person: 'nameless', origin: 'public' },
        status: 'running',
        input_json: messagesToJson([human(`question ${++counter}`)]),
        overrides: {},
        fence: 1,
        created_at: new Date(),
      }
      run = stored
      const { live } = stepDeps.liveRuns.offer(stored, { assistant, thread: read })
      await collections.runs.create([stored])
      if (event.before) await add(false)
      asked = Promise.withResolvers()
      if (event.early) {
        steps.begin(live)
        await asked.promise
      }
      const { thread: now } = await parentsOfRun(collections, stored)
      live.noteParents(now?.last_entry_id === read.last_entry_id ? 'same' : 'changed')
      let result = await steps.execute({ threadId: thread._id, runId, step: 0 }, signal)
      for (let step = 1; result.next === 'tools'; step++) {
        await collections.toolCalls.updateMany({ run_id: runId }, { $set: { status: 'done', result: 'seen' } })
        if (during.shift()) await add(false)
        if (event.evicts) all[event.next].conversations.forget([thread._id])
        result = await all[event.next].steps.execute({ threadId: thread._id, runId, step }, signal)
      }
      run = undefined
      const entries = await collections.checkpoints
        .find({ thread_id: thread._id, run_id: runId, source: 'step' })
        .lean()
      for (const message of entries.flatMap((entry) => messagesFromJson(entry.messages_json)))
        answers.push({ text: message.data.content, ...shown.get(message.data.content) })
    }

    return {
      answers,
      reads,
      async apply(event: Event): Promise<void> {
        if (event.what === 'add') await add(event.replaces)
        else if (event.what === 'evict') all[event.process].conversations.forget([thread._id])
        else await execute(event)
      },
    }
  }
})
