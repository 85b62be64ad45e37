import { extname } from 'node:path'
import { fileTypeFromBlob } from 'file-type'
import { isUnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { charsetOfHead } from './charset.ts'
import { type Content, blobOf, bytesOf, headOf } from './content.ts'
import { createDecoder } from './language-letters.ts'
import { type CompoundFile, openCompoundFile } from './ole/compound-file.ts'

export const formats = [
  'pdf',
  'office',
  'spreadsheet',
  'html',
  'markdown',
  'delimited',
  'json',
  'notebook',
  'mail',
  'calendar',
  'contacts',
  'archive',
  'code',
  'text',
  'binary',
  'picture',
  'media',
  'encrypted',
] as const
export type Format = (typeof formats)[number]

export interface Detected {
  format: Format
  contentType: string
  /** The variant that the reader of that format gets: `docx`, `tsv`, `jsonl`. */
  extension: string
}

const officeExtensions = new Set(
  'docx docm dotx dotm pptx pptm ppsx ppsm potx potm odt ott odp otp odg otg epub rtf'.split(' '),
)
/** Pictures in which words are looked for. */
const pictureExtensions = new Set(['png', 'jpg', 'tif', 'webp', 'gif', 'bmp'])
const spreadsheetExtensions = new Set(['xlsx', 'xlsm', 'xltx', 'xltm', 'xlsb', 'ods', 'ots'])

/** The format of a file, by its content; the name only distinguishes kinds of plain text. */
export async function detectFormat(content: Content, name: string): Promise<Detected> {
  const nameExtension = extname(name).slice(1).toLowerCase()
  const head = await headOf(content, headBytes)
  const found = await fileTypeFromBlob(await blobOf(content))
  if (found?.ext === 'cfb') return oldOffice(content, nameExtension)
  if (found) {
    // `BM` and `wide` begin pictures and films, and texts, too.
    const known =
      isMedia.test(found.mime) && isPlainText(head) ? undefined : byMagic(found.ext, found.mime, head, nameExtension)
    if (known) return known
  }
  if (startsWith(head, '%PDF-')) return { format: 'pdf', contentType: 'application/pdf', extension: 'pdf' }
  if (!looksLikeText(head))
    return { format: 'binary', contentType: 'application/octet-stream', extension: nameExtension }
  return textFormat(decodeHead(head), nameExtension)
}

const headBytes = 64 * 1024

function byMagic(extension: string, mime: string, head: Buffer, nameExtension: string): Detected | undefined {
  if (extension === 'pdf') return { format: 'pdf', contentType: mime, extension }
  if (officeExtensions.has(extension)) return { format: 'office', contentType: mime, extension: officeKind(extension) }
  if (spreadsheetExtensions.has(extension)) return { format: 'spreadsheet', contentType: mime, extension }
  if (mime.startsWith('text/') || mime.endsWith('+xml') || mime === 'application/xml') return undefined
  if (pictureExtensions.has(extension)) return { format: 'picture', contentType: mime, extension }
  if (isMedia.test(mime)) return { format: 'media', contentType: mime, extension }
  // A damaged document, or one with its parts in an unusual order: its reader gives a better error than `zip`.
  if (mime === 'application/zip' && officeExtensions.has(nameExtension)) {
    return { format: 'office', contentType: mime, extension: officeKind(nameExtension) }
  }
  if (mime === 'application/zip' && spreadsheetExtensions.has(nameExtension)) {
    return { format: 'spreadsheet', contentType: mime, extension: nameExtension }
  }
  if (mime === 'application/zip') return { format: 'archive', contentType: mime, extension: 'zip' }
  if (isArchive.test(mime)) return { format: 'media', contentType: mime, extension }
  return looksLikeText(head) ? undefined : { format: 'binary', contentType: mime, extension }
}

const isMedia = /^(image|audio|video|font)\//

/** Without a zero byte, which every picture and film has. */
const isPlainText = (head: Buffer): boolean => !head.includes(0) && looksLikeText(head)

const isArchive = /zip|x-(7z|rar|tar|bzip|xz|lz|compress|gtar)|gzip|zstd|vnd\.rar/

function officeKind(extension: string): string {
  if (extension.startsWith('do')) return 'docx'
  if (extension.startsWith('p')) return 'pptx'
  return extension === 'ott' ? 'odt' : extension === 'otp' ? 'odp' : extension
}

/** The container of Office 97, and of password-protected files of current Office versions. */
async function oldOffice(content: Content, nameExtension: string): Promise<Detected> {
  const container = openContainer(await bytesOf(content))
  const has = (...names: string[]) => names.some((name) => container?.has(name) === true)
  if (has('EncryptedPackage', '\tDRMContent'))
    return { format: 'encrypted', contentType: 'application/x-ole-storage', extension: nameExtension }
  if (has('__properties_version1.0', '__nameid_version1.0')) return outlook
  if (has('WordDocument')) return word
  if (has('PowerPoint Document')) return powerPoint
  if (has('Workbook', 'Book')) return excel
  // A damaged container: the reader of its format says so.
  return (
    oldKinds.get(nameExtension) ?? {
      format: 'binary',
      contentType: 'application/x-ole-storage',
      extension: nameExtension,
    }
  )
}

const outlook: Detected = { format: 'mail', contentType: 'application/vnd.ms-outlook', extension: 'msg' }
const word: Detected = { format: 'office', contentType: 'application/msword', extension: 'doc' }
const powerPoint: Detected = { format: 'office', contentType: 'application/vnd.ms-powerpoint', extension: 'ppt' }
const excel: Detected = { format: 'spreadsheet', contentType: 'application/vnd.ms-excel', extension: 'xls' }
const oldKinds = new Map([
  ['msg', outlook],
  ['doc', word],
  ['dot', word],
  ['ppt', powerPoint],
  ['pps', powerPoint],
  ['pot', powerPoint],
  ['xls', excel],
])

function openContainer(bytes: Buffer): CompoundFile | undefined {
  try {
    return openCompoundFile(bytes)
  } catch (error) {
    if (isUnreadableFile(error)) return undefined
    throw error
  }
}

/** A mail begins with its fields, and a mailbox with a line before each mail (RFC 4155). */
const isMailbox = /^From \S+ .{5,40}\d{4}\r?\n[\w-]+: /
const isMail =
  /^(?:(?:Return-Path|Received|Delivered-To|MIME-Version|From|Date|Message-ID|Subject): [^\n]*\n(?:[ \t][^\n]*\n)*){2}/i

const markdownExtensions = new Set(['md', 'markdown', 'mdown', 'mkd', 'mdx'])
const codeExtensions = new Set(
  (
    'ts tsx mts cts js jsx mjs cjs py rb go rs java kt kts scala c h cc cpp cxx hpp cs swift m mm php pl pm lua r jl ' +
    'sh bash zsh fish ps1 sql css scss less vue svelte hs ml fs clj ex exs erl dart zig nim asm s v vhd tf proto ' +
    'graphql yaml yml toml ini cfg conf properties gradle cmake make mk dockerfile diff patch tex'
  ).split(' '),
)

function textFormat(head: string, extension: string): Detected {
  const start = head.trimStart().slice(0, 1024).toLowerCase()
  if (/^<(!doctype html|html|head|body)\b/.test(withoutComments(start))) return html
  if (extension === 'html' || extension === 'htm' || extension === 'xhtml') return html
  if (start.startsWith('<?xml')) return start.includes('<html') ? html : (officeXml(head) ?? xml)
  if (start.startsWith('<office:document')) return officeXml(head) ?? xml
  if (extension === 'xml' || extension === 'svg') return xml
  if (markdownExtensions.has(extension)) return { format: 'markdown', contentType: 'text/markdown', extension: 'md' }
  if (extension === 'mbox' || isMailbox.test(head))
    return { format: 'mail', contentType: 'application/mbox', extension: 'mbox' }
  if (extension === 'eml' || (extension === '' && isMail.test(head)))
    return { format: 'mail', contentType: 'message/rfc822', extension: 'eml' }
  if (/^begin:vcalendar\s/.test(start)) return { format: 'calendar', contentType: 'text/calendar', extension: 'ics' }
  if (/^begin:vcard\s/.test(start)) return { format: 'contacts', contentType: 'text/vcard', extension: 'vcf' }
  if (extension === 'ipynb') return { format: 'notebook', contentType: 'application/x-ipynb+json', extension }
  if (extension === 'csv') return { format: 'delimited', contentType: 'text/csv', extension }
  if (extension === 'tsv' || extension === 'tab') {
    return { format: 'delimited', contentType: 'text/tab-separated-values', extension: 'tsv' }
  }
  if (extension === 'jsonl' || extension === 'ndjson') {
    return { format: 'json', contentType: 'application/jsonl', extension: 'jsonl' }
  }
  if (extension === 'json' || extension === 'geojson' || (extension === '' && /^[[{]\s*["{[\]}]/.test(start))) {
    return { format: 'json', contentType: 'application/json', extension: 'json' }
  }
  if (codeExtensions.has(extension)) return { format: 'code', contentType: 'text/plain', extension }
  return { format: 'text', contentType: 'text/plain', extension }
}

/** Documents that programs write as one file of XML. */
function officeXml(head: string): Detected | undefined {
  const office = (extension: string): Detected => ({ format: 'office', contentType: 'application/xml', extension })
  const kind = /mimetype="application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)/.exec(
    head,
  )?.[1]
  if (kind !== undefined && head.includes('<office:document')) return office(openKinds[kind] ?? 'odt')
  if (/<\w+:wordDocument\s/.test(head)) return office('wordml')
  if (head.includes('<pkg:package')) return office(head.includes('"PowerPoint.Show"') ? 'pptx' : 'docx')
  if (/<(?:\w+:)?Workbook\s/.test(head) && head.includes('urn:schemas-microsoft-com:office:spreadsheet'))
    return { ...excel, contentType: 'application/xml' }
  return undefined
}

const openKinds: Record<string, string> = { text: 'odt', spreadsheet: 'ods', presentation: 'odp', graphics: 'odg' }

/** Without the comments at the beginning. No regular expression: it would take exponential time. */
function withoutComments(text: string): string {
  let rest = text
  while (rest.startsWith('<!--')) {
    const end = rest.indexOf('-->', 4)
    if (end < 0) return ''
    rest = rest.slice(end + 3).trimStart()
  }
  return rest
}

const html: Detected = { format: 'html', contentType: 'text/html', extension: 'html' }
const xml: Detected = { format: 'html', contentType: 'application/xml', extension: 'xml' }

/** Text in some encoding: it has hardly any control characters once decoded. */
function looksLikeText(head: Buffer): boolean {
  if (head.length === 0) return true
  const text = decodeHead(head)
  let control = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (
      code === 0xfffd ||
      (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0c && code !== 0x0d && code !== 0x1b)
    ) {
      control++
    }
  }
  return control <= text.length * 0.02
}

function decodeHead(head: Buffer): string {
  return createDecoder(charsetOfHead(head)).decode(head.subarray(0, head.length - (head.length % 2)), { stream: true })
}

function startsWith(head: Buffer, text: string): boolean {
  return head.subarray(0, 1024).includes(text)
}
