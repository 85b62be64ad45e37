import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { localCode } from '../../lib/local-page.ts'
import { texts } from '../../texts/index.ts'

const t = texts.account
const pollEachMs = 500

interface LocalCodeProps {
  /** Empty: nobody is asked. */
  email: string
  onCode: (code: string) => void
  /** What stands there until the code has arrived, and where the page may not know it. */
  children: ReactNode
}

/** The code that the local mailbox has for the address, as a link that enters it. */
export function LocalCode({ email, onCode, children }: LocalCodeProps) {
  const { data: code } = useQuery({
    queryKey: ['local-code', email],
    enabled: email.includes('@'),
    queryFn: async () => (await localCode(email)) ?? null,
    // A new one may be sent.
    refetchInterval: ({ state }) => (state.dataUpdateCount > 60 ? false : state.data ? 5_000 : pollEachMs),
    staleTime: 0,
  })
  if (!code) return children
  return (
    <>
      {t.localCodeHelp}{' '}
      <button type="button" className="link-button" onClick={() => onCode(code)}>
        {t.localCode(code)}
      </button>
      .
    </>
  )
}
