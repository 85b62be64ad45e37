import { AppError } from '../../domain/errors.ts'
import { type CitedFile, citedFilesOf } from '../../domain/knowledge/citations.ts'
import { type Message, messagesFromJson } from '../../domain/messages.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import { callContextOf, factsOf } from '../../domain/responses/facts.ts'
import { itemPositionOf } from '../../domain/responses/ids.ts'
import { type CallContext, type ContainerFiles, itemsOf } from '../../domain/responses/items-of.ts'
import type { ResponseItem } from '../../domain/responses/items.ts'
import { toContainer } from '../../domain/responses/to-container.ts'
import { sourcesBefore } from '../../domain/responses/web-sources.ts'
import { writtenBefore } from '../../domain/responses/written-files.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery, isBackwards, pageOf } from '../cursor-page.ts'
import type { Page } from '../page.ts'
import { logStore } from '../stores/log.ts'
import type { PendingInput } from '../threads/log.ts'
import { responseStore } from './store.ts'

interface ReadItemsDeps {
  collections: Pick<Collections, 'checkpoints' | 'runs'>
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  settings: { baseUrl: string }
}

export interface Included {
  /** Results of searches are shown. */
  results: boolean
  /** And the addresses that a web search has found. */
  sources?: boolean
  /** And the probabilities of tokens. */
  logprobs?: boolean
  /** And what code has printed and drawn. */
  outputs?: boolean
}

type Entry = Pick<CheckpointRecord, 'run_id' | 'messages_json'>

const entriesAtOnce = 50

/**
 * Items of a thread, read by pages: as many entries of its log as a page needs, from its cursor on. An item is shown with
 * its result, and with the files that its run has found, so runs are read whole.
 */
export function createReadItems({ collections, pendingInput, settings: { baseUrl } }: ReadItemsDeps) {
  const log = logStore(collections)

  async function itemsIn(thread: ThreadRecord, entries: Entry[], included: Included): Promise<ResponseItem[]> {
    const contexts = await callContexts(thread, entries)
    return itemsOfEntries(entries, included, { container: toContainer(thread._id, baseUrl), contexts })
  }

  /** What is known of the calls of each run that is a response. */
  async function callContexts(thread: ThreadRecord, entries: Entry[]): Promise<Map<string, CallContext>> {
    const ids = [...new Set(entries.flatMap(({ run_id: id }) => id ?? []))]
    if (ids.length === 0) return new Map()
    const found = await responseStore(collections).listFacts(thread, ids)
    return new Map(
      found.flatMap((run) => {
        const facts = factsOf(run)
        return facts === undefined ? [] : [[run._id, callContextOf(facts)] as const]
      }),
    )
  }

  async function page(thread: ThreadRecord, query: PageQuery, included: Included): Promise<Page<ResponseItem>> {
    const { order, after, before } = query
    const isDown = (order === 'desc') !== isBackwards(query)
    const pending = await pendingInput.missingFromLog(thread._id)
    const tail: Entry[] = pending === undefined ? [] : [pending]
    const cursor = after ?? before
    const isOfPending = cursor !== undefined && itemPositionOf(cursor)?.entryId === pending?.run_id
    // Other entries of a run that has called tools are in the log.
    const isInTail = isOfPending && pending?.source === 'input'
    let next = cursor === undefined || isInTail ? undefined : await seqOf(thread, cursor, isDown)
    let read: Entry[] = isDown && (cursor === undefined || isOfPending) ? tail : []
    let isEnd = isInTail && !isDown
    for (;;) {
      if (!isEnd) {
        const more = await someFrom(thread, next, isDown)
        isEnd = more.length < entriesAtOnce
        next = more.at(-1)?.seq
        if (next !== undefined) next += isDown ? -1 : 1
        read = isDown ? [...more.toReversed(), ...read] : [...read, ...more]
      }
      if (isEnd && !isDown) read = [...read, ...tail]
      const items = await itemsIn(thread, read, included)
      const isBoundRead = before === undefined || isEnd || items.some(({ id }) => id === before)
      const found = pageOf(items, ({ id }) => id, isBoundRead ? query : { ...query, before: undefined })
      if (isEnd || found.hasMore) return found
    }
  }

  /** The outermost entry of what an item belongs to, a run or an entry of its own. */
  async function seqOf({ _id }: ThreadRecord, itemId: string, isDown: boolean): Promise<number> {
    const found = await log.seqOfItem(_id, itemPositionOf(itemId)?.entryId ?? '', isDown ? 'last' : 'first')
    if (found === undefined) throw new AppError('not_found', 'There is no such entry.')
    return found
  }

  /** Entries of the log up or down from one, and the rest of the last one's run. Fewer than `entriesAtOnce`: the end. */
  async function someFrom({ _id }: ThreadRecord, from: number | undefined, isDown: boolean) {
    const read = (seq: object | undefined, limit: number) => log.listRange(_id, seq, isDown ? -1 : 1, limit)
    const bound = isDown ? ('$lte' as const) : ('$gte' as const)
    const some = await read(from === undefined ? undefined : { [bound]: from }, entriesAtOnce)
    const last = some.at(-1)
    if (last?.run_id === undefined || some.length < entriesAtOnce) return some
    const end = (await log.seqOfRun(_id, last.run_id, isDown ? 'first' : 'last')) ?? last.seq
    const between = isDown ? { $lt: last.seq, $gte: end } : { $gt: last.seq, $lte: end }
    return [...some, ...(await read(between, Math.abs(end - last.seq) + 1))]
  }

  return {
    page,

    /** The items of a run, or of an entry that a caller has added. */
    async of(thread: ThreadRecord, entryId: string, included: Included): Promise<ResponseItem[]> {
      const { _id } = thread
      const logged = await log.listOfItem(_id, entryId)
      const pending = await pendingInput.missingFromLog(_id)
      return itemsIn(thread, pending?.run_id === entryId ? [...logged, pending] : logged, included)
    },
  }
}

/** A message that comes again under its id takes the place of the first. */
function itemsOfEntries(
  entries: Entry[],
  { results, sources = false, logprobs = false, outputs = false }: Included,
  { container, contexts }: { container: ContainerFiles; contexts: ReadonlyMap<string, CallContext> },
): ResponseItem[] {
  const logged = new Map<string, { message: Message; runId: string | undefined }>()
  for (const entry of entries)
    for (const message of messagesFromJson(entry.messages_json))
      logged.set(message.data.id, { message, runId: entry.run_id })
  const all = [...logged.values()]
  const cited = citedFilesOf(new Set(all.flatMap(({ runId }) => runId ?? [])), all)
  // Of each run by itself, so that they do not depend on which runs are read with it.
  const runs = [...Map.groupBy(all, ({ runId }) => runId).values()].map((ofRun) => ofRun.map(({ message }) => message))
  const found = new Map(runs.flatMap((ofRun) => [...sourcesBefore(ofRun)]))
  const written = new Map(runs.flatMap((ofRun) => [...writtenBefore(ofRun)]))
  return itemsOf(
    all.map(({ message }) => message),
    {
      cited: ({ data: { id } }): CitedFile[] => cited.get(logged.get(id)?.runId ?? '') ?? [],
      functions: undefined,
      serverLabels: [],
      shapes: new Map(),
      sources: ({ data: { id } }) => found.get(id) ?? [],
      written: ({ data: { id } }) => written.get(id) ?? [],
      container,
      withResults: results,
      withSources: sources,
      withLogprobs: logprobs,
      withOutputs: outputs,
      isOpen: false,
    },
    ({ data: { id } }) => contexts.get(logged.get(id)?.runId ?? '') ?? {},
  )
}
