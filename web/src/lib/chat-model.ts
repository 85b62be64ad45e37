import { createListeners } from './listeners.ts'

/**
 * What was chosen for a chat in place of what its assistant says: a model, how hard it thinks, its temperature, and what is
 * added to its instructions; `beside`: a second model that answers too, `sides`: its answers that are still beside the chat;
 * `about`: what a person says of himself, for all his chats. Kept in this browser.
 */
const choices = ['model', 'effort', 'temperature', 'instructions', 'beside'] as const
type Choice = (typeof choices)[number] | 'about' | 'sides'

const keyOf = (choice: Choice, chat: string) => `assistant-platform.${choice}.${chat}`
const { notify, useRead } = createListeners()

/** Empty: that of the assistant. */
export const chosenFor = (choice: Choice, chat: string): string => localStorage.getItem(keyOf(choice, chat)) ?? ''

export function choose(choice: Choice, chat: string, value: string): void {
  if (value === '') localStorage.removeItem(keyOf(choice, chat))
  else localStorage.setItem(keyOf(choice, chat), value)
  notify()
}

/** A new chat has become one with an id. */
export function moveChoices(from: string, to: string): void {
  for (const choice of choices) {
    choose(choice, to, chosenFor(choice, from))
    choose(choice, from, '')
  }
}

export function useChosenFor(choice: Choice, chat: string): string {
  return useRead(() => chosenFor(choice, chat))
}
