import { attachmentLimits } from '../../domain/content-parts.ts'
import { invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { messagesFromJson, messagesToJson } from '../../domain/messages.ts'
import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { Downloads } from '../attachments/downloads.ts'
import { type Received, copyForThread } from '../attachments/receive-content.ts'
import { type RunRequest, inputMessages, locOf } from '../runs/index.ts'
import { bytesOf } from '../stores/attachments.ts'

/** Bytes of one message of a schedule. */
const messageMaxBytes = 256 * 1024
/** Bytes of all messages, without their images, sounds and files. */
const inputMaxBytes = 2 * messageMaxBytes

type StoredInput = Pick<ScheduleRecord, 'input_json' | 'attachments'>

/** The input of a schedule as its record holds it. What has an address is read now, and not again for each run. */
export async function storedInputOf(
  downloads: Downloads,
  userId: string,
  input: RunRequest['input'],
): Promise<StoredInput> {
  const limits = { maxBytes: messageMaxBytes, limits: attachmentLimits.schedule }
  const received = await downloads.within(userId, (download) => inputMessages({ download }, input, limits))
  const json = messagesToJson(received.input)
  requireShort(json, locOf(input))
  return { input_json: json, ...(received.attachments.length === 0 ? {} : { attachments: received.attachments }) }
}

/** Throws `invalid_input` if the messages of a schedule are too long together. */
export function requireShort(inputJson: string, loc: string[]): void {
  if (Buffer.byteLength(inputJson) > inputMaxBytes) throw invalidInput(loc, 'is too long for a schedule')
}

/** The input of one run, with ids of its own: a message with a known id would replace that of the run before. */
export function runInputOf({ input_json: json, attachments = [] }: StoredInput): Received {
  const received = copyForThread({
    input: messagesFromJson(json),
    attachments: attachments.map((attachment) => ({ ...attachment, bytes: Buffer.from(bytesOf(attachment)) })),
  })
  for (const message of received.input) message.data.id = newId()
  return received
}
