import MsgReaderModule, { type FieldsData } from '@kenjiuno/msgreader'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { charsetOfLocale, charsetOfPage } from '../locale-charset.ts'
import { type Mail, factsOf, maxAddresses, maxAttachments, nameOf, oneLine } from './mail-parts.ts'

/** Outlook's own format. */
export function outlookMail(bytes: Buffer): Mail {
  try {
    return partsOf(createOutlookReader(bytes))
  } catch (error) {
    throw new UnreadableFile('damaged', 'This mail is damaged and cannot be read.', { cause: error })
  }
}

function createOutlookReader(bytes: Buffer) {
  // The library reads whole sectors, and some programs write only the used part of the last one.
  const whole = Buffer.concat([bytes, Buffer.alloc(-bytes.length & (largestSector - 1))])
  const Reader = readerClass()
  const reader = new Reader(new DataView(whole.buffer, whole.byteOffset, whole.byteLength))
  reader.parserConfig = { includeRawProps: true }
  return reader
}

const largestSector = 4096

/** The class stands in the module's `default` where Node loads it, and is it where Vitest does. */
function readerClass(): typeof MsgReaderModule.default {
  const found: unknown = Reflect.get(MsgReaderModule, 'default') ?? MsgReaderModule
  if (isReader(found)) return found
  throw new Error('@kenjiuno/msgreader has no class of this name')
}

const isReader = (value: unknown): value is typeof MsgReaderModule.default => typeof value === 'function'

function partsOf(reader: ReturnType<typeof createOutlookReader>): Mail {
  const fields = reader.getFileData()
  const read = createDecoder(fields)
  if (fields.error !== undefined && fields.dataType !== 'msg') throw new Error(fields.error)
  const sent = fields.clientSubmitTime ?? fields.messageDeliveryTime
  return {
    subject: oneLine(read(fields.subject)),
    facts: factsOf([
      ['From', outlookAddress(read(fields.senderName), fields.senderSmtpAddress ?? fields.senderEmail)],
      ['To', recipients(fields, 'to', read)],
      ['Cc', recipients(fields, 'cc', read)],
      ['Date', oneLine(sent)],
      ...particulars(fields).map(([name, value]): [string, string] => [name, oneLine(read(value))]),
    ]),
    text: read(fields.body) ?? '',
    html: fields.bodyHtml ?? htmlOf(fields),
    attachments: (fields.attachments ?? [])
      .filter(({ attachmentHidden }) => attachmentHidden !== true)
      .slice(0, maxAttachments)
      .map((attachment, index) => {
        const { fileName, content } = attachedTo(reader, attachment)
        return { name: nameOf(read(fileName), index, ''), content: Buffer.from(content) }
      }),
  }
}

/** Empty if it is damaged: the mail and the other attachments are read. */
function attachedTo(reader: ReturnType<typeof createOutlookReader>, attachment: FieldsData) {
  try {
    return reader.getAttachment(attachment)
  } catch {
    return { fileName: attachment.fileName ?? attachment.name, content: new Uint8Array() }
  }
}

/** What appointments and persons say beside their text. */
function particulars(fields: FieldsData): [name: string, value: string | undefined][] {
  const isPerson = fields.messageClass?.startsWith('IPM.Contact') === true
  const isMeeting = fields.apptStartWhole !== undefined
  const meeting: [string, string | undefined][] = [
    ['Start', fields.apptStartWhole],
    ['End', fields.apptEndWhole],
    ['Place', fields.apptLocation],
  ]
  const person: [string, string | undefined][] = [
    ['Name', fields.name],
    ['Company', fields.companyName],
    ['Department', fields.departmentName],
    ['Position', fields.title],
    ['Mail', fields.email1EmailAddress],
    ['Phone', fields.businessTelephoneNumber],
    ['Mobile', fields.mobileTelephoneNumber],
    ['Private phone', fields.homeTelephoneNumber],
    ['Address', fields.postalAddress],
  ]
  return [...(isMeeting ? meeting : []), ...(isPerson ? person : [])]
}

/** Of messages before Unicode the reader gives bytes as letters: UTF-8, or the code page of the message's language. */
function createDecoder({ messageLocaleId: locale = 0x409, rawProps = [] }: FieldsData) {
  const charset = charsetOfLocale(locale)
  const isOld = rawProps.some(({ propertyTag = '' }) => /^0(037|C1A)001E$/i.test(propertyTag))
  return (text: string | undefined): string | undefined => {
    const isOfBytes = text !== undefined && /^[\0-\xff]*$/.test(text) && /[\x80-\xff]/.test(text)
    if (!isOfBytes) return text
    const bytes = Buffer.from(text, 'latin1')
    return decodedAs('utf-8', bytes) ?? (isOld ? decodedAs(charset, bytes) : undefined) ?? text
  }
}

/** The page of a mail is bytes: in UTF-8, or in the code page that the mail names. */
function htmlOf({ html = new Uint8Array(), internetCodepage: page = 65_001 }: FieldsData): string {
  const bytes = Buffer.from(html)
  return decodedAs('utf-8', bytes) ?? decodedAs(charsetOfPage(page) ?? 'utf-8', bytes) ?? bytes.toString('latin1')
}

function decodedAs(charset: string, bytes: Buffer): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function recipients(
  { recipients: list = [] }: FieldsData,
  kind: string,
  read: (text: string | undefined) => string | undefined,
): string {
  return list
    .filter(({ recipType = 'to' }) => recipType === kind)
    .slice(0, maxAddresses)
    .map(({ name, smtpAddress, email }) => outlookAddress(read(name), smtpAddress ?? email))
    .join(', ')
}

function outlookAddress(name: string | undefined, address: string | undefined): string {
  // Addresses within an organisation are paths: `/O=…/CN=…`.
  const shown = address?.includes('@') === true ? address : undefined
  if (shown === undefined || shown === name) return oneLine(name)
  return oneLine(name === undefined || name === '' ? shown : `${name} <${shown}>`)
}
