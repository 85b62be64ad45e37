import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type BudgetRecord, budgetId, dayOf, unlimited } from '../../domain/records/budget.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { createBudgetCounting } from '../../services/budgets/counting.ts'
import { offeredRun } from '../runs/offered-run.ts'
import { useSharedService } from '../support/shared-service.ts'

/** `BUDGET_TRIALS=200 npm test -- test/budgets/counting.test.ts` repeats the race 200 times. */
const trials = Number(process.env['BUDGET_TRIALS'] ?? 30)

const evening = new Date('2026-03-01T23:59:59.990Z')
const morning = new Date('2026-03-02T00:00:00.010Z')
const usage = { prompt_tokens: 6, completion_tokens: 4, total_tokens: 10 }

/** By the name of the assistant. */
const toolsOf: Record<string, { type: string }[]> = {
  caller: [{ type: 'http_request' }],
  reader: [{ type: 'retrieval' }],
}

/** One answer costs at most 1,000 tokens of the answer beside the question; each token costs one. */
const settings = {
  models: {
    current: () => ({
      prices: { currency: 'eur', models: new Map([['m', { input: 1_000_000, output: 1_000_000 }]]) },
      defaultModel: 'm',
    }),
  },
  contextWindowOf: () => 4000,
  assistantConfigs: {
    settingsOf: ({ name }: AssistantRecord) => ({ systemMessage: '', model: 'm', tools: toolsOf[name] ?? [] }),
  },
} as unknown as Omit<Parameters<typeof createBudgetCounting>[0], 'collections' | 'now'>

