import { type FormEvent, useState } from 'react'
import { texts } from '../texts/index.ts'
import { ApiError, wordsOf } from './api.ts'
import { wordsOfReason } from './error-words.ts'

/** The state of a form: whether it is being sent, and its errors, by member and as a whole. */
export function useSubmit(send: () => Promise<void>) {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [fields, setFields] = useState<Record<string, string>>({})
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    setBusy(true)
    setProblem(undefined)
    setFields({})
    try {
      await send()
    } catch (error) {
      setProblem(wordsOf(error, texts.offline))
      if (error instanceof ApiError)
        setFields(Object.fromEntries(error.fields.map(({ loc, msg }) => [String(loc.at(-1)), wordsOfReason(msg)])))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, problem, fields, onSubmit: (event: FormEvent) => void submit(event), submit, setProblem }
}
