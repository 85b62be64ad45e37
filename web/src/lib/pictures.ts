import { texts } from '../texts/index.ts'
import { createListeners } from './listeners.ts'
import { newId } from './new-id.ts'
import { say } from './toasts.ts'

/** A picture that will be sent with the next message of a chat. */
export interface Picture {
  key: string
  name: string
  /** A data URL, as messages take it. */
  url: string
}

const t = texts.chat.pictures
const types = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
/** As the service takes them (docs/limits.md). */
const most = { each: 8 * 1024 * 1024, all: 16 * 1024 * 1024, count: 10 }
/** Messages of this tab whose pictures need not be loaded again. */
const keptMessages = 20

const none: readonly Picture[] = []
const added = new Map<string, readonly Picture[]>()
const sent = new Map<string, string[]>()
const { notify, useRead } = createListeners()

export const isPicture = ({ type }: File): boolean => types.includes(type)

/** The pictures that wait in a chat for the message that they belong to. */
export function usePictures(chat: string): readonly Picture[] {
  return useRead(() => added.get(chat) ?? none)
}

/** Says of each picture that is too large, or one too many, why it is not added. */
export async function addPictures(chat: string, files: readonly File[]): Promise<void> {
  for (const file of files) {
    const before = added.get(chat) ?? none
    const bytes = before.reduce((sum, { url }) => sum + url.length * 0.75, file.size)
    if (file.size > most.each || bytes > most.all) say(t.tooLarge(file.name), 'danger')
    else if (before.length >= most.count) say(t.tooMany(most.count), 'danger')
    else {
      const picture = { key: newId(), name: file.name, url: await dataUrlOf(file) }
      putPictures(chat, [...(added.get(chat) ?? none), picture])
    }
  }
}

export function putPictures(chat: string, pictures: readonly Picture[]): void {
  if (pictures.length === 0) added.delete(chat)
  else added.set(chat, pictures)
  notify()
}

/** Keeps the pictures of a message that was sent, so that they are shown at once. */
export function keepSent(messageId: string, urls: string[]): void {
  sent.set(messageId, urls)
  const oldest = sent.size > keptMessages ? sent.keys().next().value : undefined
  if (oldest !== undefined) sent.delete(oldest)
}

export const sentPictures = (messageId: string): string[] | undefined => sent.get(messageId)

export function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : ''))
    reader.addEventListener('error', () => reject(reader.error ?? new Error(file.type)))
    reader.readAsDataURL(file)
  })
}
