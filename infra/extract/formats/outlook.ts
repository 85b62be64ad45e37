import MsgReaderModule, { type FieldsData } from '@kenjiuno/msgreader'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
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
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const Reader = readerClass()
  return new Reader(data)
}

/** The class stands in the module's `default` where Node loads it, and is it where Vitest does. */
function readerClass(): typeof MsgReaderModule.default {
  const found: unknown = Reflect.get(MsgReaderModule, 'default') ?? MsgReaderModule
  if (isReader(found)) return found
  throw new Error('@kenjiuno/msgreader has no class of this name')
}

const isReader = (value: unknown): value is typeof MsgReaderModule.default => typeof value === 'function'

function partsOf(reader: ReturnType<typeof createOutlookReader>): Mail {
  const fields = reader.getFileData()
  if (fields.error !== undefined && fields.dataType !== 'msg') throw new Error(fields.error)
  const sent = fields.clientSubmitTime ?? fields.messageDeliveryTime
  const html = fields.bodyHtml ?? (fields.html === undefined ? '' : new TextDecoder().decode(fields.html))
  return {
    subject: oneLine(decoded(fields.subject)),
    facts: factsOf([
      ['From', outlookAddress(fields.senderName, fields.senderSmtpAddress ?? fields.senderEmail)],
      ['To', recipients(fields, 'to')],
      ['Cc', recipients(fields, 'cc')],
      ['Date', oneLine(sent)],
    ]),
    text: decoded(fields.body) ?? '',
    html,
    attachments: (fields.attachments ?? [])
      .filter(({ attachmentHidden }) => attachmentHidden !== true)
      .slice(0, maxAttachments)
      .map((attachment, index) => {
        const { fileName, content } = reader.getAttachment(attachment)
        return { name: nameOf(decoded(fileName), index, ''), content: Buffer.from(content) }
      }),
  }
}

/** Of old messages the reader gives bytes as letters: here they are, if they are UTF-8. */
function decoded(text: string | undefined): string | undefined {
  if (text === undefined || !/^[\0-\xff]*$/.test(text) || !/[\x80-\xff]/.test(text)) return text
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'))
  } catch {
    return text
  }
}

function recipients({ recipients: list = [] }: FieldsData, kind: string): string {
  return list
    .filter(({ recipType = 'to' }) => recipType === kind)
    .slice(0, maxAddresses)
    .map(({ name, smtpAddress, email }) => outlookAddress(name, smtpAddress ?? email))
    .join(', ')
}

function outlookAddress(name: string | undefined, address: string | undefined): string {
  // Addresses within an organisation are paths: `/O=…/CN=…`.
  const shown = address?.includes('@') === true ? address : undefined
  if (shown === undefined || shown === name) return oneLine(name)
  return oneLine(name === undefined || name === '' ? shown : `${name} <${shown}>`)
}
