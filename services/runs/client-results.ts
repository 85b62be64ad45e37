import { invalidInput } from '../../domain/errors.ts'
import { checkTextSize, maxMessageBytes } from '../../domain/message-size.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import { type ResumptionDeps, createResumption, notWaiting } from './decisions.ts'
import { ledgerStore } from './store.ts'

/** The result of a function of the client, as the model is told. */
interface ToolOutput {
  tool_call_id: string
  output: string
}

/** Bytes of the results that a client sends for one answer: the thread's log holds them in one entry. */
const maxOutputBytes = 4 * 1024 * 1024

/** The results of calls that the client of a run executes. */
export function createClientResults(deps: ResumptionDeps) {
  const ledger = ledgerStore(deps.collections)
  const { waitingCalls, begin, goOn } = createResumption(deps)

  /**
   * Writes results of the client into the ledger; when no call waits any more, the run continues. Each call is answered
   * once. Throws `conflict` for a run that does not wait for its client, and `invalid_input` for a result that matches no
   * call or is too long.
   */
  return async function submitOutputs(run: RunRecord, outputs: ToolOutput[]): Promise<RunRecord> {
    if (run.status !== 'interrupted') throw notWaiting('results')
    const waiting = (await waitingCalls(run)).filter(({ client }) => client)
    const [first] = waiting
    if (first === undefined) throw notWaiting('results')
    const answered = answeredCalls(waiting, outputs)
    const before = await ledger.resultsOfClient(run._id, first.step)
    checkOutputsSize([...before, ...outputs.map(({ output }) => output)])
    await begin(run)
    let count = 0
    for (const { call, output } of answered) if (await ledger.answer(call._id, output)) count += 1
    const now = await goOn(run)
    // Another request has answered one of them, or the run has ended.
    if (count < answered.length) throw notWaiting('results')
    return now
  }
}

/** Each result with its call, which waits. */
function answeredCalls(waiting: ToolCallRecord[], outputs: ToolOutput[]) {
  return outputs.map(({ tool_call_id: id, output }, index) => {
    const loc = ['body', 'tool_outputs', index]
    if (outputs.findIndex((other) => other.tool_call_id === id) < index)
      throw invalidInput([...loc, 'tool_call_id'], 'is repeated')
    const call = waiting.find(({ call_id }) => call_id === id)
    if (call === undefined) throw invalidInput([...loc, 'tool_call_id'], 'no waiting call has this id')
    checkTextSize(output, maxMessageBytes.user, [...loc, 'output'])
    return { call, output }
  })
}

function checkOutputsSize(texts: string[]): void {
  if (texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0) > maxOutputBytes)
    throw invalidInput(['body', 'tool_outputs'], `hold more than ${maxOutputBytes} bytes together`, 'too_long')
}
