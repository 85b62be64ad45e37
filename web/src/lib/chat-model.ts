import { useSyncExternalStore } from 'react'

/** The model that was chosen for a chat; empty: that of the assistant. Kept in this browser. */
const keyOf = (chat: string) => `assistant-platform.model.${chat}`
const listeners = new Set<() => void>()

export const modelOfChat = (chat: string): string => localStorage.getItem(keyOf(chat)) ?? ''

export function chooseModel(chat: string, model: string): void {
  if (model === '') localStorage.removeItem(keyOf(chat))
  else localStorage.setItem(keyOf(chat), model)
  for (const listener of listeners) listener()
}

/** A new chat has become one with an id. */
export function moveModel(from: string, to: string): void {
  chooseModel(to, modelOfChat(from))
  chooseModel(from, '')
}

export function useModelOfChat(chat: string): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => modelOfChat(chat),
  )
}
