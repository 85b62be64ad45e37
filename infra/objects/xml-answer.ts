import { Parser } from 'htmlparser2'

/** An answer of S3: the members of its root, and the elements of its root that have members themselves. */
export interface XmlAnswer {
  root: string
  members: Record<string, string>
  items: { name: string; members: Record<string, string> }[]
}

/** A list has at most 1000 entries and as many prefixes. */
const maxItems = 3000
const maxDepth = 8

/**
 * Reads an answer of S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/). Its size is bounded before; deeper levels,
 * such as the owner of an entry, are left out. Throws for too many entries or levels, and for an answer that breaks off.
 */
export function parseXmlAnswer(text: string): XmlAnswer {
  const answer: XmlAnswer = { root: '', members: noMembers(), items: [] }
  const path: string[] = []
  let content = ''
  let item: XmlAnswer['items'][number] | undefined
  const parser = new Parser(
    {
      onopentag(name) {
        path.push(name)
        content = ''
        if (path.length > maxDepth) throw new Error('the answer of the object store nests too deep')
        if (path.length === 1) answer.root = name
        if (path.length === 2) item = undefined
        if (path.length === 3 && item === undefined) {
          if (answer.items.length === maxItems) throw new Error('the answer of the object store has too many entries')
          item = { name: path[1] ?? '', members: noMembers() }
          answer.items.push(item)
        }
      },
      ontext(piece) {
        content += piece
      },
      onclosetag(name) {
        if (path.length === 2 && item === undefined) answer.members[name] = content
        if (path.length === 3 && item !== undefined) item.members[name] = content
        content = ''
        path.pop()
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.write(text)
  // The end would close them.
  if (path.length > 0) throw new Error('the answer of the object store breaks off')
  parser.end()
  return answer
}

/** Without a prototype: names come from outside. */
function noMembers(): Record<string, string> {
  const members: Record<string, string> = {}
  Object.setPrototypeOf(members, null)
  return members
}
