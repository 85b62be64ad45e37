import type { Message } from '../../../../client/src/index.ts'
import { type ForeignChat, type ForeignNode, type LeftOut, limits } from './chat.ts'

export interface Placed {
  message: Message
  at: string | undefined
  /** Ids of the pictures that came with it. */
  pictures: readonly string[]
}

type Saying = NonNullable<ForeignNode['said']>

/** What was said, after what: nodes in which nothing was said, and those in a circle, are left out. */
interface Said {
  node: ForeignNode
  said: Saying
  above: Said | undefined
  /** Messages up to here. */
  depth: number
  hasBelow: boolean
  /** The message that was written last for it. */
  written: string | undefined
}

/**
 * A tree of messages as a list of this service, in which a question names what it follows (`after`): one branch after the
 * other, the one that was shown last. Another answer to a question is another version of the question.
 */
export function asVersions(chat: ForeignChat, left: LeftOut): Placed[] {
  const leaves = leavesOf(chat)
  const shown = leaves.at(-1)
  if (shown === undefined) return []
  const others = leaves.slice(0, -1)
  const kept = others.slice(-limits.branches)
  left.branches += others.length - kept.length
  const writer = createWriter()
  // The branch that was shown may need a question before it.
  const room = limits.messages - Math.min(shown.depth + 1, limits.messages)
  for (const leaf of kept) if (!writer.write(leaf, room)) left.branches += 1
  let end = shown
  while (end.depth > limits.messages && end.above !== undefined) end = end.above
  writer.write(end, limits.messages)
  return writer.placed
}

/** The last messages of the branches, that of the shown one last. */
function leavesOf({ nodes, current }: ForeignChat): Said[] {
  const { all, of } = saidIn(nodes)
  const ends = all.filter(({ hasBelow }) => !hasBelow)
  const shown = endBelow(ends, of(current ?? '')) ?? ends.at(-1)
  return shown === undefined ? [] : [...ends.filter((end) => end !== shown), shown]
}

/** Below the message that was shown there may be others: its branch is the last one that leads through it. */
function endBelow(ends: Said[], shown: Said | undefined): Said | undefined {
  const passed = new Set<Said>()
  return ends.findLast((end) => {
    for (let at: Said | undefined = end; at !== undefined && !passed.has(at); at = at.above) {
      if (at === shown) return true
      passed.add(at)
    }
    return false
  })
}

/** Each node is visited twice at most, however deep the tree is. */
function saidIn(nodes: ForeignNode[]) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  /** For each node that was visited, what was said last up to it; `circle` for those without a beginning. */
  const reached = new Map<ForeignNode, Said | 'nothing' | 'circle'>()
  for (const start of byId.values()) {
    const way: ForeignNode[] = []
    const onWay = new Set<ForeignNode>()
    let node: ForeignNode | undefined = start
    while (node !== undefined && !reached.has(node) && !onWay.has(node)) {
      way.push(node)
      onWay.add(node)
      node = node.parent === null ? undefined : byId.get(node.parent)
    }
    let last = node === undefined ? ('nothing' as const) : (reached.get(node) ?? ('circle' as const))
    for (const one of way.toReversed()) {
      if (last !== 'circle') last = placeBelow(last, one)
      reached.set(one, last)
    }
  }
  const of = (id: string): Said | undefined => {
    const node = byId.get(id)
    const last = node && reached.get(node)
    return typeof last === 'object' ? last : undefined
  }
  const all = [...byId.values()].flatMap((node) => {
    const last = reached.get(node)
    return typeof last === 'object' && last.node === node ? [last] : []
  })
  return { all, of }
}

function placeBelow(last: Said | 'nothing', node: ForeignNode): Said | 'nothing' {
  if (node.said === undefined) return last
  const above = last === 'nothing' ? undefined : last
  if (above !== undefined) above.hasBelow = true
  return { node, said: node.said, above, depth: (above?.depth ?? 0) + 1, hasBelow: false, written: undefined }
}

/** Stands for a question that the export does not have, such as one of a picture alone that is missing. */
export const unknownQuestion = '…'

function createWriter() {
  const placed: Placed[] = []
  const newId = createIds()
  const put = (said: Saying, id: string, at: string | undefined, after?: string | null): void => {
    placed.push({ message: messageOf(said, id, after), at, pictures: said.pictures ?? [] })
  }

  return {
    placed,

    /** Writes the branch up to this message, as far as it is not there; false if there would be more messages than that. */
    write(end: Said, room: number): boolean {
      const free = room - placed.length
      const path: Said[] = []
      let at: Said | undefined = end
      // What is there is followed, but only a question can name what it follows: an answer comes with its question.
      while (at !== undefined && (at.written === undefined || (path.at(-1) ?? end).said.by === 'assistant')) {
        path.push(at)
        if (path.length > free) return false
        at = at.above
      }
      let after = placed.length === 0 ? undefined : (at?.written ?? null)
      if (after !== undefined && path.at(-1)?.said.by === 'assistant') {
        if (path.length >= free) return false
        const id = newId('question')
        put({ by: 'person', text: unknownQuestion }, id, path.at(-1)?.node.at, after)
        after = undefined
      }
      for (const one of path.toReversed()) {
        one.written = newId(one.node.id)
        put(one.said, one.written, one.node.at, after)
        after = undefined
      }
      return true
    },
  }
}

/** Ids that no two messages share: that of the node, with a number for its copies. */
function createIds() {
  const used = new Set<string>()
  const numbers = new Map<string, number>()
  return (of: string): string => {
    const stem = of.slice(0, 100).toWellFormed() || 'message'
    let id = stem
    let number = numbers.get(stem) ?? 1
    while (used.has(id)) {
      number += 1
      id = `${stem}.${number}`
    }
    numbers.set(stem, number)
    used.add(id)
    return id
  }
}

function messageOf({ by, text }: Saying, id: string, after: string | null | undefined): Message {
  if (by === 'assistant') return { type: 'AIMessage', data: { id, content: text } }
  return { type: 'HumanMessage', data: { id, content: text, ...(after === undefined ? {} : { after }) } }
}
