import { type FormEvent, useState } from 'react'
import { texts } from '../texts/index.ts'
import { ApiError, wordsOf } from './api.ts'
import { reasonMessages } from './error-messages.ts'

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
        setFields(Object.fromEntries(error.fields.map(({ loc, msg }) => [String(loc.at(-1)), reasonMessages(msg)])))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, problem, fields, onSubmit: (event: FormEvent) => void submit(event), submit, setProblem }
}

/** Does one thing at a time outside of a form, and keeps why the last one failed. */
export function useAttempt() {
  const [problem, setProblem] = useState<string>()
  const attempt = async (action: () => Promise<unknown>) => {
    setProblem(undefined)
    try {
      await action()
    } catch (error) {
      setProblem(wordsOf(error, texts.offline))
    }
  }
  return { problem, attempt }
}
