import { createInterface } from 'node:readline'
import { unwrap } from '../src/create-client.ts'
import { type Answer, finish, showRun } from './answer.ts'
import { type Command, assistantOption, jsonOption, textValue } from './command.ts'
import { Failure, exitCodes } from './failure.ts'
import { type Service, findAssistant } from './service.ts'
import { note, out, standardInput } from './terminal.ts'

const titleLength = 60

async function newThread({ api }: Service, question: string): Promise<string> {
  const name = question.replaceAll(/\s+/g, ' ').trim().slice(0, titleLength) || 'From the command line'
  return (await unwrap(api.POST('/threads/', { body: { name } }))).thread_id
}

/** Starts a run and shows its answer. `stopping` gets what ends both, for Ctrl-C. */
async function askOnce(
  service: Service,
  where: { assistantId: string; threadId: string },
  question: string,
  { quiet, onRun }: { quiet: boolean; onRun?: (cancel: (() => Promise<void>) | undefined) => void },
): Promise<Answer> {
  const { api } = service
  const { run_id: runId } = await unwrap(
    api.POST('/runs/', {
      body: {
        assistant_id: where.assistantId,
        thread_id: where.threadId,
        input: [{ type: 'human', content: question }],
      },
    }),
  )
  onRun?.(async () => {
    await unwrap(api.POST('/runs/{run_id}/cancel', { params: { path: { run_id: runId } } }))
  })
  try {
    return await showRun(service, runId, { quiet })
  } finally {
    onRun?.(undefined)
  }
}

/** Ctrl-C cancels the run that is under way; pressed again, or without a run, it ends the program. */
function onInterrupt(whenIdle: () => void) {
  let cancel: (() => Promise<void>) | undefined
  const interrupted = () => {
    const running = cancel
    cancel = undefined
    if (running === undefined) return whenIdle()
    note('\nCancelling the answer …')
    running().catch(() => note('The answer could not be cancelled; it goes on.'))
  }
  process.on('SIGINT', interrupted)
  return {
    interrupted,
    onRun: (next: (() => Promise<void>) | undefined) => void (cancel = next),
    end: () => void process.off('SIGINT', interrupted),
  }
}

export const ask: Command = {
  name: 'ask',
  summary: 'Ask one question and print the answer with its sources',
  operands: 'QUESTION',
  takes: [1, 1],
  options: {
    ...assistantOption,
    thread: { type: 'string', value: 'ID', help: 'go on in this thread instead of a new one' },
    ...jsonOption,
  },
  async run({ operands: [given = ''], values, open }) {
    const service = await open()
    const question = given === '-' ? await standardInput() : given
    const assistant = await findAssistant(service, textValue(values['assistant']))
    const threadId = textValue(values['thread']) ?? (await newThread(service, question))
    const { onRun, end } = onInterrupt(() => process.exit(exitCodes.interrupted))
    const quiet = values['json'] === true
    const answer = await askOnce(service, { assistantId: assistant.assistant_id, threadId }, question, { quiet, onRun })
    end()
    finish(answer, quiet)
  },
}

export const chat: Command = {
  name: 'chat',
  summary: 'Talk with an assistant; an empty line or Ctrl-D ends it, Ctrl-C cancels an answer',
  operands: '',
  takes: [0, 0],
  options: { ...assistantOption, thread: { type: 'string', value: 'ID', help: 'go on in this thread' } },
  async run({ values, open }) {
    const service = await open()
    const assistant = await findAssistant(service, textValue(values['assistant']))
    let threadId = textValue(values['thread'])
    const isWatched = process.stdin.isTTY && process.stdout.isTTY
    const lines = createInterface({ input: process.stdin, ...(isWatched && { output: process.stdout, prompt: '> ' }) })
    const keys = onInterrupt(() => lines.close())
    lines.on('SIGINT', keys.interrupted)
    if (isWatched) lines.prompt()
    for await (const line of lines) {
      const question = line.trim()
      if (question === '') break
      threadId ??= await newThread(service, question)
      try {
        finish(
          await askOnce(service, { assistantId: assistant.assistant_id, threadId }, question, {
            quiet: false,
            onRun: keys.onRun,
          }),
          false,
        )
      } catch (error) {
        // The talk goes on after an answer that failed or was cancelled.
        if (!(error instanceof Failure)) throw error
        note(error.message)
      }
      if (isWatched) lines.prompt()
      else out('\n')
    }
    keys.end()
    lines.close()
    if (threadId !== undefined) note(`Go on with: assistant chat --thread ${threadId}`)
  },
}