describe('the count of a budget', () => {
  const service = useSharedService()

  const countingAt = (now: () => Date) => createBudgetCounting({ ...settings, collections: service.collections, now })
  const read = async (id: string) => {
    const record = await service.collections.budgets.findById(id).lean<BudgetRecord>()
    if (record === null) throw new Error(`no budget ${id}`)
    return record
  }

  /** A budget with its assistant, as another process has last counted it. */
  async function withBudget(limits: Partial<BudgetRecord>, day = dayOf(evening)) {
    const id = budgetId('project', newId())
    const maxima = { max_runs: unlimited, max_tokens: unlimited, max_money: unlimited }
    const spent = { day, runs: 0, tokens: 0, money: 0 }
    await service.collections.budgets.create({ _id: id, user_id: 'user', ...maxima, ...spent, ...limits })
    return { id, assistant: { ...offeredRun('a').assistant, budgets: [id] } as AssistantRecord }
  }

  it('counts two attempts to start the same run as one', async () => {
    const { id, assistant } = await withBudget({ max_runs: 1 })
    const counting = countingAt(() => evening)
    const admit = () => counting.admit('run', false, { assistant, overrides: {}, bytes: 0 })
    expect(await Promise.all([admit(), admit(), admit()])).toEqual([[id], [id], [id]])
    expect(await read(id)).toMatchObject({ runs: 1, held: [{ run: 'run' }] })
    await counting.recordCost(ended('run', id))
    expect(await read(id)).toMatchObject({ runs: 1, tokens: 10, held: [] })
  })

  const ended = (run: string, budget: string, members: Partial<RunRecord> = {}): RunRecord => ({
    ...offeredRun(run).run,
    status: 'success',
    model: 'm',
    usage,
    budgets: [budget],
    ...members,
  })

  it('is exact around midnight, whatever the clocks of the processes say', async () => {
    for (let trial = 0; trial < trials; trial++) {
      const { id, assistant } = await withBudget({ max_runs: 5 })
      // Some processes are in the new day, some are not, and of some the clock passes midnight meanwhile.
      const begins = [0, 1, Infinity]
      const admitted = new Map<string, 'open' | 'back'>()
      await Promise.all(
        Array.from({ length: 64 }, async (_, index) => {
          let looks = 0
          const passesAt = begins[(index + trial) % 3] ?? 0
          const counting = countingAt(() => (looks++ >= passesAt ? morning : evening))
          const run = `run-${trial}-${index}`
          const isIn = await counting.admit(run, false, { assistant }).then(
            () => true,
            () => false,
          )
          if (!isIn) return
          admitted.set(run, 'open')
          // Some are refused by their thread, and each is given back by two processes.
          if (index % 4 !== 0) return
          admitted.set(run, 'back')
          await Promise.all([1, 2].map(() => counting.giveBack({ _id: run, budgets: [id] })))
        }),
      )
      const { runs, day, held = [] } = await read(id)
      const open = [...admitted].filter(([, how]) => how === 'open').map(([run]) => run)
      expect(day).toBe('2026-03-02')
      expect(runs).toBe(held.length)
      expect(held.every(({ run }) => admitted.get(run) === 'open')).toBe(true)
      // Those that stay are at most five a day, and on the second day the budget can be filled.
      expect(open.length - held.length).toBeLessThanOrEqual(5)
      for (let more = held.length; more < 5; more++)
        await countingAt(() => morning).admit(`more-${trial}-${more}`, false, { assistant })
      await expect(countingAt(() => morning).admit('beyond', false, { assistant })).rejects.toThrow('5 runs')
      expect((await read(id)).runs).toBe(5)
    }
  }, 300_000)

  it('joins the day of a faster clock, and does not wait for its own midnight', async () => {
    const { id, assistant } = await withBudget({ max_runs: 1, runs: 1 })
    await countingAt(() => morning).admit('fast', false, { assistant })
    await countingAt(() => morning).giveBack({ _id: 'fast', budgets: [id] })
    await countingAt(() => evening).admit('slow', false, { assistant })
    expect(await read(id)).toMatchObject({ day: '2026-03-02', runs: 1 })
  })

  it('recovers from a clock that was wrong by years', async () => {
    const { id, assistant } = await withBudget({ max_runs: 1, runs: 1 }, '2036-01-01')
    await countingAt(() => evening).admit('a', false, { assistant })
    expect(await read(id)).toMatchObject({ day: '2026-03-01', runs: 1 })
  })

  it('does not lose anything when a run is given back on the next day', async () => {
    const { id, assistant } = await withBudget({ max_runs: 5 })
    await countingAt(() => evening).admit('old', false, { assistant })
    await countingAt(() => morning).admit('new', false, { assistant })
    await countingAt(() => morning).giveBack({ _id: 'old', budgets: [id] })
    await countingAt(() => morning).recordCost(ended('old', id))
    expect(await read(id)).toMatchObject({ day: '2026-03-02', runs: 1, tokens: 0, money: 0 })
  })

  it('reserves what answers may cost, so that a burst does not exceed money or tokens', async () => {
    const counting = countingAt(() => evening)
    for (const limits of [{ max_money: 2500 }, { max_tokens: 2500 }]) {
      const { id, assistant } = await withBudget(limits)
      const answers = await Promise.allSettled(
        Array.from({ length: 50 }, (_, index) => counting.admit(`run-${index}`, false, { assistant, bytes: 0 })),
      )
      const refused = answers.filter((answer) => answer.status === 'rejected')
      // Three of a thousand each: the last one may exceed the limit.
      expect(refused).toHaveLength(47)
      expect(refused[0]?.reason).toMatchObject({
        code: 'max_money' in limits ? 'payment_required' : 'too_many_requests',
        retryAfterSeconds: 10,
      })
      // What they really cost is counted once, and makes room.
      const { held = [] } = await read(id)
      for (const { run } of [...held, ...held]) await counting.recordCost(ended(run, id))
      expect(await read(id)).toMatchObject({ runs: 3, tokens: 30, money: 30, held: [] })
      await counting.admit('next', false, { assistant, bytes: 0 })
    }
  })

  it('reserves for a question no more than its text and its window', async () => {
    const counting = countingAt(() => evening)
    const heldFor = async (bytes: number | undefined, maxTokens?: number, members: Partial<AssistantRecord> = {}) => {
      const { id, assistant: plain } = await withBudget({})
      const assistant = { ...plain, ...members }
      const overrides = maxTokens === undefined ? {} : { max_tokens: maxTokens }
      await counting.admit('run', false, { assistant, overrides, bytes })
      return (await read(id)).held?.[0]
    }
    expect(await heldFor(10)).toMatchObject({ tokens: 1010, money: 1010 })
    expect(await heldFor(1e9)).toMatchObject({ tokens: 3600 })
    expect(await heldFor(undefined)).toMatchObject({ tokens: 3600 })
    expect(await heldFor(10, 5)).toMatchObject({ tokens: 15 })
    // The results of tools fill the window, however short the conversation is.
    expect(await heldFor(10, 5, { name: 'caller' })).toMatchObject({ tokens: 3600 })
    expect(await heldFor(10, 5, { has_files: true })).toMatchObject({ tokens: 3600 })
    expect(await heldFor(10, 5, { name: 'reader' })).toMatchObject({ tokens: 15 })
    // A caller may name any limit, and must not block the others by it.
    expect(await heldFor(10, 1e15)).toMatchObject({ tokens: 4000 })
  })

  it('gives back what ended without use, and keeps what was used', async () => {
    const counting = countingAt(() => evening)
    const none = { usage: undefined } as unknown as Partial<RunRecord>
    const { id, assistant } = await withBudget({})
    const after = async (members: Partial<RunRecord>) => {
      const before = (await read(id)).runs
      const run = newId()
      await counting.admit(run, false, { assistant })
      for (const times of [1, 2]) {
        await counting.recordCost(ended(run, id, members))
        expect((await read(id)).held, `settled ${times} times`).toEqual(members.status === 'running' ? [{}] : [])
        if (members.status === 'running') break
      }
      return (await read(id)).runs - before
    }
    expect(await after({ status: 'error', ...none })).toBe(0)
    expect(await after({ status: 'cancelled', ...none })).toBe(0)
    expect(await after({ status: 'cancelled', ...none, started_at: evening })).toBe(1)
    expect(await after({ status: 'error', ...none, last_data_event_id: '1-0' })).toBe(1)
    expect(await after({ status: 'error', usage })).toBe(1)
    expect(await after({ status: 'success', ...none })).toBe(1)
    expect(await read(id)).toMatchObject({ runs: 4, tokens: 10, money: 10 })
  })

  it('counts what processes that died have left, when a run would be refused for it', async () => {
    let time = evening.getTime() - 3_600_000
    const counting = countingAt(() => new Date(time))
    const { id, assistant } = await withBudget({ max_runs: 2 })
    const lost = newId()
    await counting.admit(newId(), false, { assistant })
    await counting.admit(lost, false, { assistant })
    await service.collections.runs.create({ ...ended(lost, id), finished_at: new Date(time) })
    const refuse = () => expect(counting.admit(newId(), false, { assistant })).rejects.toThrow('2 runs')
    // The ended one is settled; the other may still be stored.
    await refuse()
    expect(await read(id)).toMatchObject({ runs: 2, tokens: 10, held: [{}] })
    time += 59_000
    await refuse()
    time += 11_000
    await counting.admit(newId(), false, { assistant })
    expect(await read(id)).toMatchObject({ runs: 2, tokens: 10, held: [{}] })
  })
})
