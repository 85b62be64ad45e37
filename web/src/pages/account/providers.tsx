import '../../styles/providers.css'
import { useEffect, useRef } from 'react'
import type { LoginWays } from '../../lib/login-methods.ts'
import { texts } from '../../texts/index.ts'
import { providerMessages as t } from '../../texts/providers.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'

interface ProvidersProps {
  ways: LoginWays
  page: 'logIn' | 'signUp'
}

/** A button for each identity provider; for a domain without passwords its provider alone, and why. */
export default function Providers({ ways, page }: ProvidersProps) {
  const { hasPassword, providers, domain, isFailed, retry } = ways
  const [only] = providers
  if (!hasPassword && only !== undefined)
    return (
      <>
        {domain !== undefined && <Notice>{t[page](domain, only.name)}</Notice>}
        <InsteadOfPassword url={only.url} name={only.name} />
      </>
    )
  if (isFailed)
    return (
      <Notice tone="warn">
        {t.failed}{' '}
        <Button size="small" onClick={retry}>
          {texts.tryAgain}
        </Button>
      </Notice>
    )
  if (only === undefined) return null
  return (
    <div className="login-ways">
      <div className="login-or muted small">{t.or}</div>
      {providers.map(({ provider_id: id, name, url }) => (
        <a key={id} className="button button-wide" href={url}>
          {t.goOn(name)}
        </a>
      ))}
    </div>
  )
}

/** Takes the focus over from a field that has just gone away; who still writes the address keeps it. */
function InsteadOfPassword({ url, name }: { url: string; name: string }) {
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (document.activeElement === document.body) link.current?.focus()
  }, [])
  return (
    <a ref={link} className="button button-primary button-wide" href={url}>
      {t.goOn(name)}
    </a>
  )
}
