import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useId, useState } from 'react'
import { type Schemas, api, keys, unwrap } from './api.ts'
import { composes } from './composes.ts'

export type Prompt = Schemas['Prompt']

/** Those of the user, and those that others share with the project. */
async function allPrompts(): Promise<Prompt[]> {
  const [own, shared] = await Promise.all([unwrap(api.GET('/user/prompts')), unwrap(api.GET('/prompts/'))])
  const known = new Set(own.map(({ prompt_id: id }) => id))
  return [...own, ...shared.filter(({ prompt_id: id }) => !known.has(id))]
}

export const sharedPromptsQuery = {
  queryKey: [...keys.prompts, 'shared'],
  queryFn: () => unwrap(api.GET('/prompts/')),
}
export const promptsQuery = { queryKey: [...keys.prompts, 'own'], queryFn: () => unwrap(api.GET('/user/prompts')) }

interface PromptsOptions {
  text: string
  /** Puts the text of a prompt into the field, when what it leaves open is known. */
  onInsert: (prompt: Prompt) => void
  /** Opens the page on which prompts are written. */
  onManage: () => void
}

/** The user's prompts, offered while a message is a slash and words that some of them have. */
export function usePrompts({ text, onInsert, onManage }: PromptsOptions) {
  const listId = useId()
  const [place, setPlace] = useState(0)
  const [isClosed, setClosed] = useState(false)
  const wanted = text.startsWith('/') && !text.includes('\n') ? text.slice(1).trim().toLowerCase() : undefined
  if (wanted === undefined && isClosed) setClosed(false)
  const prompts = useQuery({
    queryKey: [...keys.prompts, 'all'],
    queryFn: allPrompts,
    enabled: wanted !== undefined,
  })
  const found = wanted === undefined ? [] : fitting(prompts.data ?? [], wanted)
  const isOpen = !isClosed && prompts.isSuccess && wanted !== undefined && (wanted === '' || found.length > 0)
  // The last entry leads to the page of prompts.
  const chosen = Math.min(place, found.length)
  const choose = (index: number) => {
    const prompt = found[index]
    if (prompt) onInsert(prompt)
    else onManage()
    setPlace(0)
  }
  /** Whether the key was for the list. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!isOpen || composes(event.nativeEvent) || event.shiftKey) return false
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setPlace((chosen + step + found.length + 1) % (found.length + 1))
    else if (event.key === 'Enter' || (event.key === 'Tab' && chosen < found.length)) choose(chosen)
    else if (event.key === 'Escape') setClosed(true)
    else return false
    event.preventDefault()
    return true
  }
  return {
    isOpen,
    found,
    chosen,
    listId,
    choose,
    onKeyDown,
    /** Shows the list from its first entry, if some fit. */
    restart: () => {
      setPlace(0)
      setClosed(false)
    },
    /** What the field says about the list. */
    field: {
      'aria-autocomplete': 'list' as const,
      'aria-haspopup': 'listbox' as const,
      ...(isOpen && { 'aria-controls': listId, 'aria-activedescendant': `${listId}-${chosen}` }),
      onBlur: () => setClosed(true),
      onFocus: () => setClosed(false),
    },
  }
}

/** Those whose names begin with the words first, then those that have them. */
function fitting(prompts: Prompt[], wanted: string): Prompt[] {
  const nameOf = ({ name }: Prompt) => name.toLowerCase()
  const begins = prompts.filter((prompt) => nameOf(prompt).startsWith(wanted))
  const holds = prompts.filter((prompt) => !begins.includes(prompt) && nameOf(prompt).includes(wanted))
  return [...begins, ...holds]
}
