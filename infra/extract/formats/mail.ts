import PostalMime, { type Address, type Email } from 'postal-mime'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { blocksOfText } from '../aligned-text.ts'
import { type Content, bytesOf, streamOf } from '../content.ts'
import { type InnerFiles, notRead } from '../inner-files.ts'
import { readHtml } from './html.ts'
import { type Mail, factsOf, maxAddresses, maxAttachments, nameOf, oneLine } from './mail-parts.ts'

/** Of one mail, and of its attachments that are mails. */
const parserLimits = { maxNestingDepth: 50, maxHeadersSize: 1024 * 1024, maxRfc822NestingDepth: 3 } as const
const maxMailBytes = 128 * 1024 * 1024

/** A mail, or all mails of a mailbox: who wrote it to whom, its text, and its attachments as files of their own. */
export async function* readMail(content: Content, extension: string, inner: InnerFiles): AsyncGenerator<Block> {
  if (extension === 'mbox') yield* readMailbox(content, inner)
  else
    yield* blocksOf(
      extension === 'msg'
        ? (await import('./outlook.ts')).outlookMail(await bytesOf(content))
        : await mailOf(await bytesOf(content)),
      inner,
    )
}

async function* blocksOf(mail: Mail, inner: InnerFiles): AsyncGenerator<Block> {
  if (mail.subject !== '') yield { kind: 'heading', level: 1, text: mail.subject }
  if (mail.facts.length > 0) yield { kind: 'text', text: mail.facts.join('\n') }
  if (mail.text.trim() !== '') yield* blocksOfText(newestFirst(mail.text))
  else if (mail.html !== '') yield* readHtml(Buffer.from(`<meta charset="utf-8">${mail.html}`), 'html')
  if (!inner.canGoDeeper) return
  for (const { name, content } of mail.attachments)
    yield* inner.read({ name, size: content.length, content: () => content }, 1)
}

async function mailOf(bytes: Buffer): Promise<Mail> {
  const mail = await PostalMime.parse(bytes, parserLimits).catch((error: unknown) => {
    throw new UnreadableFile('damaged', 'This mail is damaged and cannot be read.', { cause: error })
  })
  const date = mail.headers.find(({ key }) => key === 'date')?.value ?? mail.date
  return {
    subject: oneLine(mail.subject),
    facts: factsOf([
      ['From', addresses(mail.from)],
      ['To', addresses(mail.to)],
      ['Cc', addresses(mail.cc)],
      ['Date', oneLine(date)],
    ]),
    text: mail.text ?? '',
    html: mail.html ?? '',
    attachments: attachmentsOf(mail),
  }
}

/** Without the pictures that its HTML shows, such as logos. */
function attachmentsOf({ attachments, html }: Email): Mail['attachments'] {
  return attachments
    .filter(({ related, disposition }) => !(related === true && disposition !== 'attachment' && html !== undefined))
    .slice(0, maxAttachments)
    .map(({ filename, mimeType, content }, index) => ({
      name: nameOf(filename ?? undefined, index, mimeType),
      content: Buffer.from(typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)),
    }))
}

function addresses(given: Address | Address[] | undefined): string {
  const list = given === undefined ? [] : Array.isArray(given) ? given : [given]
  return list
    .slice(0, maxAddresses)
    .map(({ name, address, group }) => {
      if (group) return `${name}: ${addresses(group)}`
      return name === '' || name === address ? address : `${name} <${address}>`
    })
    .join(', ')
}

/** An answer below the mail that it quotes comes before it; answers between quoted lines stay there. */
function newestFirst(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n')
  const isQuoted = (line: string) => line.startsWith('>')
  const first = lines.findIndex(isQuoted)
  const own = first < 0 ? -1 : lines.findIndex((line, index) => index > first && line.trim() !== '' && !isQuoted(line))
  const above = lines.slice(0, Math.max(0, first)).filter((line) => line.trim() !== '')
  const isBelow = own >= 0 && above.length <= 2 && !lines.slice(own).some(isQuoted)
  return isBelow ? [...lines.slice(own), '', ...lines.slice(0, own)].join('\n') : lines.join('\n')
}

const mark = Buffer.from('\nFrom ')
/** A sender and a time, or nothing. Not every program quotes lines of a mail that begin in the same way. */
const separator = /^From (?:\s*$|\S.*\d:\d\d)/
const longestSeparator = 300

/** The mails of a mailbox, each a section (RFC 4155): a line that begins with `From ` stands before each. */
async function* readMailbox(content: Content, inner: InnerFiles): AsyncGenerator<Block> {
  let open = Buffer.from('\n')
  let from = 1
  for await (const piece of streamOf(content)) {
    open = Buffer.concat([open, piece])
    for (;;) {
      const at = open.indexOf(mark, from)
      const lineEnd = at < 0 ? -1 : open.indexOf('\n', at + 1)
      if (lineEnd < 0) {
        from = at < 0 ? Math.max(1, open.length - mark.length) : at
        break
      }
      from = at + 1
      if (!separator.test(open.toString('latin1', at + 1, Math.min(lineEnd, at + longestSeparator)))) continue
      yield* sectionOf(open.subarray(1, at), inner)
      open = open.subarray(at)
      from = 1
    }
    if (open.length > maxMailBytes)
      throw new UnreadableFile('too_large', 'A mail of this mailbox is too large to be read.')
  }
  yield* sectionOf(open.subarray(1), inner)
}

async function* sectionOf(bytes: Buffer, inner: InnerFiles): AsyncGenerator<Block> {
  const end = bytes.indexOf('\n')
  if (end < 0) return
  const text = bytes.subarray(bytes.subarray(0, 5).toString('latin1') === 'From ' ? end + 1 : 0)
  // Lines that would begin a mail are quoted.
  const isQuoted = text.includes('\n>From ')
  const bare = isQuoted ? Buffer.from(text.toString('latin1').replace(/^>(>*From )/gm, '$1'), 'latin1') : text
  try {
    yield* blocksOf(await mailOf(bare), inner)
  } catch (error) {
    yield notRead('a mail of this mailbox', error)
  }
}
